// SPDX-License-Identifier: Apache-2.0
// What passes through a relay: heads and bodies.

#include "io/http/relay_fixture.h"

namespace berth::io {
namespace {

// ---- Heads -------------------------------------------------------------------------------------

TEST_F(RelayTest, ARequestReachesTheUpstreamWithoutWhatIsAboutOneConnection) {
  plan.request = {.remove = {"authorization"}, .add = {{"X-Berth-User", "ana"}}};
  Wire from = client();

  from.send(
      "GET /a%20b?c=d HTTP/1.1\r\nHost: service.lab\r\nAuthorization: Bearer secret\r\n"
      "X-Berth-User: eve\r\nX-Forwarded-For: 1.2.3.4\r\nX-Real-IP: 1.2.3.4\r\nAccept: a/b\r\n"
      "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\n\r\n");
  const std::string head = listener.accept().receive_head();

  EXPECT_TRUE(head.starts_with("GET /a%20b?c=d HTTP/1.1\r\n")) << head;
  EXPECT_TRUE(has_line(head, "Host: service.lab"));
  EXPECT_TRUE(has_line(head, "Accept: a/b"));
  EXPECT_TRUE(has_line(head, "X-Berth-User: ana"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-For: 127.0.0.1"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-Proto: http"));
  EXPECT_TRUE(has_line(head, "X-Forwarded-Host: service.lab"));
  for (const char* name : {"Authorization", "Connection", "X-Mine", "Keep-Alive", "TE", "X-Real-IP",
                           "Content-Length", "Transfer-Encoding"}) {
    EXPECT_FALSE(has_name(head, name)) << name << "\n" << head;
  }
  EXPECT_EQ(head.find("eve"), std::string::npos);
  EXPECT_EQ(head.find("1.2.3.4"), std::string::npos);
}

TEST_F(RelayTest, AnAnswerReachesTheClientWithoutWhatIsAboutOneConnection) {
  plan.target = "/inside?x=1";
  plan.answer = {.remove = {"X-Secret"}, .add = {{"X-From", "berth"}}};
  Wire from = client();
  from.send("GET /outside HTTP/1.1\r\nHost: h\r\n\r\n");
  Wire to = listener.accept();
  EXPECT_TRUE(to.receive_head().starts_with("GET /inside?x=1 HTTP/1.1\r\n"));

  to.send(
      "HTTP/1.1 299 Quite Fine\r\nContent-Length: 5\r\nConnection: X-Hop\r\nX-Hop: 1\r\n"
      "Keep-Alive: 7\r\nX-Secret: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\nhello");

  const std::string head = from.receive_head();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 299 Quite Fine\r\n")) << head;
  EXPECT_TRUE(has_line(head, "Set-Cookie: a") && has_line(head, "Set-Cookie: b"));
  EXPECT_TRUE(has_line(head, "X-From: berth") && has_line(head, "Content-Length: 5"));
  for (const char* name : {"Connection", "X-Hop", "Keep-Alive", "X-Secret"}) {
    EXPECT_FALSE(has_name(head, name)) << name;
  }
  EXPECT_EQ(from.receive(5), "hello");
}

TEST_F(RelayTest, AnAnswerWithoutABodyEndsWithItsHead) {
  struct {
    std::string_view method, answer;
  } const kCases[] = {
      {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"},
      {"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"GET", "HTTP/1.1 204 No Content\r\n\r\n"},
      {"GET", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 10\r\n\r\n"},
      {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
  };
  Wire from = client();
  std::optional<Wire> to;
  for (const auto& [method, answer] : kCases) {
    from.send(fmt::format("{} / HTTP/1.1\r\nHost: h\r\n\r\n", method));
    if (!to) to = listener.accept();
    to->receive_head();
    to->send(answer);

    EXPECT_EQ(from.receive_head(), answer);
  }
}

struct Smuggled {
  const char* name;
  std::string bytes;
};
const Smuggled kSmuggled[] = {
    {"LengthAndChunked",
     "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
     "0\r\n\r\nGET /x"},
    {"TwoLengths",
     "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"},
    {"FoldedHeader", "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"},
    {"FoldedTransferCoding",
     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"},
    {"OtherTransferCoding",
     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"},
    {"SpaceBeforeColon",
     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
    {"BareLineFeedInChunkSize",
     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n"},
    {"BareLineFeedInExtension",
     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;a\nx\r\n0\r\n\r\n"},
    {"SignedChunkSize",
     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\nx\r\n0\r\n\r\n"},
};
class Smuggling : public RelayTest, public testing::WithParamInterface<Smuggled> {};

TEST_P(Smuggling, IsRefusedAndTheUpstreamSeesNothing) {
  Wire from = client();

  from.send(GetParam().bytes);

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 400 "));
  EXPECT_FALSE(listener.is_called());
}
INSTANTIATE_TEST_SUITE_P(All, Smuggling, testing::ValuesIn(kSmuggled),
                         [](const auto& test) { return test.param.name; });

TEST_F(RelayTest, HttpTwoIsNotUpgradedTo) {
  Wire from = client();

  from.send(
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
      "HTTP2-Settings: AAMAAABk\r\n\r\n");
  Wire to = listener.accept();
  const std::string head = to.receive_head();
  to.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");

  EXPECT_FALSE(has_name(head, "Upgrade") || has_name(head, "HTTP2-Settings")) << head;
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
}

// ---- Bodies ------------------------------------------------------------------------------------

TEST_F(RelayTest, BodiesOfKnownLengthPassBothWays) {
  Wire from = client();
  from.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello");
  Wire to = listener.accept();
  EXPECT_TRUE(has_line(to.receive_head(), "Content-Length: 10"));
  EXPECT_EQ(to.receive(5), "hello");
  from.send("world");
  EXPECT_EQ(to.receive(5), "world");

  to.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
  EXPECT_TRUE(has_line(from.receive_head(), "Content-Length: 6"));
  EXPECT_EQ(from.receive(3), "abc") << "what is there is not held back";
  to.send("def");
  EXPECT_EQ(from.receive(3), "def");
}

TEST_F(RelayTest, ChunksPassBothWaysWithoutExtensionsAndTrailers) {
  Wire from = client();
  from.send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhel");
  Wire to = listener.accept();
  EXPECT_TRUE(has_line(to.receive_head(), "Transfer-Encoding: chunked"));
  from.send("lo\r\n3\r\nabc\r\n0\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n");
  EXPECT_EQ(to.receive_to("0\r\n\r\n"), "5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n");

  to.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nok\r\n");
  EXPECT_TRUE(has_line(from.receive_head(), "Transfer-Encoding: chunked"));
  EXPECT_EQ(from.receive(7), "2\r\nok\r\n");
  to.send("0\r\nTrailer: x\r\n\r\n");
  EXPECT_EQ(from.receive(5), "0\r\n\r\n");
  EXPECT_TRUE(exchange(from, to, get("/next"), kOk).starts_with("HTTP/1.1 200 "));
}

TEST_F(RelayTest, ABrokenChunkUnderWayIsAnswered400) {
  Wire from = client();
  from.send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n");
  Wire to = listener.accept();
  to.receive_to("ok\r\n");

  from.send("zz\r\n");

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(to.is_closed());
}

TEST_F(RelayTest, AnAnswerThatEndsWithItsConnectionIsSentInChunks) {
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send("HTTP/1.0 200 OK\r\n\r\nabc");
  EXPECT_TRUE(has_line(from.receive_head(), "Transfer-Encoding: chunked"));
  EXPECT_EQ(from.receive(6), "3\r\nabc");
  to.send("defg");
  to.close();

  EXPECT_EQ(from.receive_to("0\r\n\r\n"), "\r\n4\r\ndefg\r\n0\r\n\r\n");
  from.send(get("/next"));
  EXPECT_TRUE(listener.accept().receive_head().starts_with("GET /next "));
}

TEST_F(RelayTest, AnOldClientGetsNoChunks) {
  Wire from = client();
  from.send("GET / HTTP/1.0\r\n\r\n");
  Wire to = listener.accept();
  EXPECT_TRUE(has_name(to.receive_head(), "Host"));
  to.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");

  EXPECT_FALSE(has_name(from.receive_head(), "Transfer-Encoding"));
  EXPECT_EQ(from.receive_rest(), "abcde");
}

TEST_F(RelayTest, ALargeBodyPassesBothWaysWhole) {
  constexpr std::size_t kSize = 8u << 20;
  std::string body(kSize, '\0');
  for (std::size_t i = 0; i < kSize; ++i) body[i] = static_cast<char>(i * 31 + i / 4096);
  Wire from = client();
  std::thread sender([&] {
    from.send(fmt::format("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", kSize));
    from.send(body);
  });
  Wire to = listener.accept();
  to.receive_head();
  EXPECT_TRUE(to.receive(kSize) == body);
  sender.join();

  std::thread answerer([&] {
    to.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", kSize));
    to.send(body);
  });
  from.receive_head();
  EXPECT_TRUE(from.receive(kSize) == body);
  answerer.join();
}

TEST_F(RelayTest, AClientIsToldToGoOnByTheUpstream) {
  Wire from = client();
  from.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  Wire to = listener.accept();
  EXPECT_TRUE(has_line(to.receive_head(), "Expect: 100-continue"));

  to.send("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(from.receive_head(), "HTTP/1.1 100 Continue\r\n\r\n");
  from.send("body");
  EXPECT_EQ(to.receive(4), "body");
  to.send(kOk);

  EXPECT_FALSE(has_name(from.receive_head(), "Connection"));
}

TEST_F(RelayTest, AClientThatIsNotToldToGoOnIsLeftAfterTheAnswer) {
  Wire from = client();
  from.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  Wire to = listener.accept();
  to.receive_head();

  to.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");

  EXPECT_TRUE(has_line(from.receive_head(), "Connection: close"));
}

TEST_F(RelayTest, AnEarlyAnswerArrivesAndTheConnectionCanBeUsedAgain) {
  constexpr std::size_t kSize = 4u << 20;
  Wire from = client();
  from.send(fmt::format("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\nx", kSize));
  Wire to = listener.accept();
  to.receive_head();

  to.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(from.receive(2), "no");
  EXPECT_TRUE(from.send(std::string(kSize - 1, 'x')));
  from.send(get("/next"));
  Wire next = listener.accept();
  EXPECT_TRUE(next.receive_head().starts_with("GET /next "));
  next.send(kOk);
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 200 "));
}

TEST_F(RelayTest, ASlowClientHoldsTheUpstreamUp) {
  constexpr std::size_t kSize = 128u << 20;
  Wire from = Wire::to_port(server.port, true);
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", kSize));

  const std::size_t taken = to.send_until_stuck(kSize);

  EXPECT_LT(taken, kSize / 2) << "the sockets hold a few MiB, the relay 64 KiB";
  from.receive_head();
  EXPECT_EQ(from.receive(taken).size(), taken) << "it goes on where it was";
}

TEST_F(RelayTest, ASlowUpstreamHoldsTheClientUp) {
  constexpr std::size_t kSize = 128u << 20;
  Wire from = client();
  from.send(fmt::format("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", kSize));
  Wire to = listener.accept();
  to.receive_head();

  const std::size_t taken = from.send_until_stuck(kSize);

  EXPECT_LT(taken, kSize / 2);
  EXPECT_EQ(to.receive(taken).size(), taken);
}

}  // namespace
}  // namespace berth::io
