// SPDX-License-Identifier: Apache-2.0
// A server that relays, with both of its neighbours in the hands of the test. For tests.
#pragma once

#include "io/http/http_server_fixture.h"
#include "io/http/relay.h"
#include "io/http/wire_fixture.h"

namespace berth::io {

/// A server that relays everything to whoever listens.
class RelayTest : public testing::Test {
 protected:
  void SetUp() override {
    relay_through([this](Loop& loop) {
      return Upstream::at_port(loop, "127.0.0.1", listener.port(), options).value();
    });
  }
  void TearDown() override {
    server.on_loop([this] {
      server.handler.on_admit = nullptr;
      plan.to.reset();
      upstream.reset();
    });
  }

  void relay_through(const std::function<std::shared_ptr<Upstream>(Loop&)>& make) {
    server.on_loop([&] {
      upstream = make(server.loop);
      server.handler.on_admit = [this](const RequestHead&) -> Admission {
        plan.to = upstream;
        return Relay{.plan = plan, .is_still_allowed = guard, .caller = caller};
      };
    });
  }
  /// With other options than the default ones.
  void set_options(const UpstreamOptions& wanted) {
    options = wanted;
    SetUp();
  }
  std::size_t idle() {
    std::size_t count = 0;
    server.on_loop([&] { count = upstream->idle(); });
    return count;
  }
  Wire client() const { return Wire::to_port(server.port); }

  /// The client asks, the listener answers on a new connection, the client gets it.
  std::string exchange(Wire& from, Wire& to, std::string_view request, std::string_view answer) {
    from.send(request);
    to.receive_head();
    to.send(answer);
    return from.receive_head();
  }

  UpstreamOptions options{};
  RelayPlan plan{};
  std::function<bool()> guard{};
  Caller caller{};
  WireListener listener{};
  std::shared_ptr<Upstream> upstream{};
  RunningServer server{};
};

inline constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

inline bool has_line(const std::string& head, std::string_view line) {
  return head.find(fmt::format("\r\n{}\r\n", line)) != std::string::npos;
}
inline bool has_name(const std::string& head, std::string_view name) {
  return to_lower(head).find(fmt::format("\r\n{}:", to_lower(name))) != std::string::npos;
}

}  // namespace berth::io
