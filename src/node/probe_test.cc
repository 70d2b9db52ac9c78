// SPDX-License-Identifier: Apache-2.0
#include "node/probe.h"

#include <gtest/gtest.h>

#include <thread>

#include "io/http/wire_fixture.h"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

/// Asks by HTTP; the service answers so, and hears this.
std::pair<bool, std::string> asked(const std::string& answer) {
  io::WireListener listener;
  std::string heard;
  std::thread service([&] {
    io::Wire wire = listener.accept();
    heard = wire.receive_head();
    wire.send(answer);
  });
  const Status probed = probe_service({.path = "/health?deep=1", .timeout = 1min}, listener.port());
  service.join();
  return {probed.has_value(), heard};
}

TEST(Probe, AnAnswerIsGoodByItsStatus) {
  const auto [is_good, heard] = asked("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(is_good);
  EXPECT_TRUE(heard.starts_with("GET /health?deep=1 HTTP/1.1\r\n")) << heard;
  EXPECT_TRUE(asked("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n").first);
  EXPECT_FALSE(asked("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n").first);
  EXPECT_FALSE(asked("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n").first);
  EXPECT_FALSE(asked("").first);
}

TEST(Probe, OneThatDoesNotAnswerInTimeIsBad) {
  io::WireListener listener;
  EXPECT_FALSE(probe_service({.path = "/", .timeout = 50ms}, listener.port()));
}

TEST(Probe, WithoutAPathAConnectionIsEnough) {
  io::WireListener listener;
  EXPECT_TRUE(probe_service({}, listener.port()));
  listener.close();
  EXPECT_FALSE(probe_service({}, listener.port()));
}

}  // namespace
}  // namespace berth::node
