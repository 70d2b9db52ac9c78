// SPDX-License-Identifier: Apache-2.0
#include "node/channel.h"

#include <fmt/format.h>

#include "base/back_off.h"
#include "base/log.h"
#include "base/random.h"
#include "base/record.h"
#include "base/text.h"
#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::node {

/// What a node reads of <home>/server.json.
struct ServerFacts {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};
BOOST_DESCRIBE_STRUCT(ServerFacts, (), (pid, start_ticks, address, port))

namespace {

constexpr BackOff kBackOff{.first = Duration(50), .longest = std::chrono::seconds(2)};
constexpr Duration kStable = std::chrono::seconds(5);  // A server in trouble hangs up at once.

/// Between half and all of it, so that many nodes do not dial in step.
Duration jittered(Duration pause) {
  const auto half = static_cast<std::size_t>(pause.count() / 2);
  return Duration(static_cast<Duration::rep>(half + random_below(half + 1)));
}

}  // namespace

Channel::Channel(io::Loop& loop, const Clock& clock, const AgentOptions& options,
                 Callbacks callbacks)
    : loop_(loop), clock_(clock), options_(options), callbacks_(std::move(callbacks)) {}

void Channel::start() { dial(); }

Result<io::WebSocketAddress> Channel::find_server() const {
  const std::string path =
      fmt::format("/berth/v1/nodes/{}/channel", percent_encode(options_.id.text));
  if (options_.remote) {
    const RemoteServer& remote = *options_.remote;
    auto tls = TRY(io::ClientTls::make(remote.authority));
    return io::WebSocketAddress{.host = remote.address.host,
                                .port = remote.address.port,
                                .path = path,
                                .bearer_token = remote.token,
                                .tls = std::move(tls)};
  }
  const std::string text = TRY(io::read_file(options_.home + "/server.json", 64 * 1024));
  const ServerFacts server = TRY(record::decode_text<ServerFacts>(text));
  // A port that a dead server left behind may by now be a stranger's, who must not get our token.
  if (server.start_ticks != 0 && !io::is_alive({server.pid, server.start_ticks})) {
    return fail(Code::Unavailable, "the server is not running");
  }
  const std::string token = TRY(io::read_file(options_.token_file, 4096));
  return io::WebSocketAddress{.host = server.address,
                              .port = server.port,
                              .path = path,
                              .bearer_token = std::string(trim(token))};
}

void Channel::dial() {
  const Result<io::WebSocketAddress> address = find_server();
  if (!address) return dial_later(address.error().message);
  io::connect_websocket(loop_, *address, [this](Result<std::shared_ptr<io::WebSocket>> dialled) {
    if (!dialled) return dial_later(dialled.error().message);
    opened(std::move(*dialled));
  });
}

void Channel::dial_later(std::string_view why) {
  if (why != last_trouble_) log::info("no server: {}", why);
  last_trouble_ = why;
  loop_.after(jittered(kBackOff.pause_after(++failures_)), [this] { dial(); });
}

void Channel::opened(std::shared_ptr<io::WebSocket> socket) {
  log::info("connected to the server");
  socket_ = std::move(socket);
  opened_at_ = clock_.now().mono;
  last_trouble_.clear();
  socket_->start(
      {.on_message = [this](const std::string& data, bool binary) { received(data, binary); },
       .on_close =
           [this, socket = socket_.get()](const std::string& reason) { closed(socket, reason); }});
  callbacks_.on_open();
}

void Channel::received(const std::string& data, bool binary) {
  const auto message = wire::node::decode_to_node(data, binary);
  if (!message) {
    log::warning("the server said something broken: {}", message.error().message);
  } else if (*message) {
    callbacks_.on_message(**message);
  }
}

void Channel::closed(const io::WebSocket* socket, std::string_view reason) {
  if (socket != socket_.get()) return;
  socket_.reset();
  if (clock_.now().mono - opened_at_ >= kStable) failures_ = 0;
  callbacks_.on_close();
  dial_later(reason);
}

void Channel::send(const wire::node::ToServer& message) {
  if (!socket_) return;
  wire::node::Frame frame = wire::node::encode(message);
  socket_->send(std::move(frame.data), frame.binary);
}

std::size_t Channel::queued_bytes() const { return socket_ ? socket_->queued_bytes() : 0; }

void Channel::redial() {
  if (socket_) socket_->close();
}

}  // namespace berth::node
