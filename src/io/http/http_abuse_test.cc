// SPDX-License-Identifier: Apache-2.0
// What broken, slow and hostile peers do to io/http/http_server.h.

#include <sys/mount.h>
#include <sys/resource.h>

#include "io/address.h"
#include "io/http/http_server_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

struct BadInput {
  const char* name;
  std::string bytes;
  int status;
};

std::string chunked(std::string_view rest) {
  return "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(rest);
}

const BadInput kBadInputs[] = {
    {"NotHttp", "hello there\r\n\r\n", 400},
    {"BadMethod", "GE\"T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"BadVersion", "GET / HTTP/3.0\r\nHost: h\r\n\r\n", 400},
    {"SpaceInTarget", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400},
    {"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
    {"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
    {"SpaceBeforeColon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
    {"NulInHeader", std::string("GET / HTTP/1.1\r\nHost: h\0\r\n\r\n", 28), 400},
    {"NegativeLength", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400},
    {"TwoLengths",
     "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400},
    {"LengthAndChunked",
     "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
     400},
    {"ChunkedAndLength",
     "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
     400},
    {"OtherTransferCoding",
     "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
    {"ObfuscatedTransferCoding",
     "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", 400},
    {"ChunkedInHttp10", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
    {"BadChunkSize", chunked("zz\r\n"), 400},
    {"HugeChunkSize", chunked("fffffffffffffffff\r\n"), 400},
    {"ChunkLongerThanItSays", chunked("1\r\nxx\r\n0\r\n\r\n"), 400},
    {"EndlessChunkExtension", chunked("1;" + std::string(200'000, 'x')), 400},
    {"LengthInTrailer", chunked("0\r\nContent-Length: 3\r\n\r\n"), 400},
    {"HugeHeader", "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(40'000, 'x') + "\r\n\r\n", 431},
    {"HugeTarget", "GET /" + std::string(40'000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n", 431},
    {"OtherExpectation", "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n", 417},
    {"TooLongBody", post("/ten-bytes", "12345678901"), 413},
    {"NotAWebSocket", get("/socket"), 400},
};

class Abuse : public testing::TestWithParam<BadInput> {};

TEST_P(Abuse, IsAnsweredAndTheConnectionClosed) {
  RunningServer server;
  RawClient client(server.port);

  const auto answer = client.ask(GetParam().bytes);

  EXPECT_EQ(answer.status, GetParam().status) << answer.body;
  EXPECT_TRUE(answer.body.starts_with(R"({"error":{"code":")")) << answer.body;
  EXPECT_EQ(header(answer.headers, "Connection"), "close");
  EXPECT_EQ(server.handler.requests, 0);
  RawClient next(server.port);
  EXPECT_EQ(next.ask(get("/hello")).status, 200);
}

INSTANTIATE_TEST_SUITE_P(All, Abuse, testing::ValuesIn(kBadInputs),
                         [](const auto& test) { return test.param.name; });

TEST(HttpAbuse, ManySmallHeadersInManyPacketsMeetTheSameLimit) {
  RunningServer server;
  RawClient client(server.port);

  client.send("GET / HTTP/1.1\r\nHost: h\r\n");
  for (int i = 0; i < 2000; ++i) client.send("X: 12345678901234567890\r\n");

  EXPECT_EQ(client.receive().status, 431);
}

TEST(HttpAbuse, AChunkedBodyOverTheLimitIsRefusedWhileItArrives) {
  RunningServer server;
  RawClient client(server.port);
  client.send("POST /ten-bytes HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");

  EXPECT_EQ(client.ask("b\r\n12345678901\r\n").status, 413);
}

TEST(HttpAbuse, AClientStillSendingGetsTheRefusalNotAReset) {
  RunningServer server;
  RawClient client(server.port);

  client.send("POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n");
  client.send(std::string(8'000'000, 'x'));

  EXPECT_EQ(client.receive().status, 401);
}

TEST(HttpAbuse, ASlowHeadIsTimedOut) {
  RunningServer server({.head_timeout = 1s});  // What comes after it is not answered.
  RawClient client(server.port);

  EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHo").status, 408);
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpAbuse, AClientThatSaysNothingIsClosed) {
  RunningServer server({.head_timeout = 40ms});
  RawClient client(server.port);

  EXPECT_TRUE(client.is_closed());
}

TEST(HttpAbuse, AHalfTlsHandshakeIsClosed) {
  RunningServer server({.head_timeout = 40ms});
  RawClient client(server.port);
  client.send("\x16\x03\x01");

  EXPECT_TRUE(client.is_closed());
}

TEST(HttpAbuse, AnIdleConnectionIsClosed) {
  RunningServer server({.idle_timeout = 40ms});
  RawClient client(server.port);

  EXPECT_EQ(client.ask(get("/hello")).status, 200);
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpAbuse, AStalledBodyIsTimedOut) {
  RunningServer server({.stall_timeout = 40ms});
  for (const char* path : {"/echo", "/spool"}) {
    RawClient client(server.port);
    EXPECT_EQ(
        client
            .ask(fmt::format("POST {} HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf", path))
            .status,
        408);
  }
  EXPECT_TRUE(list_tree(server.directory.path())->empty()) << "half a spooled body was left behind";
}

TEST(HttpAbuse, AClientThatNeverReadsIsCutOff) {
  RunningServer server({.stall_timeout = 40ms});
  const std::string content(100'000, 'x');
  ASSERT_TRUE(write_file(server.directory / "content", content));
  const auto file = std::make_shared<const Descriptor>(
      ::open((server.directory / "content").c_str(), O_RDONLY | O_CLOEXEC));
  server.handler.files.assign(400, {file, 0, content.size()});
  RawClient client(server.port);
  client.send(get("/files"));
  bool is_there = false;
  while (!is_there) server.on_loop([&] { is_there = server.handler.requests == 1; });

  // Drained long before the grace is over: so the stalled answer was given up.
  EXPECT_TRUE(comes(server.drain(1h)));
}

// ---- More connections than there may be --------------------------------------------------------

/// Waits until the server has taken in all that have connected.
void await_connections(RunningServer& server, std::size_t count) {
  const TimePoint hangs_at = SystemClock{}.now().mono + 1min;
  for (std::size_t open = 0; open < count && SystemClock{}.now().mono < hangs_at;) {
    server.on_loop([&] { open = server.server->connections(); });
  }
}

TEST(HttpAbuse, OfManySilentConnectionsTheOldestGoesForANewOne) {
  RunningServer server({.connections = 4});
  std::vector<std::unique_ptr<RawClient>> silent;
  for (std::size_t count = 1; count <= 4; ++count) {
    silent.push_back(std::make_unique<RawClient>(server.port));
    await_connections(server, count);
  }

  RawClient late(server.port);

  EXPECT_EQ(late.ask(get("/hello")).status, 200);
  EXPECT_TRUE(silent[0]->is_closed());
  EXPECT_EQ(silent[1]->ask(get("/hello")).status, 200);
}

TEST(HttpAbuse, WhoHasSentAHeadStaysLongerThanWhoHasNot) {
  RunningServer server({.connections = 2});
  RawClient heard(server.port);
  EXPECT_EQ(heard.ask(get("/hello")).status, 200);
  RawClient silent(server.port);
  await_connections(server, 2);

  RawClient late(server.port);

  EXPECT_EQ(late.ask(get("/hello")).status, 200);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_EQ(heard.ask(get("/hello")).status, 200);
}

TEST(HttpAbuse, WhoHasShownWhoTheyAreStaysWhateverStrangersDo) {
  RunningServer server({.connections = 3});
  RawClient known(server.port);
  EXPECT_EQ(known.ask(get_as("ana", "/hello")).status, 200);

  std::vector<std::unique_ptr<RawClient>> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(std::make_unique<RawClient>(server.port));
    if (i % 2 == 0) strangers.back()->ask(get("/hello"));
  }

  EXPECT_EQ(known.ask(get_as("ana", "/hello")).status, 200);
  RawClient other(server.port);
  EXPECT_EQ(other.ask(get_as("ben", "/hello")).status, 200);
}

TEST(HttpAbuse, AnAddressHasItsShareOfConnectionsThatShowNothing) {
  RunningServer server({.connections = 6, .connections_of_strangers = 3});
  RawClient elsewhere;
  elsewhere.come_from("127.0.0.2");
  elsewhere.connect(server.port);
  await_connections(server, 1);

  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < 20; ++i) flood.push_back(std::make_unique<RawClient>(server.port));
  EXPECT_EQ(flood.back()->ask(get("/hello")).status, 200);

  EXPECT_EQ(elsewhere.ask(get("/hello")).status, 200) << "it said nothing for the longest time";
  EXPECT_TRUE(flood[0]->is_closed());
}

TEST(HttpAbuse, WhoHasTheMostConnectionsGivesOneUpWhenAllAreKnown) {
  RunningServer server({.connections = 4});
  std::vector<std::unique_ptr<RawClient>> greedy;
  for (int i = 0; i < 3; ++i) {
    greedy.push_back(std::make_unique<RawClient>(server.port));
    EXPECT_EQ(greedy.back()->ask(get_as("ana", "/hello")).status, 200);
  }
  RawClient modest(server.port);
  EXPECT_EQ(modest.ask(get_as("ben", "/hello")).status, 200);

  RawClient late(server.port);

  EXPECT_EQ(late.ask(get_as("eve", "/hello")).status, 200);
  EXPECT_TRUE(greedy[0]->is_closed());
  EXPECT_EQ(modest.ask(get_as("ben", "/hello")).status, 200);
}

// ---- More bytes than there may be --------------------------------------------------------------

TEST(HttpAbuse, WhoDoesNotReadTheirAnswersGetsNoMoreOfThem) {
  RunningServer server({.held_bytes = 40u << 20});
  server.handler.large = 16u << 20;
  std::vector<std::unique_ptr<RawClient>> lazy;
  for (int i = 0; i < 2; ++i) {
    lazy.push_back(std::make_unique<RawClient>());
    lazy.back()->take_little();
    lazy.back()->connect(server.port);
    lazy.back()->send(get_as("ana", "/large"));
  }
  for (int requests = 0; requests < 2;) server.on_loop([&] { requests = server.handler.requests; });

  RawClient more(server.port);
  const auto refused = more.ask(get_as("ana", "/large"));

  EXPECT_EQ(refused.status, 429) << "it would be 48 MiB";
  EXPECT_EQ(header(refused.headers, "Retry-After"), "1");
  EXPECT_EQ(more.ask(get_as("ana", "/hello")).status, 200) << "small answers cost nothing";
  EXPECT_EQ(RawClient(server.port).ask(get_as("ben", "/large")).status, 200);
  EXPECT_EQ(lazy[0]->receive().status, 200);
  EXPECT_EQ(lazy[1]->receive().status, 200);
  EXPECT_EQ(more.ask(get_as("ana", "/large")).status, 200) << "they have been read";
}

TEST(HttpAbuse, BodiesOfOneCallerTakeNoMoreThanTheirShareOfMemory) {
  RunningServer server({.held_bytes = 4u << 20});
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: h\r\nX-Caller: ana\r\nContent-Length: 3000001\r\n\r\n";
  RawClient first(server.port);
  first.send(head + std::string(3'000'000, 'x'));
  RawClient second(server.port);

  const auto refused = second.ask(head + std::string(3'000'000, 'x'));

  // Which of the two came too late is not for us to say.
  EXPECT_TRUE(refused.status == 429 || first.receive().status == 429);
}

TEST(HttpAbuse, AFaultInAHandlerIsTheRequestsAlone) {
  RunningServer server;
  for (const char* path : {"/bad", "/bad-head"}) {
    RawClient client(server.port);

    EXPECT_EQ(client.ask(get(path)).status, 500) << path;
    EXPECT_EQ(client.ask(get("/hello")).status, 200) << path;
  }
}

TEST(HttpAbuse, PlainHttpIsRefusedOffLoopback) {
  RunningServer server({}, "0.0.0.0");
  const auto own = own_addresses();
  const auto address = std::ranges::find_if(
      own, [](const std::string& text) { return text.find(':') == std::string::npos; });
  if (address == own.end()) GTEST_SKIP() << "this machine has only loopback";
  RawClient client;
  client.connect(server.port, *address);

  const auto answer = client.ask(get("/hello"));

  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("HttpsRequired"), std::string::npos);
  EXPECT_EQ(server.handler.requests, 0);
}

TEST(HttpAbuse, PlainHttpOnLoopbackIsAnsweredByAServerThatListensEverywhere) {
  RunningServer server({}, "0.0.0.0");
  RawClient client(server.port);

  EXPECT_EQ(client.ask(get("/hello")).status, 200);
}

TEST(HttpAbuse, AServerOutOfDescriptorsGoesOnWhenThereAreSomeAgain) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer itself needs descriptors";
#endif
  RunningServer server;
  RawClient client(server.port);
  client.ask(get("/hello"));
  RawClient late;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int lowest_free = ::dup(0);
  ::close(lowest_free);
  rlimit none = limit;
  none.rlim_cur = static_cast<rlim_t>(lowest_free);

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  late.connect(server.port);
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);

  EXPECT_EQ(late.ask(get("/hello")).status, 200);
}

TEST(HttpAbuse, AFullDiskIsAnsweredWith507) {
  RunningServer server;
  const std::string& disk = server.directory.path();
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "a small disk can be made only by root";
  }
  RawClient client(server.port);

  const auto answer = client.ask(post("/spool", std::string(1'000'000, 'x')));
  const auto fits = RawClient(server.port).ask(post("/spool", "small"));
  ::umount2(disk.c_str(), MNT_DETACH);

  EXPECT_EQ(answer.status, 507) << answer.body;
  EXPECT_EQ(fits.status, 200);
}

}  // namespace
}  // namespace berth::io
