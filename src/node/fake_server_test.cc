// SPDX-License-Identifier: Apache-2.0
// In a _test.cc so that it is part of the tests only.
#include "node/fake_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/record.h"
#include "base/text.h"
#include "io/files/file.h"

namespace berth::node {

FakeServer::FakeServer(io::Loop& loop, const std::string& home,
                       std::shared_ptr<const io::ServerTls> tls)
    : is_secure_(tls != nullptr) {
  server_ =
      std::make_unique<io::HttpServer>(loop, disk_, *this, io::HttpServerOptions{}, std::move(tls));
  EXPECT_TRUE(server_->listen());
  EXPECT_TRUE(io::write_file(home + "/server.json",
                             fmt::format(R"({{"pid":1,"port":{}}})", server_->port())));
}

FakeServer::~FakeServer() {
  if (channel_) channel_->close();
}

std::string FakeServer::container_url() const {
  return fmt::format("{}://127.0.0.1:{}/c?sig=x", is_secure_ ? "https" : "http", server_->port());
}

void FakeServer::say(const wire::node::ToNode& message) {
  ASSERT_TRUE(channel_) << "no node is connected";
  wire::node::Frame frame = wire::node::encode(message);
  channel_->send(std::move(frame.data), frame.binary);
}

io::Admission FakeServer::admit(const io::RequestHead& head) {
  if (head.path != "/berth/v1/nodes/n1/channel") {
    return io::ReadBody{.limit = 256u << 20,
                        .handle = [this](const io::Request& request, io::Respond respond) {
                          handle(request, std::move(respond));
                        }};
  }
  if (io::header(head.headers, "Authorization") != "Bearer " + token) {
    return io::Refuse{{.status = 401}};
  }
  return io::Upgrade{
      [this](std::shared_ptr<io::WebSocket> channel) { accept(std::move(channel)); }};
}

void FakeServer::accept(std::shared_ptr<io::WebSocket> channel) {
  channel_ = std::move(channel);
  // The connection may outlive a server that a test has die.
  const std::weak_ptr<int> alive = alive_;
  channel_->start({.on_message =
                       [this, alive](const std::string& data, bool binary) {
                         if (!alive.expired()) received(data, binary);
                       },
                   .on_close =
                       [this, alive, which = channel_.get()](const std::string&) {
                         if (!alive.expired() && which == channel_.get()) channel_.reset();
                       }});
}

void FakeServer::received(const std::string& data, bool binary) {
  const auto message = wire::node::decode_to_server(data, binary);
  ASSERT_TRUE(message && *message);
  if (const auto* chunk = std::get_if<wire::node::LogChunk>(&**message)) {
    std::string& log = logs[chunk->attempt];
    if (chunk->offset == log.size()) log += chunk->bytes;
    say(wire::node::LogStored{chunk->attempt, log.size()});
    return;
  }
  said_.push_back(**message);
  if (lease) answer_for_lease(**message);
}

void FakeServer::answer_for_lease(const wire::node::ToServer& message) {
  if (std::holds_alternative<wire::node::Hello>(message)) say(wire::node::Welcome{"test", lease});
  const auto* beat = std::get_if<wire::node::Heartbeat>(&message);
  if (beat && is_renewing) say(wire::node::LeaseRenewed{beat->number, lease});
}

void FakeServer::handle(const io::Request& request, io::Respond respond) {
  ++requests;
  if (is_mute) return unanswered_.push_back(std::move(respond));
  if (!refusals.empty()) {
    const int status = refusals.front();
    refusals.pop_front();
    return respond({.status = status, .body = "{}"});
  }
  respond(answer(request));
}

std::string FakeServer::list(const std::string& query) const {
  const auto values = io::parse_query(query);
  std::string prefix;
  std::string marker;
  for (const auto& [name, value] : *values) {
    if (name == "prefix") prefix = value;
    if (name == "marker") marker = value;
  }
  boost::json::array found;
  std::string next;
  for (auto blob = blobs.upper_bound(marker); blob != blobs.end(); ++blob) {
    if (!blob->first.starts_with(prefix)) continue;
    found.push_back({{"name", blob->first}, {"size", blob->second.size()}});
    if (found.size() == 100 && std::next(blob) != blobs.end()) {
      next = blob->first;
      break;
    }
  }
  return boost::json::serialize(boost::json::object{{"blobs", found}, {"next", next}});
}

io::Reply FakeServer::answer(const io::Request& request) {
  const std::string& query = request.head.query;
  if (query.find("comp=list") != std::string::npos) return {.body = list(query)};
  const std::string name = percent_decode(request.head.path.substr(3)).value_or("?");
  if (request.head.method == "PUT") {
    if (query.find("comp=blocklist") != std::string::npos) {
      blobs[name] = std::exchange(blocks_[name], {});
    } else {
      (query.find("comp=block") != std::string::npos ? blocks_[name] : blobs[name]) += request.body;
    }
    return {.status = 201};
  }
  const auto found = blobs.find(name);
  if (found == blobs.end()) return {.status = 404, .body = "no such blob"};
  return {.content_type = "application/octet-stream", .body = found->second};
}

}  // namespace berth::node
