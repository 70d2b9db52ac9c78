// SPDX-License-Identifier: Apache-2.0
// Whom a relay is connected to, and what becomes of it when one of them fails.

#include "io/http/http_client.h"
#include "io/http/relay_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

// ---- Connections -------------------------------------------------------------------------------

TEST_F(RelayTest, BothConnectionsAreUsedAgain) {
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send(kOk);
  from.receive_to("ok");

  for (int i = 0; i < 3; ++i) {
    exchange(from, to, get("/again"), kOk);
    from.receive(2);
  }

  EXPECT_FALSE(listener.is_called());
}

TEST_F(RelayTest, PipelinedRequestsAreAnsweredInOrder) {
  Wire from = client();
  from.send(get("/1") + get("/2"));
  Wire to = listener.accept();
  EXPECT_TRUE(to.receive_head().starts_with("GET /1 "));
  to.send(kOk);
  EXPECT_TRUE(to.receive_head().starts_with("GET /2 "));
  to.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");

  EXPECT_TRUE(from.receive_to("ok").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 404 "));
}

TEST_F(RelayTest, AConnectionThatTheUpstreamHasClosedIsNotUsed) {
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send(kOk);
  from.receive_to("ok");
  to.close();

  from.send(post("/", "body"));

  Wire next = listener.accept();
  EXPECT_TRUE(next.receive_to("body").starts_with("POST / "));
}

TEST_F(RelayTest, ARequestThatMayBeRepeatedIsWhenAnOldConnectionEndsUnderIt) {
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send(kOk);
  from.receive_to("ok");

  from.send(get("/again"));
  to.receive_head();
  to.close();
  Wire next = listener.accept();
  EXPECT_TRUE(next.receive_head().starts_with("GET /again "));
  next.send(kOk);
  EXPECT_TRUE(from.receive_to("ok").starts_with("HTTP/1.1 200 "));

  from.send("POST /once HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
  next.receive_head();
  next.close();
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
  EXPECT_FALSE(listener.is_called());
}

TEST_F(RelayTest, AnIdleConnectionIsClosedAfterAWhile) {
  set_options({.idle_timeout = 40ms});
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send(kOk);
  from.receive_to("ok");

  EXPECT_TRUE(to.is_closed());
  EXPECT_EQ(idle(), 0u);
}

TEST_F(RelayTest, AUnixSocketIsRelayedTo) {
  WireListener local(server.directory / "service.sock");
  relay_through([this](Loop& loop) {
    return Upstream::at_socket(loop, server.directory / "service.sock").value();
  });
  Wire from = client();
  from.send(post("/", "body"));
  Wire to = local.accept();
  EXPECT_TRUE(to.receive_to("body").starts_with("POST / "));
  to.send(kOk);
  EXPECT_TRUE(from.receive_to("ok").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(exchange(from, to, get("/again"), kOk).starts_with("HTTP/1.1 200 "));
}

TEST_F(RelayTest, OnlyThisMachineIsRelayedTo) {
  EXPECT_FALSE(Upstream::at_port(server.loop, "10.0.0.1", 80));
  EXPECT_FALSE(Upstream::at_port(server.loop, "localhost", 80));
  EXPECT_FALSE(Upstream::at_socket(server.loop, std::string(200, 'x')));
}

TEST_F(RelayTest, AParkedConnectionIsWaitedForUsedAndParkedAgain) {
  relay_through([](Loop& loop) { return Upstream::of_parked(loop, {.connect_timeout = 1h}); });
  Wire from = client();
  from.send(get("/early"));
  auto [to, end] = Wire::pair();
  server.on_loop([&] { EXPECT_TRUE(upstream->park(std::move(end))); });

  EXPECT_TRUE(to.receive_head().starts_with("GET /early "));
  to.send(kOk);
  from.receive_to("ok");
  EXPECT_TRUE(exchange(from, to, get("/again"), kOk).starts_with("HTTP/1.1 200 "));
}

TEST_F(RelayTest, WithoutAParkedConnectionTheAnswerIs502) {
  relay_through([](Loop& loop) { return Upstream::of_parked(loop, {.connect_timeout = 40ms}); });
  Wire from = client();
  from.send(get("/"));

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
}

TEST_F(RelayTest, AConnectionThatWasDialledInBecomesAParkedOne) {
  relay_through([](Loop& loop) { return Upstream::of_parked(loop); });
  server.on_loop([&] {
    server.handler.on_admit = [&](const RequestHead& head) -> Admission {
      if (head.path == "/park") return Park{.into = upstream, .protocol = "berth-relay"};
      plan.to = upstream;
      return Relay{.plan = plan};
    };
  });
  Wire to = client();
  to.send("GET /park HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: berth-relay\r\n\r\n");
  EXPECT_TRUE(to.receive_head().starts_with("HTTP/1.1 101 "));
  Wire from = client();
  from.send(get("/through"));

  EXPECT_TRUE(to.receive_head().starts_with("GET /through "));
  to.send(kOk);
  EXPECT_TRUE(from.receive_to("ok").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(Wire::to_port(server.port).send(get("/park"))) << "and without asking for it: 400";
  auto drained = server.drain(1h);
  EXPECT_TRUE(to.is_closed());
  EXPECT_EQ(drained.wait_for(1min), std::future_status::ready);
}

// ---- Peers that fail ---------------------------------------------------------------------------

TEST_F(RelayTest, NobodyWhoListensIs502) {
  listener.close();
  Wire from = client();

  for (const std::string& request : {post("/", get("/hidden")), get("/"), get("/")}) {
    from.send(request);
    EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
    from.receive_to("}}");
  }
  EXPECT_FALSE(from.is_called()) << "a body is not a request";
}

TEST_F(RelayTest, AnUpstreamThatEndsWithoutAnAnswerIs502) {
  for (const std::string_view half : {"", "HTTP/1.1 200 OK\r\nContent-Le", "SSH-2.0-x\r\n\r\n"}) {
    Wire from = client();
    from.send(get("/"));
    Wire to = listener.accept();
    to.receive_head();
    to.send(half);
    to.close();

    EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 ")) << half;
    from.receive_to("}}");
    from.send(get("/next"));
    EXPECT_TRUE(listener.accept().receive_head().starts_with("GET /next ")) << "it goes on";
  }
}

TEST_F(RelayTest, AnUpstreamThatDiesWhileABodyComesInIs502AtOnce) {
  Wire from = client();
  from.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nx");
  Wire to = listener.accept();
  to.receive_head();
  to.close();

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 ")) << "the rest is not waited for";
}

TEST_F(RelayTest, AnAmbiguousAnswerIs502) {
  for (const std::string_view fields :
       {"Content-Length: 2\r\nTransfer-Encoding: chunked", "Content-Length: 1\r\nContent-Length: 2",
        "Transfer-Encoding: gzip", "Content-Length: -2"}) {
    Wire from = client();
    from.send(get("/"));
    Wire to = listener.accept();
    to.receive_head();
    to.send(fmt::format("HTTP/1.1 200 OK\r\n{}\r\n\r\nok", fields));

    EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 ")) << fields;
    EXPECT_TRUE(to.is_closed());
  }
}

TEST_F(RelayTest, AnAnswersHeadHasALimit) {
  set_options({.head_bytes = 1000});
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  to.send(fmt::format("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", std::string(2000, 'x')));

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
}

TEST_F(RelayTest, AnUpstreamThatDoesNotAnswerIs504) {
  set_options({.head_timeout = 40ms});
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 504 "));
  EXPECT_TRUE(to.is_closed());
}

TEST_F(RelayTest, AnAnswerThatBreaksOffIsCutOff) {
  for (const std::string_view half :
       {"Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n9\r\nhalf",
        "Transfer-Encoding: chunked\r\n\r\n4\r\nhalfXX0\r\n\r\n"}) {
    Wire from = client();
    from.send(get("/"));
    Wire to = listener.accept();
    to.receive_head();
    to.send("HTTP/1.1 200 OK\r\n");
    to.send(half);
    to.close();

    const std::string all = from.receive_rest();
    EXPECT_FALSE(all.ends_with("0\r\n\r\n")) << all;
  }
}

TEST_F(RelayTest, AClientThatSendsNoMoreStillGetsItsAnswer) {
  Wire from = client();
  from.send(get("/"));
  from.half_close();
  Wire to = listener.accept();
  to.receive_head();
  to.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
  from.receive_to("abc");
  to.send("def");

  EXPECT_EQ(from.receive(3), "def");
}

TEST_F(RelayTest, AnUpstreamIsLeftWhenTheClientBreaksOff) {
  Wire from = client();
  from.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");
  Wire to = listener.accept();
  to.receive_to("half");

  from.close();

  EXPECT_TRUE(to.is_closed());
}

TEST_F(RelayTest, ARequestThatIsNotAllowedAnyMoreIsCut) {
  bool is_allowed = true;
  guard = [&] { return is_allowed; };
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();

  server.on_loop([&] {
    is_allowed = false;
    server.server->recheck();
  });

  EXPECT_TRUE(from.is_closed());
  EXPECT_TRUE(to.is_closed());
}

// ---- Tunnels -----------------------------------------------------------------------------------

constexpr std::string_view kUpgrade =
    "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n";
constexpr std::string_view kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

TEST_F(RelayTest, ATunnelPassesBytesBothWaysAndEachEndIsSeen) {
  Wire from = client();
  from.send(kUpgrade);
  Wire to = listener.accept();
  const std::string head = to.receive_head();
  EXPECT_TRUE(has_line(head, "Connection: Upgrade") && has_line(head, "Upgrade: websocket"));
  to.send(std::string(kSwitch) + "first");
  const std::string switched = from.receive_head();
  EXPECT_TRUE(switched.starts_with("HTTP/1.1 101 ")) << switched;
  EXPECT_TRUE(has_line(switched, "Connection: Upgrade"));
  EXPECT_EQ(from.receive(5), "first");

  from.send(std::string_view("\0\1\2", 3));
  EXPECT_EQ(to.receive(3), std::string_view("\0\1\2", 3));
  from.half_close();
  EXPECT_TRUE(to.is_closed());
  to.send("last");
  to.close();

  EXPECT_EQ(from.receive_rest(), "last");
}

TEST_F(RelayTest, AWebSocketSpeaksThroughTheRelay) {
  RunningServer echo;
  echo.on_loop([&] {
    echo.handler.on_socket = [](std::shared_ptr<WebSocket> socket) {
      WebSocket* const raw = socket.get();
      raw->start({.on_message = [socket](std::string text,
                                         bool binary) { socket->send("<" + text + ">", binary); },
                  .on_close = [](const std::string&) {}});
    };
  });
  relay_through(
      [&](Loop& loop) { return Upstream::at_port(loop, "127.0.0.1", echo.port).value(); });
  plan.target = "/socket";
  std::promise<std::string> answered;
  std::promise<void> closed;

  server.on_loop([&] {
    connect_websocket(
        server.loop, {.host = "127.0.0.1", .port = server.port, .path = "/x"},
        [&](Result<std::shared_ptr<WebSocket>> made) {
          ASSERT_TRUE(made) << made.error().message;
          const auto socket = *made;
          socket->start({.on_message =
                             [&, socket](const std::string& text, bool) {
                               answered.set_value(text);
                               socket->close();
                             },
                         .on_close = [&](const std::string&) { closed.set_value(); }});
          socket->send("hello");
        });
  });

  auto answer = answered.get_future();
  ASSERT_EQ(answer.wait_for(1min), std::future_status::ready);
  EXPECT_EQ(answer.get(), "<hello>");
  EXPECT_EQ(closed.get_future().wait_for(1min), std::future_status::ready);
}

// ---- Draining, TLS, accounts -------------------------------------------------------------------

TEST_F(RelayTest, ADrainingServerFinishesWhatItRelays) {
  Wire from = client();
  from.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();

  auto drained = server.drain(1h);
  to.send(kOk);

  EXPECT_TRUE(has_line(from.receive_head(), "Connection: close"));
  EXPECT_EQ(from.receive_rest(), "ok");
  EXPECT_EQ(drained.wait_for(1min), std::future_status::ready);
}

TEST_F(RelayTest, ADrainingServerCutsTunnels) {
  Wire from = client();
  from.send(kUpgrade);
  Wire to = listener.accept();
  to.receive_head();
  to.send(kSwitch);
  from.receive_head();

  auto drained = server.drain(1h);

  EXPECT_TRUE(from.is_closed());
  EXPECT_TRUE(to.is_closed());
  EXPECT_EQ(drained.wait_for(1min), std::future_status::ready);
}

TEST_F(RelayTest, ASecureClientIsRelayedToo) {
  ASSERT_TRUE(write_file(server.directory / "ca.pem", server.authority.certificate));
  HttpClient secure({.authority_file = server.directory / "ca.pem"});
  const std::string body(1'000'000, 'y');
  std::thread answerer([&] {
    Wire to = listener.accept();
    EXPECT_TRUE(has_line(to.receive_head(), "X-Forwarded-Proto: https"));
    to.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    to.send(to.receive(body.size()));
  });

  const auto answer = secure.send({.method = "POST", .url = server.url("/", true), .body = body});
  answerer.join();

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(answer->body == body);
}

TEST_F(RelayTest, WhatIsRelayedIsOnItsCallersAccount) {
  RunningServer narrow({.held_bytes = 200 * 1024});
  narrow.on_loop([&] {
    plan.to = Upstream::at_port(narrow.loop, "127.0.0.1", listener.port()).value();
    narrow.handler.on_admit = [&](const RequestHead&) -> Admission {
      return Relay{.plan = plan, .caller = {.name = "ana", .only_reads = true}};
    };
  });
  Wire first = Wire::to_port(narrow.port);
  first.send(get("/"));
  Wire to = listener.accept();
  to.receive_head();
  Wire second = Wire::to_port(narrow.port);
  second.send(get("/"));
  EXPECT_TRUE(second.receive_head().starts_with("HTTP/1.1 429 "));

  to.send(kOk);
  EXPECT_TRUE(first.receive_head().starts_with("HTTP/1.1 200 "));
  narrow.on_loop([&] {
    narrow.handler.on_admit = nullptr;
    plan.to.reset();
  });
}

}  // namespace
}  // namespace berth::io
