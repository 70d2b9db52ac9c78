// SPDX-License-Identifier: Apache-2.0
// Two nodes of this machine under the real mpirun, each with its own shim and its own directory.
// This program stands in for berth: the shims start it again, in all its MPI roles.
#include "node/mpi/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/random.h"
#include "io/files/temporary_directory.h"
#include "node/files/attempt_files.h"
#include "node/mpi/host.h"
#include "node/mpi/rank.h"
#include "node/mpi/rsh.h"
#include "node/ports.h"
#include "node/shim/process_tree.h"
#include "node/shim/testing_shim.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;
using model::Ending;
using model::Outcome;
using wire::node::Launch;
using wire::node::Starter;

class MpiRunTest : public testing::Test {
 protected:
  MpiRunTest() {
    const auto head = HeldPorts::take("127.0.0.1", 1);
    const auto host = HeldPorts::take("127.0.0.1", 1);
    for (const std::size_t node : {0, 1}) {
      Launch& launch = launches[node];
      launch.attempt = {.job = {.workspace = {"ws"}, .name = name}, .attempt = 1};
      launch.environment = {{kMpiHostsVariable, fmt::format("127.0.0.1:{},127.0.0.1:{}",
                                                            head->first(), host->first())},
                            {kMpiSecretVariable, "s3cret"},
                            {kNodeRankVariable, std::to_string(node)},
                            {"NODE", std::to_string(node)}};
      launch.processes = {{{{"PART", "a"}}, "user_logs/std_log_process_00.txt"},
                          {{{"PART", "b"}}, "user_logs/std_log_process_01.txt"}};
      launch.starter = node == 0 ? Starter::Mpirun : Starter::MpiHost;
    }
  }

  void SetUp() override {
    if (::access("/usr/bin/mpirun", X_OK) != 0) GTEST_SKIP() << "Open MPI is not installed";
  }

  AttemptPaths paths(std::size_t node) const {
    return AttemptPaths(directory / fmt::format("node {}", node));  // A space, as people have them.
  }

  io::ProcessIdentity start(std::size_t node) {
    const AttemptPaths here = paths(node);
    for (const char* folder : {"/wd", "/user_logs", "/mpi"}) {
      EXPECT_TRUE(io::make_directories(here.directory + folder));
    }
    EXPECT_TRUE(write_record(here.launch, LaunchRecord{boot_id(), launches[node]}));
    return launch_without_agent(*zygote, here);
  }

  Outcome wait(std::size_t node, const io::ProcessIdentity& shim) const {
    EXPECT_TRUE(io::wait_for_end(shim, 120s));
    const auto exit = read_record<ExitRecord>(paths(node).exit);
    EXPECT_TRUE(exit) << "no exit.json";
    EXPECT_TRUE(processes_marked(marker_of(paths(node))).empty());
    return exit ? exit->outcome : Outcome{};
  }

  std::vector<Outcome> run(const std::string& command) {
    for (Launch& launch : launches) launch.command = command;
    const io::ProcessIdentity host = start(1);
    const io::ProcessIdentity head = start(0);
    return {wait(0, head), wait(1, host)};
  }

  std::string log(std::size_t node, std::size_t rank) const {
    const AttemptPaths here = paths(node);
    const std::string path =
        rank == 0 ? here.log : here.directory + "/" + launches[node].processes[rank].log;
    return io::read_file(path).value_or("no log");
  }

  io::TemporaryDirectory directory;
  std::string name = "mpi-" + random_hex(6);
  std::array<Launch, 2> launches{};
  Result<Zygote> zygote = Zygote::start({.grace = 100ms});
};

TEST_F(MpiRunTest, EveryRankRunsOnItsNodeWithItsLog) {
  const auto outcomes =
      run("echo $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE $NODE$PART; pwd; echo \"$TMPDIR\"");

  EXPECT_EQ(outcomes[0].exit_code, 0) << log(0, 0);
  EXPECT_EQ(outcomes[1], (Outcome{})) << log(1, 0);
  const std::string own = std::string(::getenv("TMPDIR") ? ::getenv("TMPDIR") : "") + "\n";
  EXPECT_EQ(log(0, 0), "0/4 0a\n" + paths(0).directory + "/wd\n" + own);
  EXPECT_EQ(log(0, 1), "1/4 0b\n" + paths(0).directory + "/wd\n" + own);
  EXPECT_EQ(log(1, 0), "2/4 1a\n" + paths(1).directory + "/wd\n" + own);
  EXPECT_EQ(log(1, 1), "3/4 1b\n" + paths(1).directory + "/wd\n" + own);
}

TEST_F(MpiRunTest, ARankThatFailsFailsTheHeadAndEndsAll) {
  const auto outcomes = run("[ $OMPI_COMM_WORLD_RANK = 3 ] && exit 5; sleep 600");

  EXPECT_EQ(outcomes[0].ending, Ending::Exited);
  EXPECT_EQ(outcomes[0].exit_code, 5) << log(0, 0);
}

TEST_F(MpiRunTest, AWarningThatSaysOnlyThatAProcessWasQuickIsNotInTheLog) {
  const std::string program = directory / "mpirun";
  ASSERT_TRUE(io::write_file(program,
                             "#!/bin/sh\necho '[here:1] plm:rsh: Warning: setpgid(5,5) failed in "
                             "parent with errno=Permission denied(13)' >&2\n"
                             "echo something else >&2; echo out; exit 7\n",
                             0755));
  launches[0].environment["PATH"] = directory.path() + ":/usr/bin:/bin";

  const Outcome outcome = wait(0, start(0));

  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_TRUE(log(0, 0) == "something else\nout\n" || log(0, 0) == "out\nsomething else\n")
      << log(0, 0);
}

TEST_F(MpiRunTest, ANodeWithoutOpenMpiSaysSo) {
  launches[0].environment["PATH"] = directory.path();

  const Outcome outcome = wait(0, start(0));

  EXPECT_EQ(outcome.ending, Ending::NotStarted);
  EXPECT_NE(outcome.message.find("mpirun"), std::string::npos) << outcome.message;
}

TEST_F(MpiRunTest, AStopOfTheHeadEndsTheOthers) {
  for (Launch& launch : launches) launch.command = "echo up; sleep 600";
  const io::ProcessIdentity host = start(1);
  const io::ProcessIdentity head = start(0);
  for (int attempt = 0; attempt < 24'000 && log(1, 1) != "up\n"; ++attempt) ::usleep(5'000);

  EXPECT_TRUE(io::send_signal(head, SIGTERM));

  EXPECT_EQ(wait(0, head).ending, Ending::Stopped);
  EXPECT_EQ(wait(1, host).ending, Ending::Exited);
}

}  // namespace
}  // namespace berth::node

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string first = words.empty() ? "" : words[0];
  if (first == "mpi-host") return berth::node::mpi_host_main();
  if (first == "mpi-rank") return berth::node::mpi_rank_main();
  if (first == "mpi-rsh") return berth::node::mpi_rsh_main(std::span(words).subspan(1));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
