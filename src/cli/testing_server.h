// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/client.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "io/offload.h"

namespace berth::cli {

/// An HTTP server on loopback that answers with one function, on a thread of its own. Calls of the
/// function, and of locked(), exclude each other.
class TestingServer final : public io::HttpHandler {
 public:
  using Answer = std::function<io::Reply(const io::Request&)>;

  explicit TestingServer(Answer answer) : answer_(std::move(answer)) {
    server_.emplace(loop_, disk_, *this, io::HttpServerOptions{}, nullptr);
    is_listening_ = server_->listen().has_value();
    thread_ = std::jthread([this] { loop_.run(); });
  }

  ~TestingServer() override {
    loop_.stop();
    thread_.join();
    server_.reset();
  }

  std::string url() const {
    return is_listening_ ? fmt::format("http://127.0.0.1:{}", server_->port())
                         : "http://not-listening";
  }
  Endpoint endpoint() const { return {.base_url = url(), .token = "secret"}; }
  Locate locate() const {
    return [this](bool) -> Result<Endpoint> { return endpoint(); };
  }

  template <typename Function>
  auto locked(Function function) {
    const std::lock_guard lock(mutex_);
    return function();
  }

  io::Admission admit(const io::RequestHead&) override { return io::ReadBody{.limit = 100u << 20}; }

  void handle(io::Request request, Respond respond) override {
    respond(locked([&] { return answer_(request); }));
  }

 private:
  Answer answer_;
  std::mutex mutex_{};
  io::Loop loop_{};
  io::InlineOffload disk_{};
  std::optional<io::HttpServer> server_{};
  bool is_listening_ = false;
  std::jthread thread_{};
};

inline io::Reply testing_error(int status, std::string_view code) {
  return {.status = status,
          .body = fmt::format(R"({{"error":{{"code":"{}","message":"the message"}}}})", code)};
}

}  // namespace berth::cli
