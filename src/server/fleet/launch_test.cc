// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/launch.h"

#include <gtest/gtest.h>

#include "server/keys/secrets.h"
#include "server/plane/control_plane.h"
#include "server/plane/fake_effects.h"
#include "store/fake_store.h"

namespace berth::server {
namespace {

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    job.key = {workspace.id, "train"};
    job.attempt = 2;
    command_of(job.spec.edit()).command = "true";
  }

  void put_blob(const std::string& path) {
    store::Blob blob{.key = {workspace.id, "azureml-blobstore", path}};
    store.commit({store::PutBlob{blob}}, [](const Status&) {});
    store.complete();
  }

  Result<wire::node::Launch> make() {
    return make_launch({.catalogue = {store, plane.state(), plane.jobs},
                        .signer = signer,
                        .base_url = "http://127.0.0.1:1",
                        .now = clock.now().wall},
                       job, node, workspace);
  }

  /// A job on two nodes, and the second of them.
  void spread(boost::json::value distribution) {
    command_of(job.spec.edit()).resources.instance_count = 2;
    command_of(job.spec.edit()).distribution = std::move(distribution);
    job.holding = model::Members{{{.node = {"n1"}, .address = "10.0.0.1", .port = 5000},
                                  {.node = {"n2"}, .address = "10.0.0.2", .port = 5100}}};
    node.id = {"n2"};
  }

  static const wire::node::Deliver* delivery(const wire::node::Launch& launch,
                                             const std::string& source) {
    for (const wire::node::Deliver& each : launch.deliveries) {
      if (each.source == source) return &each;
    }
    return nullptr;
  }

  SimClock clock;
  store::FakeStore store;
  NoEffects effects;
  ControlPlane plane{store, effects, clock, {}};
  Signer signer{"key"};
  model::Workspace workspace{.id = {"ws-1"}, .name = "default"};
  model::Job job;
  model::Node node{.id = {"local"}, .work_root = "/root-of-work"};
};

TEST_F(LaunchTest, ReplacesExpressionsByPathsBelowTheNodesWorkRoot) {
  put_blob("rows/train.csv");
  job.spec.edit().inputs["lr"] = {.type = model::DataType::Literal, .value = "0.5"};
  job.spec.edit().inputs["rows"] = {
      .type = model::DataType::UriFile,
      .uri = "azureml://datastores/workspaceblobstore/paths/rows/train.csv"};
  job.spec.edit().outputs["fitted"] = {};
  command_of(job.spec.edit()).command = "fit ${{inputs.lr}} ${{ inputs.rows }} ${{outputs.fitted}}";

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  const std::string root = "/root-of-work/" + wire::node::attempt_directory({job.key, 2});
  EXPECT_EQ(launch->command,
            "fit 0.5 " + root + "/inputs/rows/train.csv " + root + "/named-outputs/fitted");
  EXPECT_EQ(launch->environment.at("AZURE_ML_INPUT_rows"), root + "/inputs/rows/train.csv");
  EXPECT_EQ(launch->environment.at("AZURE_ML_OUTPUT_fitted"), root + "/named-outputs/fitted");
}

TEST_F(LaunchTest, SecretsAreApartFromOtherVariables) {
  const model::SecretKey key{workspace.id, model::kOwnerName, "hub"};
  command_of(job.spec.edit()).secrets = {{"HF_TOKEN", "hub"}};
  EXPECT_FALSE(make());
  store.commit({store::PutSecret{{.key = key, .sealed = seal_secret(signer, key, "hf_x")}}},
               [](const Status&) {});
  store.complete();

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->secrets, (std::map<std::string, std::string>{{"HF_TOKEN", "hf_x"}}));
  EXPECT_FALSE(launch->environment.contains("HF_TOKEN"));
}

TEST_F(LaunchTest, WhatRunsAlreadyNeedsItsSecretsNoMore) {
  command_of(job.spec.edit()).secrets = {{"HF_TOKEN", "deleted"}};
  job.holding = model::Members{{{.node = node.id, .status = model::JobStatus::Preparing}}};
  EXPECT_FALSE(make());
  job.holding = model::Members{{{.node = node.id, .status = model::JobStatus::Running}}};
  EXPECT_TRUE(make());
}

TEST_F(LaunchTest, AFolderInputIsFetchedByItsPrefix) {
  put_blob("images/a.png");
  job.spec.edit().inputs["images"] = {.uri =
                                          "azureml://datastores/workspaceblobstore/paths/images"};

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  ASSERT_EQ(launch->fetches.size(), 1u);
  EXPECT_TRUE(launch->fetches[0].is_folder);
  EXPECT_EQ(launch->fetches[0].prefix, "images/");
}

TEST_F(LaunchTest, AWebAddressCannotNameAFileOutsideItsFolder) {
  job.spec.edit().inputs["page"] = {.type = model::DataType::UriFile,
                                    .uri = "http://example.org/..%2f..%2fetc"};

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->fetches[0].destination, "inputs/page/data");
}

TEST_F(LaunchTest, AJobsOwnVariablesDoNotReplaceOurs) {
  command_of(job.spec.edit()).environment_variables = {{"AZUREML_RUN_ID", "forged"},
                                                       {"COLOUR", "blue"}};

  const auto launch = make();

  EXPECT_EQ(launch->environment.at("AZUREML_RUN_ID"), "train");
  EXPECT_EQ(launch->environment.at("COLOUR"), "blue");
}

TEST_F(LaunchTest, DockersMemoryFlagBecomesALimit) {
  command_of(job.spec.edit()).resources.docker_args = "--ipc=host --memory 64m";
  EXPECT_EQ(make()->memory_limit_bytes, 64u << 20);

  command_of(job.spec.edit()).resources.docker_args = "--memory=1g";
  EXPECT_EQ(make()->memory_limit_bytes, 1u << 30);

  // Refused at submit; a job of an older server must not run without the limit it asked for.
  for (const char* wrong : {"--memory=lots", "--memory 17179869184g", "--pids-limit=many"}) {
    command_of(job.spec.edit()).resources.docker_args = wrong;
    EXPECT_FALSE(make()) << wrong;
  }
}

TEST_F(LaunchTest, DockersLimitOfProcessesBecomesOne) {
  EXPECT_EQ(make()->process_limit, std::nullopt);

  command_of(job.spec.edit()).resources.docker_args = "--memory 64m --pids-limit 40";
  EXPECT_EQ(make()->process_limit, 40u);
  EXPECT_EQ(make()->memory_limit_bytes, 64u << 20);

  for (const char* no_limit : {"--pids-limit=-1", "--pids-limit=0"}) {
    command_of(job.spec.edit()).resources.docker_args = no_limit;
    EXPECT_EQ(make()->process_limit, std::nullopt) << no_limit;
  }
}

TEST_F(LaunchTest, AMissingInputSaysWhichFile) {
  job.spec.edit().inputs["rows"] = {
      .type = model::DataType::UriFile,
      .uri = "azureml://datastores/workspaceblobstore/paths/gone.csv"};

  const auto launch = make();

  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().message.find("gone.csv"), std::string::npos);
}

TEST_F(LaunchTest, EverySignedAddressIsForItsOwnPrefixOnly) {
  job.spec.edit().outputs["fitted"] = {};

  const auto launch = make();

  for (const wire::node::Deliver& delivery : launch->deliveries) {
    const std::string query = delivery.container_url.substr(delivery.container_url.find('?') + 1);
    const std::string container =
        delivery.what.starts_with("output '") ? "azureml-blobstore" : "azureml";
    const auto grant = signer.check(workspace.id, container, query, clock.now().wall);
    ASSERT_TRUE(grant) << delivery.what;
    EXPECT_EQ(grant->prefix, delivery.prefix);
  }
}

TEST_F(LaunchTest, AJobOfOneProcessWaitsForNobody) {
  const auto launch = make();

  EXPECT_FALSE(launch->waits_for_go);
  EXPECT_TRUE(launch->ships_log);
  EXPECT_TRUE(launch->processes.empty());
}

TEST_F(LaunchTest, AMemberRunsItsShareAndDeliversItsLogs) {
  spread({{"distributionType", "PyTorch"}, {"processCountPerInstance", 2}});

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_TRUE(launch->waits_for_go);
  EXPECT_FALSE(launch->ships_log);
  EXPECT_EQ(launch->environment.at("AZUREML_CR_NODE_RANK"), "1");
  ASSERT_EQ(launch->processes.size(), 2u);
  EXPECT_EQ(launch->processes[1].environment.at("RANK"), "3");
  const std::string prefix = model::artifact_prefix(job.key);
  const auto* first = delivery(*launch, "user_logs/std_log.txt");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->prefix, prefix + "user_logs/std_log_process_02.txt");
  EXPECT_FALSE(first->is_folder);
  EXPECT_NE(delivery(*launch, "user_logs/std_log_process_03.txt"), nullptr);
}

TEST_F(LaunchTest, TheHeadsFirstLogIsStreamedAndNotDelivered) {
  spread({{"distributionType", "PyTorch"}, {"processCountPerInstance", 2}});
  node.id = {"n1"};

  const auto launch = make();

  EXPECT_TRUE(launch->ships_log);
  EXPECT_EQ(delivery(*launch, "user_logs/std_log.txt"), nullptr);
  EXPECT_NE(delivery(*launch, "user_logs/std_log_process_01.txt"), nullptr);
}

TEST_F(LaunchTest, GoTellsAMemberWhereTheHeadIs) {
  spread({{"distributionType", "PyTorch"}});

  const wire::node::Go go = make_go(job, {"n2"});

  EXPECT_EQ(go.attempt, (wire::node::AttemptRef{job.key, 2}));
  EXPECT_EQ(go.environment.at("MASTER_ADDR"), "10.0.0.1");
  EXPECT_EQ(go.environment.at("MASTER_PORT"), "5000");
  EXPECT_EQ(go.environment.at("NODE_RANK"), "1");
  EXPECT_FALSE(go.environment.contains("BERTH_MPI_HOSTS"));
}

TEST_F(LaunchTest, MpiIsStartedByTheHeadOnAllMembers) {
  using wire::node::Starter;
  spread({{"distributionType", "Mpi"}});

  EXPECT_EQ(make()->starter, Starter::MpiHost);
  node.id = {"n1"};
  EXPECT_EQ(make()->starter, Starter::Mpirun);
  EXPECT_EQ(make_go(job, {"n2"}).environment.at("BERTH_MPI_HOSTS"), "10.0.0.1:5000,10.0.0.2:5100");
}

TEST_F(LaunchTest, AnOutputOfOneFileIsTheHeadsToWrite) {
  spread(nullptr);
  job.spec.edit().outputs["table"] = {.type = model::DataType::UriFile};
  job.spec.edit().outputs["parts"] = {};
  const auto names = [this] {
    std::vector<std::string> found;
    const auto launch = make();
    for (const auto& each : launch->deliveries) {
      if (each.what.starts_with("output '")) found.push_back(each.what);
    }
    return found;
  };

  EXPECT_EQ(names(), (std::vector<std::string>{"output 'parts'"}));
  node.id = {"n1"};
  EXPECT_EQ(names(), (std::vector<std::string>{"output 'parts'", "output 'table'"}));
}

TEST_F(LaunchTest, AnAttemptAfterAPreemptionFindsItsOutputsAgain) {
  EXPECT_TRUE(make()->fetches.empty());
  EXPECT_FALSE(delivery(*make(), "wd/outputs")->only_changed);
  job.requeues = 1;

  const auto launch = make();

  ASSERT_EQ(launch->fetches.size(), 1u);
  EXPECT_EQ(launch->fetches[0].destination, "wd/outputs");
  EXPECT_EQ(launch->fetches[0].prefix, model::artifact_prefix(job.key) + "outputs/");
  EXPECT_TRUE(launch->fetches[0].is_folder);
  EXPECT_TRUE(delivery(*launch, "wd/outputs")->only_changed);
  EXPECT_EQ(launch->environment.at("BERTH_ATTEMPT_NUMBER"), "2");
}

TEST_F(LaunchTest, ANodesSizeIsTheJobsLimit) {
  node.memory_mib = 512;
  node.cores = 2;
  EXPECT_EQ(make()->memory_limit_bytes, 512u << 20);
  EXPECT_EQ(make()->cpu_limit, 2.0);

  command_of(job.spec.edit()).resources.docker_args = "--memory 64m";
  EXPECT_EQ(make()->memory_limit_bytes, 64u << 20);
  command_of(job.spec.edit()).resources.docker_args = "--memory 64g";
  EXPECT_EQ(make()->memory_limit_bytes, 512u << 20);
}

TEST_F(LaunchTest, ANodeOfALocalClusterSeesItsOwnGpusOnly) {
  ASSERT_TRUE(plane.start());
  ASSERT_TRUE(plane.computes.put_site({.name = "lab", .provider = model::ProviderKind::Slurm}));
  EXPECT_FALSE(make()->environment.contains("CUDA_VISIBLE_DEVICES")) << "the whole machine";

  node.target = {{{"ws-1"}, "pool"}};
  EXPECT_EQ(make()->environment.at("CUDA_VISIBLE_DEVICES"), "");
  node.gpus = {1, 3};
  EXPECT_EQ(make()->environment.at("CUDA_VISIBLE_DEVICES"), "1,3");
  node.site = "lab";
  EXPECT_FALSE(make()->environment.contains("CUDA_VISIBLE_DEVICES")) << "the engine assigns them";
}

}  // namespace
}  // namespace berth::server
