// SPDX-License-Identifier: Apache-2.0
#include "io/http/loopback_transport.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "io/http/wire_fixture.h"

namespace berth::io {
namespace {

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
                             "HTTP/1.1 101 Changing\r\nUpgrade: x\r\n\r\n",
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
