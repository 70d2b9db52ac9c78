// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <optional>

#include "cli/client.h"
#include "io/http/http_server.h"
#include "io/loop.h"
#include "io/offload.h"

namespace berth::cli {

/// An HTTP server on loopback that answers with one function, on a thread of its own. What the
/// function touches is looked at with on_loop().
class TestingServer final : public io::HttpHandler {
 public:
  using Answer = std::function<io::Reply(const io::Request&)>;

  explicit TestingServer(Answer answer) : answer_(std::move(answer)) {
    server_.emplace(loop_, disk_, *this, io::HttpServerOptions{}, nullptr);
    is_listening_ = server_->listen().has_value();
    thread_.emplace(unused_, 1);
    thread_->run([this]() -> io::Offload::Continuation {
      loop_.run();
      return {};
    });
  }

  ~TestingServer() override {
    // Posted, so that a loop that has not begun to run stops all the same.
    loop_.post([this] { loop_.stop(); });
    thread_.reset();
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

  /// Runs the function where the answers are made and returns what it returns.
  template <typename Function>
  auto on_loop(Function function) {
    std::packaged_task<decltype(function())()> task(std::move(function));
    loop_.post([&task] { task(); });
    return task.get_future().get();
  }

  io::Admission admit(const io::RequestHead&) override {
    return io::ReadBody{.limit = 100u << 20,
                        .handle = [this](const io::Request& request, const io::Respond& respond) {
                          respond(answer_(request));
                        }};
  }

 private:
  Answer answer_;
  io::Loop loop_{};
  io::Loop unused_{};
  io::InlineOffload disk_{};
  std::optional<io::HttpServer> server_{};
  bool is_listening_ = false;
  std::optional<io::ThreadOffload> thread_{};
};

inline io::Reply testing_error(int status, std::string_view code) {
  return {.status = status,
          .body = fmt::format(R"({{"error":{{"code":"{}","message":"the message"}}}})", code)};
}

}  // namespace berth::cli
