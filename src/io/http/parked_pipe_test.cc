// SPDX-License-Identifier: Apache-2.0
// Connections that are dialled in over TLS and parked, as a node does it, and pauses that are too
// long.
#include "io/http/parked_pipe.h"

#include "io/http/relay_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

/// The listener is the service; the pipe stands between it and the server.
class ParkedPipeTest : public RelayTest {
 protected:
  void SetUp() override {
    relay_through([this](Loop& loop) { return Upstream::of_parked(loop, options); });
    server.on_loop([this] {
      server.handler.on_admit = [this](const RequestHead& head) -> Admission {
        if (head.path == "/refused") return Refuse{{.status = 403, .body = "no"}};
        if (head.path == "/park") {
          parked_by.set_value({std::string(header(head.headers, "Authorization")), head.is_tls});
          return Park{.into = upstream, .protocol = "berth-relay"};
        }
        plan.to = upstream;
        return Relay{.plan = plan};
      };
    });
  }
  void TearDown() override {
    server.on_loop([this] { pipe.reset(); });
    RelayTest::TearDown();
  }

  void open(const std::string& path = "/park", bool is_secure = true) {
    server.on_loop([&] {
      WebSocketAddress address{
          .host = "127.0.0.1", .port = server.port, .path = path, .bearer_token = "the-nodes"};
      if (is_secure) address.tls = ClientTls::make(server.authority.certificate).value();
      pipe = ParkedPipe::open(server.loop, address, "berth-relay", listener.port(),
                              {.on_parked = [this] { parked.set_value(); },
                               .on_used = [this] { used.set_value(); },
                               .on_closed = [this](const Status& s) { closed.set_value(s); }});
    });
  }

  struct Dialled {
    std::string authorization{};
    bool is_tls = false;
  };
  std::promise<Dialled> parked_by{};
  std::promise<void> parked{}, used{};
  std::promise<Status> closed{};
  std::shared_ptr<ParkedPipe> pipe{};
};

TEST_F(ParkedPipeTest, RequestsReachAServiceThroughASecureConnectionThatWasDialledIn) {
  open();
  auto dialled = parked_by.get_future();
  ASSERT_TRUE(comes(dialled));
  const Dialled by = dialled.get();
  EXPECT_EQ(by.authorization, "Bearer the-nodes");
  EXPECT_TRUE(by.is_tls);
  auto is_parked = parked.get_future();
  ASSERT_TRUE(comes(is_parked));
  auto is_used = used.get_future();
  EXPECT_NE(is_used.wait_for(0s), std::future_status::ready);

  Wire from = client();
  from.send(get("/through"));
  Wire to = listener.accept();
  EXPECT_TRUE(to.receive_head().starts_with("GET /through "));
  ASSERT_TRUE(comes(is_used));
  to.send(kOk);
  EXPECT_TRUE(from.receive_to("ok").starts_with("HTTP/1.1 200 "));

  EXPECT_TRUE(exchange(from, to, post("/again", "body"), kOk).starts_with("HTTP/1.1 200 "));
}

TEST_F(ParkedPipeTest, AnAnswerThatEndsWithItsConnectionArrivesWhole) {
  open();
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send("HTTP/1.0 200 OK\r\n\r\nthe whole answer");
  to.close();

  EXPECT_TRUE(has_line(from.receive_head(), "Transfer-Encoding: chunked"));
  const std::string body = from.receive_to("\r\n0\r\n\r\n");
  EXPECT_NE(body.find("the whole answer"), std::string::npos);
  EXPECT_TRUE(body.ends_with("\r\n0\r\n\r\n")) << "and says that it is: " << body;
  auto end = closed.get_future();
  ASSERT_TRUE(comes(end));
  EXPECT_TRUE(end.get());
}

TEST_F(ParkedPipeTest, ATunnelPassesBytesBothWays) {
  open();
  Wire from = client();
  from.send("GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  Wire to = listener.accept();
  to.receive_head();
  to.send(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfirst");
  from.receive_head();
  EXPECT_EQ(from.receive(5), "first");
  const std::string much(300'000, 'm');
  std::thread sender([&] { from.send(much); });
  EXPECT_TRUE(to.receive(much.size()) == much);
  sender.join();
  to.close();

  EXPECT_TRUE(from.is_closed());
}

TEST_F(ParkedPipeTest, AServiceThatDoesNotListenIs502) {
  listener.close();
  open();
  Wire from = client();
  from.send(post("/", "x"));

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
}

TEST_F(ParkedPipeTest, OneThatIsRefusedSaysWhy) {
  open("/refused", false);
  auto end = closed.get_future();
  ASSERT_TRUE(comes(end));
  const Status why = end.get();

  ASSERT_FALSE(why);
  EXPECT_EQ(why.error().code, Code::Forbidden);
}

TEST_F(ParkedPipeTest, OneThatIsCutEndsWhatGoesThroughIt) {
  open();
  Wire from = client();
  from.send(post("/", "x"));
  Wire to = listener.accept();
  to.receive_head();
  server.on_loop([this] { pipe->cut(); });

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
}

TEST_F(ParkedPipeTest, AServerThatEndsItsUpstreamLetsGoOfSpareOnes) {
  open();
  auto is_parked = parked.get_future();
  ASSERT_TRUE(comes(is_parked));
  server.on_loop([this] {
    plan.to.reset();
    upstream.reset();
  });
  auto end = closed.get_future();

  ASSERT_TRUE(comes(end));
  EXPECT_TRUE(end.get()) << "it was parked, so its end is no trouble";
}

// ---- Pauses ------------------------------------------------------------------------------------

TEST_F(RelayTest, AnAnswerThatPausesForTooLongIsCutOff) {
  set_options({.silence_timeout = 40ms});
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(from.receive_rest(), "half");
  EXPECT_TRUE(to.is_closed());
}

TEST_F(RelayTest, ATunnelThatPausesForTooLongIsCut) {
  set_options({.silence_timeout = 40ms});
  Wire from = client();
  from.send("GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  Wire to = listener.accept();
  to.receive_head();
  to.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 101 "));

  EXPECT_TRUE(from.is_closed());
  EXPECT_TRUE(to.is_closed());
}

}  // namespace
}  // namespace berth::io
