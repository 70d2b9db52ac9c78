// SPDX-License-Identifier: Apache-2.0
#include "core/distribution.h"

#include <gtest/gtest.h>

#include <set>

namespace berth::core {
namespace {

namespace json = boost::json;

model::JobSpec spec_of(int nodes, json::value distribution) {
  model::JobSpec spec;
  command_of(spec).resources.instance_count = nodes;
  command_of(spec).distribution = std::move(distribution);
  return spec;
}

/// Nodes "10.0.0.1", "10.0.0.2", …, with ports 5000, 5100, ….
std::vector<model::Member> members_of(int nodes) {
  std::vector<model::Member> members;
  for (int i = 0; i < nodes; ++i) {
    members.push_back({.address = "10.0.0." + std::to_string(i + 1), .port = 5000 + 100 * i});
  }
  return members;
}

Error refusal_of(int nodes, json::value distribution) {
  const auto read = read_distribution(spec_of(nodes, std::move(distribution)));
  EXPECT_FALSE(read);
  return read ? Error{} : read.error();
}

TEST(Distribution, AJobWithoutOneRunsItsCommandOnceOnEachNode) {
  const model::JobSpec spec = spec_of(2, nullptr);

  EXPECT_EQ(*read_distribution(spec), Distribution{});
  EXPECT_TRUE(waits_for_peers(spec));
  EXPECT_FALSE(waits_for_peers(spec_of(1, nullptr)));
  ASSERT_EQ(ranks_of(spec, 1).size(), 1u);
  EXPECT_EQ(ranks_of(spec, 1)[0].environment, (Variables{{"AZUREML_PROCESS_NAME", "rank_1"}}));
  EXPECT_FALSE(node_topology(spec, members_of(2), 1).contains("RANK"));
}

TEST(Distribution, PyTorchCountsItsProcessesOverAllNodes) {
  const model::JobSpec spec =
      spec_of(2, {{"distributionType", "PyTorch"}, {"processCountPerInstance", 2}});

  const auto ranks = ranks_of(spec, 1);

  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[1].environment,
            (Variables{{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"AZUREML_PROCESS_NAME", "rank_3"}}));
  EXPECT_EQ(node_topology(spec, members_of(2), 1),
            (Variables{{"MASTER_ADDR", "10.0.0.1"},
                       {"MASTER_PORT", "5000"},
                       {"WORLD_SIZE", "4"},
                       {"NODE_RANK", "1"},
                       {"AZUREML_CR_NODE_RANK", "1"},
                       {"AZ_BATCH_HOST_LIST", "10.0.0.1,10.0.0.2"},
                       {"AZ_BATCH_MASTER_NODE", "10.0.0.1:5000"},
                       {"AZ_BATCHAI_JOB_MASTER_NODE_IP", "10.0.0.1"},
                       {"AZ_BATCHAI_MPI_MASTER_NODE", "10.0.0.1"}}));
}

TEST(Distribution, MpiLeavesRanksToOpenMpi) {
  const model::JobSpec spec =
      spec_of(2, {{"distributionType", "Mpi"}, {"processCountPerInstance", 2}});

  EXPECT_EQ(ranks_of(spec, 1)[0].environment, (Variables{{"AZUREML_PROCESS_NAME", "rank_2"}}));
  EXPECT_FALSE(node_topology(spec, members_of(2), 0).contains("WORLD_SIZE"));
  EXPECT_EQ(node_topology(spec, members_of(2), 1).at("AZ_BATCHAI_MPI_MASTER_NODE"), "10.0.0.1");
}

TEST(Distribution, TensorFlowTellsEveryTaskOfAllOthers) {
  const model::JobSpec spec = spec_of(
      2, {{"distributionType", "TensorFlow"}, {"workerCount", 3}, {"parameterServerCount", 1}});
  const auto members = members_of(2);

  const auto first = rank_topology(spec, members, 0);
  const auto second = rank_topology(spec, members, 1);

  EXPECT_EQ(ranks_of(spec, 0)[1].name, "worker_2");
  EXPECT_EQ(ranks_of(spec, 1)[1].name, "ps_0");
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 2u);
  const json::value cluster = {{"worker", {"10.0.0.1:5000", "10.0.0.2:5100", "10.0.0.1:5001"}},
                               {"ps", {"10.0.0.2:5101"}}};
  EXPECT_EQ(json::parse(first[1].at("TF_CONFIG")),
            (json::value{{"cluster", cluster},
                         {"task", {{"type", "worker"}, {"index", 2}}},
                         {"environment", "cloud"}}));
  EXPECT_EQ(json::parse(second[1].at("TF_CONFIG")).at("task"),
            (json::value{{"type", "ps"}, {"index", 0}}));
}

TEST(Distribution, TensorFlowHasAWorkerOnEachNodeUnlessToldOtherwise) {
  const auto read = read_distribution(spec_of(3, {{"distributionType", "tensorflow"}}));

  ASSERT_TRUE(read);
  EXPECT_EQ(read->workers, 3);
  EXPECT_EQ(read->parameter_servers, 0);
}

TEST(Distribution, EveryProcessHasALogOfItsOwnAndTheFirstTheStreamedOne) {
  const model::JobSpec specs[] = {
      spec_of(3, nullptr),
      spec_of(2, {{"distributionType", "PyTorch"}, {"processCountPerInstance", 60}}),
      spec_of(
          3, {{"distributionType", "TensorFlow"}, {"workerCount", 4}, {"parameterServerCount", 2}}),
  };
  for (const model::JobSpec& spec : specs) {
    std::set<std::string> logs;
    std::size_t count = 0;
    for (int node = 0; node < command_of(spec).resources.instance_count; ++node) {
      for (const Rank& rank : ranks_of(spec, node)) {
        logs.insert(rank.log);
        ++count;
      }
    }
    EXPECT_EQ(logs.size(), count);
    EXPECT_EQ(ranks_of(spec, 0)[0].log, "user_logs/std_log.txt");
    EXPECT_TRUE(logs.contains("user_logs/std_log_process_01.txt"));
  }
}

TEST(Distribution, WhatCannotBeIsRefusedByTheNameOfItsField) {
  EXPECT_EQ(refusal_of(1, "PyTorch").target, "distribution");
  EXPECT_EQ(refusal_of(1, json::object{}).target, "distribution.type");
  EXPECT_EQ(refusal_of(1, {{"distributionType", "Horovod"}}).code, Code::InvalidArgument);
  EXPECT_EQ(refusal_of(1, {{"distributionType", "Ray"}}).code, Code::NotSupported);
  for (const json::value& count :
       {json::value(0), json::value(-1), json::value(257), json::value(1.5), json::value("2")}) {
    for (const char* type : {"PyTorch", "Mpi"}) {
      const Error refusal =
          refusal_of(1, {{"distributionType", type}, {"processCountPerInstance", count}});
      EXPECT_EQ(refusal.target, "distribution.process_count_per_instance");
    }
  }
  EXPECT_EQ(refusal_of(101, {{"distributionType", "Mpi"}}).target, "resources.instance_count");
}

TEST(Distribution, TensorFlowsTasksMustFitItsNodes) {
  const auto refused = [](int nodes, int workers, int servers) {
    return refusal_of(nodes, {{"distributionType", "TensorFlow"},
                              {"workerCount", workers},
                              {"parameterServerCount", servers}})
        .target;
  };

  EXPECT_EQ(refused(2, 2, 3), "distribution.parameter_server_count");
  EXPECT_EQ(refused(4, 2, 1), "distribution.worker_count") << "one node would have no work";
  EXPECT_EQ(refused(2, 0, 2), "distribution.worker_count");
  for (int node = 0; node < 3; ++node) {
    const model::JobSpec fits = spec_of(
        3, {{"distributionType", "TensorFlow"}, {"workerCount", 1}, {"parameterServerCount", 2}});
    EXPECT_EQ(ranks_of(fits, node).size(), 1u);
  }
}

TEST(Distribution, AnAddressWithColonsIsPutInBrackets) {
  const std::vector<model::Member> members = {{.address = "fe80::1", .port = 7}};
  const model::JobSpec spec = spec_of(1, {{"distributionType", "PyTorch"}});

  EXPECT_EQ(node_topology(spec, members, 0).at("AZ_BATCH_MASTER_NODE"), "[fe80::1]:7");
  EXPECT_EQ(node_topology(spec, members, 0).at("MASTER_ADDR"), "fe80::1");
}

}  // namespace
}  // namespace berth::core
