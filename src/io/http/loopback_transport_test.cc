// SPDX-License-Identifier: Apache-2.0
#include "io/http/loopback_transport.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "io/http/wire_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

std::string place_of(std::string_view url) {
  const auto place = loopback_place(url);
  return place ? fmt::format("{} {} {}", place->host, place->port, place->target) : "none";
}

TEST(LoopbackPlace, IsThisMachineInTheClear) {
  EXPECT_EQ(place_of("http://127.0.0.1:8470/a?b"), "127.0.0.1 8470 /a?b");
  EXPECT_EQ(place_of("HTTP://LocalHost/"), "localhost 80 /");
  EXPECT_EQ(place_of("http://[::1]:1"), "::1 1 ");
}

TEST(LoopbackPlace, IsNotWhatOnlyLooksLikeIt) {
  for (const char* other :
       {"https://127.0.0.1/", "http://127.0.0.1.example/", "http://localhost:1@example/",
        "http://localhost@example/", "http://user@localhost/", "http://127.0.0.2/", "http://[::1/",
        "http://localhost:/", "http://localhost:0/", "http://localhost:65536/",
        "http://localhost:+1/", "http://localhost?a", "http://", "localhost"}) {
    EXPECT_EQ(place_of(other), "none") << other;
  }
}

TEST(LoopbackTransport, LeavesToLibcurlWhatItDoesNotDo) {
  const std::string url = "http://localhost:1/a";
  EXPECT_TRUE(LoopbackTransport::can_send({.url = url}));
  EXPECT_TRUE(LoopbackTransport::can_send({.url = url + "%20b/c.d?e=/f"}));
  EXPECT_FALSE(LoopbackTransport::can_send({.url = "http://example/a"}));
  EXPECT_FALSE(LoopbackTransport::can_send({.url = url, .upload = FileRange{}}));
  EXPECT_FALSE(LoopbackTransport::can_send({.url = url, .follow_redirects = true}));
  EXPECT_FALSE(LoopbackTransport::can_send({.url = url, .body = std::string(1u << 20, 'x')}));
  for (const char* odd : {"/../b", " b", "#b", "\xc3\xa4"}) {
    EXPECT_FALSE(LoopbackTransport::can_send({.url = url + odd})) << odd;
  }
}

TEST(LoopbackTransport, RefusesWhatIsNoAnswer) {
  for (const char* answer : {"hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
                             "HTTP/1.1 101 Changing\r\nUpgrade: x\r\n\r\nx",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"}) {
    WireListener listener;
    std::thread server([&] {
      Wire wire = listener.accept();
      wire.receive_head();
      wire.send(answer);
    });
    const auto response =
        LoopbackTransport().send({.url = fmt::format("http://localhost:{}/", listener.port())});
    server.join();
    ASSERT_FALSE(response) << answer;
    EXPECT_EQ(response.error().code, Code::Unavailable) << answer;
  }
}

TEST(LoopbackTransport, DoesNotTakeAFarewellForItsAnswer) {
  WireListener listener;
  std::promise<void> has_answer;
  std::promise<void> said;
  std::thread server([&] {
    Wire first = listener.accept();
    first.receive_head();
    first.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    has_answer.get_future().wait();
    first.send("HTTP/1.1 408 Late\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    said.set_value();
    Wire second = listener.accept();
    second.receive_head();
    second.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  LoopbackTransport transport;
  const ClientRequest request{.url = fmt::format("http://127.0.0.1:{}/", listener.port())};

  EXPECT_TRUE(transport.send(request));
  has_answer.set_value();
  said.get_future().wait();
  EXPECT_EQ(transport.send(request)->status, 200);

  server.join();
}

TEST(LoopbackTransport, DoesNotAskAgainWhenAHeadHasBegun) {
  WireListener listener;
  std::thread server([&] {
    Wire wire = listener.accept();
    wire.receive_head();
    wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    wire.receive_head();
    wire.send("HTTP/1.1 200 OK\r\nContent-Le");
  });
  LoopbackTransport transport;
  const ClientRequest request{.url = fmt::format("http://127.0.0.1:{}/", listener.port())};

  EXPECT_TRUE(transport.send(request));
  EXPECT_FALSE(transport.send(request));

  server.join();
  EXPECT_FALSE(listener.is_called());
}

TEST(LoopbackTransport, GivesUpThoughThereIsMoreToRead) {
  WireListener listener;
  std::thread server([&] {
    Wire wire = listener.accept();
    wire.receive_head();
    wire.send("HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x'));
  });
  ClientRequest slow{.url = fmt::format("http://127.0.0.1:{}/", listener.port()), .timeout = 50ms};
  slow.sink = [&](std::string_view) -> Status {
    const TimePoint late = SystemClock().now().mono + slow.timeout;
    while (SystemClock().now().mono < late) std::this_thread::yield();
    return Done{};
  };

  const auto response = LoopbackTransport().send(slow);

  server.join();
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Unavailable);
}

TEST(LoopbackTransport, RefusesAHeadWithoutEnd) {
  WireListener listener;
  std::thread server([&] {
    Wire wire = listener.accept();
    wire.receive_head();
    wire.send("HTTP/1.1 200 OK\r\n");
    while (wire.send("X-Again: and again\r\n")) {
    }
  });
  EXPECT_FALSE(
      LoopbackTransport().send({.url = fmt::format("http://127.0.0.1:{}/", listener.port())}));
  server.join();
}

TEST(LoopbackTransport, DoesNotHearAnnouncementsForEver) {
  WireListener listener;
  std::thread server([&] {
    Wire wire = listener.accept();
    wire.receive_head();
    while (wire.send("HTTP/1.1 103 Early\r\n\r\n")) {
    }
  });
  EXPECT_FALSE(
      LoopbackTransport().send({.url = fmt::format("http://127.0.0.1:{}/", listener.port())}));
  server.join();
}

}  // namespace
}  // namespace berth::io
