// SPDX-License-Identifier: Apache-2.0
#include "io/http/websocket.h"

#include "io/http/http_server_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;
using Opened = Result<std::shared_ptr<WebSocket>>;

void echo(const std::shared_ptr<WebSocket>& socket) {
  socket->start({.on_message = [socket](std::string message,
                                        bool binary) { socket->send(std::move(message), binary); },
                 .on_close = [](std::string) {}});
}

/// The client's side of one socket, for a test that waits.
struct Peer {
  std::shared_ptr<WebSocket> socket{};
  std::vector<std::string> messages{};
  std::promise<void> done{};  ///< Set after `expected` messages.
  std::promise<std::string> closed{};
  std::size_t expected = 1;

  void start() {
    socket->start({.on_message =
                       [this](std::string message, bool) {
                         messages.push_back(std::move(message));
                         if (messages.size() == expected) done.set_value();
                       },
                   .on_close = [this](std::string reason) { closed.set_value(reason); }});
  }
};

WebSocketAddress address_of(const RunningServer& server, bool tls) {
  WebSocketAddress address{.host = "127.0.0.1", .port = server.port, .path = "/socket"};
  address.bearer_token = "secret-token";
  if (tls) address.tls = ClientTls::make(server.authority.certificate).value();
  return address;
}

Opened open(RunningServer& server, const WebSocketAddress& address) {
  std::promise<Opened> opened;
  connect_websocket(server.loop, address,
                    [&](Opened result) { opened.set_value(std::move(result)); });
  return opened.get_future().get();
}

class WebSockets : public testing::TestWithParam<bool> {
 protected:
  WebSockets() { server.handler.on_socket = echo; }
  ~WebSockets() override {
    // Callbacks refer to the peer: let them go on the loop before it goes.
    server.on_loop([this] { peer.socket.reset(); });
  }

  void connect() {
    peer.socket = open(server, address_of(server, GetParam())).value();
    server.on_loop([this] { peer.start(); });
  }

  Peer peer{};
  RunningServer server{};
};

INSTANTIATE_TEST_SUITE_P(All, WebSockets, testing::Bool(),
                         [](const auto& test) { return test.param ? "Tls" : "Plain"; });

TEST_P(WebSockets, CarryMessagesInOrder) {
  connect();
  peer.expected = 1000;

  server.on_loop([this] {
    for (int i = 0; i < 1000; ++i) peer.socket->send(std::to_string(i), i % 2 == 0);
    EXPECT_GT(peer.socket->queued_bytes(), 0u);
  });
  ASSERT_TRUE(comes(peer.done.get_future()));

  server.on_loop([this] {
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(peer.messages[i], std::to_string(i));
    EXPECT_EQ(peer.socket->queued_bytes(), 0u);
  });
}

TEST_P(WebSockets, CarryLargeMessages) {
  connect();
  const std::string large(10u << 20, 'x');

  server.on_loop([&] { peer.socket->send(large, true); });
  ASSERT_TRUE(comes(peer.done.get_future()));

  server.on_loop([&] { EXPECT_TRUE(peer.messages.at(0) == large); });
}

TEST_P(WebSockets, CloseWhenTheMessageIsTooLarge) {
  connect();

  server.on_loop([this] { peer.socket->send(std::string((16u << 20) + 1, 'x'), true); });

  ASSERT_TRUE(comes(peer.closed.get_future()));
  server.on_loop([this] { EXPECT_TRUE(peer.messages.empty()); });
}

TEST_P(WebSockets, SendWhatIsQueuedBeforeClosing) {
  std::promise<std::string> received;
  std::promise<void> server_closed;
  server.handler.on_socket = [&](const std::shared_ptr<WebSocket>& socket) {
    socket->start({.on_message = [&](std::string text, bool) { received.set_value(text); },
                   .on_close = [&](std::string) { server_closed.set_value(); }});
  };
  connect();

  server.on_loop([this] {
    peer.socket->send("last words");
    peer.socket->close();
    peer.socket->send("not sent");
  });

  std::future<std::string> words = received.get_future();
  ASSERT_TRUE(comes(words));
  EXPECT_EQ(words.get(), "last words");
  EXPECT_TRUE(comes(server_closed.get_future()));
  std::future<std::string> reason = peer.closed.get_future();
  ASSERT_TRUE(comes(reason));
  EXPECT_EQ(reason.get(), "closed");
}

TEST_P(WebSockets, CloseWhenTheServerDrains) {
  connect();

  std::future<void> drained = server.drain(1h);

  EXPECT_TRUE(comes(peer.closed.get_future()));
  EXPECT_TRUE(comes(drained));
}

TEST(WebSocket, ShowsTheServerItsToken) {
  RunningServer server;
  server.handler.on_socket = echo;
  RawClient client(server.port);
  WebSocketAddress address = address_of(server, false);
  address.path = "/refused";

  const Opened refused = open(server, address);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Unauthenticated);
  EXPECT_EQ(refused.error().message.find("secret-token"), std::string::npos);
}

TEST(WebSocket, DoesNotTrustAnotherAuthority) {
  RunningServer server;
  server.handler.on_socket = echo;
  WebSocketAddress address = address_of(server, false);
  const KeyPair stranger = make_authority("stranger", SystemClock{}.now().wall).value();
  address.tls = ClientTls::make(stranger.certificate).value();

  EXPECT_EQ(open(server, address).error().code, Code::Unavailable);
}

TEST(WebSocket, DoesNotTrustACertificateForAnotherName) {
  RunningServer server;
  server.handler.on_socket = echo;
  WebSocketAddress address = address_of(server, true);
  address.host = "127.0.0.2";  // Reaches nobody's certificate: the server listens on 127.0.0.1.
  EXPECT_FALSE(open(server, address));

  RunningServer everywhere({}, "0.0.0.0");
  everywhere.handler.on_socket = echo;
  address = address_of(everywhere, true);
  EXPECT_TRUE(open(everywhere, address));
  address.host = "127.0.0.2";
  EXPECT_FALSE(open(everywhere, address));
}

TEST(WebSocket, SaysWhyThereIsNoConnection) {
  RunningServer server;
  WebSocketAddress address = address_of(server, false);
  address.port = 1;

  const Opened failed = open(server, address);

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::Unavailable);
  EXPECT_NE(failed.error().message.find("Connection refused"), std::string::npos);
}

}  // namespace
}  // namespace berth::io
