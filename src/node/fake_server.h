// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/http/http_server.h"
#include "io/loop.h"
#include "io/offload.h"
#include "wire/node/message.h"

namespace berth::node {

/// A server for tests: keeps what nodes say and what they upload to one container, "/c".
class FakeServer final : public io::HttpHandler {
 public:
  /// Listens on a free port and writes <home>/server.json.
  FakeServer(io::Loop& loop, const std::string& home,
             std::shared_ptr<const io::ServerTls> tls = nullptr);
  ~FakeServer() override;

  void say(const wire::node::ToNode& message);
  std::string container_url() const;
  std::uint16_t port() const { return server_->port(); }
  bool is_connected() const { return channel_ != nullptr; }
  /// Whatever was said of that kind, in order.
  template <typename T>
  std::vector<T> heard() const {
    std::vector<T> found;
    for (const wire::node::ToServer& message : said_) {
      if (const T* one = std::get_if<T>(&message)) found.push_back(*one);
    }
    return found;
  }

  std::map<std::string, std::string> blobs{};
  std::map<wire::node::AttemptRef, std::string> logs{};
  std::deque<int> refusals{};  ///< Statuses to answer the next requests with instead.
  bool is_mute = false;        ///< Blob requests are never answered.
  std::string token = "token";
  std::optional<Duration> lease{};  ///< Given with every Welcome, and renewed while is_renewing.
  bool is_renewing = true;
  int requests = 0;

  io::Admission admit(const io::RequestHead& head) override;

 private:
  void handle(const io::Request& request, io::Respond respond);
  void accept(std::shared_ptr<io::WebSocket> channel);
  void received(const std::string& data, bool binary);
  io::Reply answer(const io::Request& request);
  std::string list(const std::string& query) const;

  void answer_for_lease(const wire::node::ToServer& message);

  io::InlineOffload disk_{};
  bool is_secure_ = false;
  std::unique_ptr<io::HttpServer> server_{};
  std::shared_ptr<io::WebSocket> channel_{};
  std::vector<wire::node::ToServer> said_{};
  std::map<std::string, std::string> blocks_{};
  std::vector<io::Respond> unanswered_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::node
