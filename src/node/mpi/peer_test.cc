// SPDX-License-Identifier: Apache-2.0
// Who may have a member of an MPI job run a command, and who may not.
#include "node/mpi/peer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "io/files/temporary_directory.h"
#include "node/mpi/host.h"
#include "node/mpi/relay.h"
#include "node/mpi/rsh.h"
#include "node/ports.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

TEST(MpiPeer, ReadsTheListOfMembers) {
  const auto peers = parse_mpi_hosts("10.0.0.1:7000,[fe80::1]:7001");

  ASSERT_TRUE(peers);
  EXPECT_EQ(*peers, (std::vector<MpiPeer>{{"10.0.0.1", 7000}, {"fe80::1", 7001}}));
  EXPECT_FALSE(share_a_machine(*peers));
  EXPECT_TRUE(share_a_machine({{"127.0.0.1", 1}, {"127.0.0.1", 2}}));
  for (const char* wrong : {"", "a", "a:", ":1", "a:0", "a:65536", "a:1,", "a:1x"}) {
    EXPECT_FALSE(parse_mpi_hosts(wrong)) << wrong;
  }
}

TEST(MpiPeer, ItsNameForMpirunLeadsBackToItsRank) {
  EXPECT_EQ(*rank_of_mpi_host(mpi_host_name(42)), 42u);
  EXPECT_FALSE(rank_of_mpi_host("example.org"));
  EXPECT_FALSE(rank_of_mpi_host("192.0.2.x"));
}

/// A host in a process of its own, on a free port.
class MpiHostTest : public testing::Test {
 protected:
  MpiHostTest() {
    const auto ports = HeldPorts::take("127.0.0.1", 1);
    options = {.place = {"127.0.0.1", ports ? ports->first() : 0}, .secret = "s3cret"};
  }
  ~MpiHostTest() override {
    if (host > 0) ::kill(host, SIGKILL);
    if (host > 0) ::waitpid(host, nullptr, 0);
  }

  void start() {
    host = ::fork();
    if (host > 0) return;
    ::signal(SIGPIPE, SIG_IGN);
    ::_exit(run_mpi_host(options) ? 0 : 1);
  }

  int wait_for_end() {
    int status = 0;
    ::waitpid(host, &status, 0);
    host = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// What the command printed, and its exit status.
  std::pair<std::string, int> call(const std::string& secret, const std::string& command,
                                   const std::string& input = "") {
    const std::string out = directory / "out";
    EXPECT_TRUE(io::write_file(directory / "in", input));
    const pid_t caller = ::fork();
    if (caller == 0) {
      std::freopen((directory / "in").c_str(), "r", stdin);
      std::freopen(out.c_str(), "w", stdout);
      std::freopen((directory / "err").c_str(), "w", stderr);
      ::signal(SIGPIPE, SIG_IGN);
      const auto status = call_mpi_host({options.place, secret, command, 20s});
      ::_exit(status ? *status : 255);
    }
    int status = 0;
    ::waitpid(caller, &status, 0);
    return {io::read_file(out).value_or("no output"), WEXITSTATUS(status)};
  }

  io::Descriptor knock() {
    while (true) {
      Result<io::Descriptor> link = connect_to(options.place);
      if (link) return std::move(*link);
      EXPECT_EQ(link.error().code, Code::Unavailable) << link.error().message;
      ::usleep(1'000);
    }
  }

  /// Everything the host says until it hangs up.
  static std::string listen_to(int link) {
    std::string said;
    char buffer[512];
    for (ssize_t count = 1; count > 0;) {
      count = ::recv(link, buffer, sizeof buffer, 0);
      if (count > 0) said.append(buffer, static_cast<std::size_t>(count));
    }
    return said;
  }

  io::TemporaryDirectory directory;
  MpiHostOptions options{};
  pid_t host = 0;
};

TEST_F(MpiHostTest, RunsTheCommandOfOneWhoKnowsTheSecret) {
  start();

  const auto [out, status] = call("s3cret", "cat; echo err >&2; exit 7", "said\n");

  EXPECT_EQ(out, "said\n");
  EXPECT_EQ(status, 7);
  EXPECT_EQ(io::read_file(directory / "err").value_or(""), "err\n");
  EXPECT_EQ(wait_for_end(), 0) << "its work is done";
}

TEST_F(MpiHostTest, RefusesAWrongSecretAndGoesOnWaiting) {
  start();
  const std::string mark = directory / "mark";

  const auto [out, status] = call("guess", "touch " + mark);

  EXPECT_EQ(status, 255);
  EXPECT_NE(::access(mark.c_str(), F_OK), 0);
  EXPECT_EQ(call("s3cret", "echo hi").first, "hi\n");
}

TEST_F(MpiHostTest, RefusesNonsense) {
  options.patience = 1s;
  start();
  const std::string nonsenses[] = {"GET / HTTP/1.1\r\n\r\n",
                                   std::string(100'000, 'x'),
                                   "\n",
                                   fmt::format("{:a>64} \n", ""),
                                   fmt::format("{:a>64} {:0>64}\n", "", ""),
                                   std::string("\0\0\0\n", 4)};
  for (const std::string& nonsense : nonsenses) {
    const io::Descriptor link = knock();
    (void)::send(link.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL);
    ::shutdown(link.get(), SHUT_WR);
    const std::string said = listen_to(link.get());
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << "a greeting, and no more";
  }
  EXPECT_EQ(call("s3cret", "echo hi").first, "hi\n");
}

TEST_F(MpiHostTest, OneWhoSaysNothingKeepsNobodyWaiting) {
  start();
  const io::Descriptor silent = knock();

  EXPECT_EQ(call("s3cret", "echo hi").first, "hi\n");
}

TEST_F(MpiHostTest, AProofIsGoodForOneConnectionOnly) {
  start();
  // Somebody in the middle hears what a caller answers to one challenge, and says it to another.
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const io::Descriptor mine(ends[0]);
  const io::Descriptor theirs(ends[1]);
  const std::string challenge = fmt::format("berth-mpi 1 {:a>64}\n{:b>64}\n", "", "");
  (void)::send(theirs.get(), challenge.data(), challenge.size(), MSG_NOSIGNAL);
  EXPECT_FALSE(prove_as_caller(mine.get(), "s3cret"));
  char heard[512];
  const ssize_t count = ::recv(theirs.get(), heard, sizeof heard, 0);
  ASSERT_EQ(count, 64 + 1 + 64 + 1);

  const io::Descriptor link = knock();
  (void)::send(link.get(), heard, static_cast<std::size_t>(count), MSG_NOSIGNAL);

  const std::string said = listen_to(link.get());
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << "a greeting, and no more";
}

TEST_F(MpiHostTest, ACallerDoesNotTrustAHostThatOnlyPretends) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const io::Descriptor mine(ends[0]);
  const io::Descriptor theirs(ends[1]);
  const std::string words = fmt::format("berth-mpi 1 {:a>64}\n{:b>64}\n", "", "");
  (void)::send(theirs.get(), words.data(), words.size(), MSG_NOSIGNAL);

  const Status proved = prove_as_caller(mine.get(), "s3cret");

  ASSERT_FALSE(proved);
  EXPECT_EQ(proved.error().code, Code::Forbidden);
}

TEST_F(MpiHostTest, WithoutASecretNobodyGetsIn) {
  options.secret.clear();
  start();

  EXPECT_EQ(call("", "echo hi").second, 255);
}

TEST_F(MpiHostTest, EndsWhenTheCallerIsGone) {
  start();
  io::Descriptor link = knock();
  ASSERT_TRUE(prove_as_caller(link.get(), "s3cret"));
  ASSERT_TRUE(send_mpi_frame(link.get(), MpiRelay::kCommand, "exec sleep 600"));

  link.reset();

  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(MpiHostTest, CarriesMuchMoreThanAnyBufferHolds) {
  start();

  const auto [out, status] = call("s3cret", "head -c 3000000 /dev/zero | tr '\\0' x");

  EXPECT_EQ(out, std::string(3'000'000, 'x'));
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace berth::node
