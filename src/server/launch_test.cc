// SPDX-License-Identifier: Apache-2.0
#include "server/launch.h"

#include <gtest/gtest.h>

#include "server/control_plane.h"
#include "server/fake_effects.h"
#include "server/fake_store.h"

namespace berth::server {
namespace {

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    job.key = {workspace.id, "train"};
    job.attempt = 2;
    job.spec.command = "true";
  }

  void put_blob(const std::string& path) {
    store::Blob blob{.key = {workspace.id, "azureml-blobstore", path}};
    store.commit({store::PutBlob{blob}}, [](const Status&) {});
    store.complete();
  }

  Result<wire::node::Launch> make() {
    return make_launch({.catalogue = {store, plane},
                        .signer = signer,
                        .base_url = "http://127.0.0.1:1",
                        .now = clock.now().wall},
                       job, {.id = {"local"}, .work_root = "/root-of-work"}, workspace);
  }

  SimClock clock;
  FakeStore store;
  NoEffects effects;
  ControlPlane plane{store, effects, clock, {}};
  Signer signer{"key"};
  model::Workspace workspace{.id = {"ws-1"}, .name = "default"};
  model::Job job;
};

TEST_F(LaunchTest, ReplacesExpressionsByPathsBelowTheNodesWorkRoot) {
  put_blob("rows/train.csv");
  job.spec.inputs["lr"] = {.type = model::DataType::Literal, .value = "0.5"};
  job.spec.inputs["rows"] = {.type = model::DataType::UriFile,
                             .uri = "azureml://datastores/workspaceblobstore/paths/rows/train.csv"};
  job.spec.outputs["fitted"] = {};
  job.spec.command = "fit ${{inputs.lr}} ${{ inputs.rows }} ${{outputs.fitted}}";

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  const std::string root = "/root-of-work/" + wire::node::attempt_directory({job.key, 2});
  EXPECT_EQ(launch->command,
            "fit 0.5 " + root + "/inputs/rows/train.csv " + root + "/named-outputs/fitted");
  EXPECT_EQ(launch->environment.at("AZURE_ML_INPUT_rows"), root + "/inputs/rows/train.csv");
  EXPECT_EQ(launch->environment.at("AZURE_ML_OUTPUT_fitted"), root + "/named-outputs/fitted");
}

TEST_F(LaunchTest, AFolderInputIsFetchedByItsPrefix) {
  put_blob("images/a.png");
  job.spec.inputs["images"] = {.uri = "azureml://datastores/workspaceblobstore/paths/images"};

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  ASSERT_EQ(launch->fetches.size(), 1u);
  EXPECT_TRUE(launch->fetches[0].is_folder);
  EXPECT_EQ(launch->fetches[0].prefix, "images/");
}

TEST_F(LaunchTest, AWebAddressCannotNameAFileOutsideItsFolder) {
  job.spec.inputs["page"] = {.type = model::DataType::UriFile,
                             .uri = "http://example.org/..%2f..%2fetc"};

  const auto launch = make();

  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->fetches[0].destination, "inputs/page/data");
}

TEST_F(LaunchTest, AJobsOwnVariablesDoNotReplaceOurs) {
  job.spec.environment_variables = {{"AZUREML_RUN_ID", "forged"}, {"COLOUR", "blue"}};

  const auto launch = make();

  EXPECT_EQ(launch->environment.at("AZUREML_RUN_ID"), "train");
  EXPECT_EQ(launch->environment.at("COLOUR"), "blue");
}

TEST_F(LaunchTest, DockersMemoryFlagBecomesALimit) {
  job.spec.resources.docker_args = "--ipc=host --memory 64m";
  EXPECT_EQ(make()->memory_limit_bytes, 64u << 20);

  job.spec.resources.docker_args = "--memory=1g";
  EXPECT_EQ(make()->memory_limit_bytes, 1u << 30);

  job.spec.resources.docker_args = "--memory=lots";
  EXPECT_EQ(make()->memory_limit_bytes, std::nullopt);
}

TEST_F(LaunchTest, AMissingInputSaysWhichFile) {
  job.spec.inputs["rows"] = {.type = model::DataType::UriFile,
                             .uri = "azureml://datastores/workspaceblobstore/paths/gone.csv"};

  const auto launch = make();

  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().message.find("gone.csv"), std::string::npos);
}

TEST_F(LaunchTest, EverySignedAddressIsForItsOwnPrefixOnly) {
  job.spec.outputs["fitted"] = {};

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

}  // namespace
}  // namespace berth::server
