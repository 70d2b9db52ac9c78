// SPDX-License-Identifier: Apache-2.0
// What only a real Slurm can show, beside the contract.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/files/file.h"
#include "io/process/command.h"
#include "io/process/process.h"
#include "tests/contract/slurm_place.h"

namespace berth::target {
namespace {

class RealSlurm : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = place.why_not(); !why.empty()) GTEST_SKIP() << why;
  }

  NodeSpec spec_of(const std::string& id) {
    return {.id = {id},
            .token = "s3cret",
            .server_url = "https://127.0.0.1:1",
            .ca_file = place.authority()};
  }

  void start(NodeProvider& provider, const NodeSpec& spec) {
    const Status started = provider.start(spec);
    ASSERT_TRUE(started) << started.error().message;
  }

  ObservedNode look(NodeProvider& provider, const std::string& id) {
    const auto seen = provider.observe();
    EXPECT_TRUE(seen) << seen.error().message;
    for (const ObservedNode& node : *seen) {
      if (node.id.text == id) return node;
    }
    return {.id = {}, .liveness = Liveness::Gone};
  }

  bool comes(NodeProvider& provider, const std::string& id) {
    return eventually([&] { return look(provider, id).liveness == Liveness::Running; });
  }

  std::string run(std::vector<std::string> words, const std::string& input = {}) {
    const auto ran = io::run_command(
        {.command = std::move(words), .environment = io::current_environment(), .input = input});
    EXPECT_TRUE(ran && ran->exit_code == 0) << (ran ? ran->error : ran.error().message);
    return ran ? ran->out : "";
  }

  SlurmPlace place;
  std::unique_ptr<NodeProvider> lab = place.make_provider("lab");
};

TEST_F(RealSlurm, ThePilotHandsOverTokenAndCertificateThroughDescriptors) {
  start(*lab, spec_of("n1"));
  ASSERT_TRUE(eventually([&] { return place.starts_of({"n1"}) == 1; }));

  EXPECT_EQ(*io::read_file(place.folder() + "/n1.token"), "s3cret\n");
  EXPECT_EQ(*io::read_file(place.folder() + "/n1.ca"), *io::read_file(place.authority()));
  EXPECT_EQ(run({"scontrol", "show", "job", "--details"}).find("s3cret"), std::string::npos);
}

TEST_F(RealSlurm, AnotherSitesOrInstallationsNodesAreNeitherSeenNorTouched) {
  const auto other = place.make_provider("other");
  SlurmPlace elsewhere;
  const auto stranger = elsewhere.make_provider("lab");
  start(*lab, spec_of("n1"));
  start(*other, spec_of("n1"));
  ASSERT_TRUE(comes(*lab, "n1"));
  ASSERT_TRUE(comes(*other, "n1"));
  EXPECT_TRUE(stranger->observe()->empty());

  ASSERT_TRUE(stranger->stop({"n1"}));
  ASSERT_TRUE(lab->stop({"n1"}));

  EXPECT_TRUE(eventually([&] { return look(*lab, "n1").liveness == Liveness::Gone; }));
  EXPECT_EQ(look(*other, "n1").liveness, Liveness::Running);
}

TEST_F(RealSlurm, APendingNodeSaysWhyAndCanBeStopped) {
  NodeSpec large = spec_of("n9");
  large.cores = 8;
  for (const char* id : {"n1", "n2", "n3", "n4"}) {
    large.id = {id};
    start(*lab, large);
  }
  for (const char* id : {"n1", "n2", "n3", "n4"}) ASSERT_TRUE(comes(*lab, id)) << id;
  large.id = {"n9"};
  start(*lab, large);

  EXPECT_TRUE(eventually([&] { return look(*lab, "n9").note == "Resources"; }))
      << look(*lab, "n9").note;
  EXPECT_EQ(look(*lab, "n9").liveness, Liveness::Pending);
  ASSERT_TRUE(lab->stop({"n9"}));
  EXPECT_TRUE(eventually([&] { return look(*lab, "n9").liveness == Liveness::Gone; }));
  EXPECT_EQ(place.starts_of({"n9"}), 0);
}

TEST_F(RealSlurm, OfTwoPilotsOfOneNodeOnlyOneRuns) {
  start(*lab, spec_of("n1"));
  ASSERT_TRUE(comes(*lab, "n1"));
  ASSERT_TRUE(eventually([&] { return place.starts_of({"n1"}) == 1; }));
  // As if an sbatch that was given up had been heard after all.
  const std::string name = run({"squeue", "--noheader", "--format=%j", "--states=RUNNING"});
  const std::string tag = name.substr(0, name.find('\n'));
  run({"sbatch", "--job-name=" + tag, "--dependency=singleton", "--output=/dev/null"},
      "#!/bin/sh\nexec " + place.folder() + "/berth node --name n1 3</dev/null 4</dev/null\n");

  EXPECT_TRUE(eventually([&] {
    return run({"squeue", "--noheader", "--format=%r", "--name=" + tag}).find("Dependency") !=
           std::string::npos;
  }));
  EXPECT_EQ(look(*lab, "n1").liveness, Liveness::Running);
  EXPECT_EQ(place.starts_of({"n1"}), 1);
  ASSERT_TRUE(lab->stop({"n1"}));
  EXPECT_TRUE(eventually([&] { return look(*lab, "n1").liveness == Liveness::Gone; }));
  EXPECT_EQ(place.starts_of({"n1"}), 1);
}

TEST_F(RealSlurm, WhatSlurmRefusesIsSaidInItsOwnWords) {
  slurm::SlurmProvider provider({.partition = "no-such-partition"}, {"i1", "lab"}, "/bin/berth");

  const Status refused = provider.start(spec_of("n1"));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  EXPECT_NE(refused.error().message.find("partition"), std::string::npos)
      << refused.error().message;
}

TEST_F(RealSlurm, AControllerThatIsAwayIsUnknown) {
  ASSERT_TRUE(io::write_file(place.folder() + "/slurm.conf",
                             "ClusterName=x\nSlurmctldHost=localhost(127.0.0.1)\n"
                             "SlurmctldPort=1\nAuthType=auth/none\nMessageTimeout=2\n"
                             "NodeName=n1\nPartitionName=p Nodes=n1\n"));
  slurm::SlurmProvider provider({.config = place.folder() + "/slurm.conf"}, {"i1", "lab"},
                                "/bin/berth");

  const auto seen = provider.observe();

  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, Code::Unavailable);
  EXPECT_FALSE(provider.start(spec_of("n1")));
}

}  // namespace
}  // namespace berth::target
