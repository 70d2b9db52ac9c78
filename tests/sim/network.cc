// SPDX-License-Identifier: Apache-2.0
#include "sim/network.h"

#include <algorithm>

namespace berth::sim {

using namespace std::chrono_literals;

namespace {

constexpr Duration kSilence = 30s;  // Then a peer that does not answer pings is given up.

}  // namespace

class Connection::Socket final : public io::WebSocket {
 public:
  Socket(std::shared_ptr<Connection> connection, Side side)
      : connection_(std::move(connection)), side_(side) {}

  void start(Callbacks callbacks) override {
    End& end = connection_->ends_[side_];
    end.callbacks = std::move(callbacks);
    end.is_started = true;
    if (end.is_closed && !end.is_dead) {  // It broke before anybody listened.
      end.is_closed = false;
      connection_->notice(side_, 1ms, "the connection broke");
    }
    connection_->pump(side_);
  }
  void send(std::string message, bool binary) override {
    connection_->send(side_, std::move(message), binary);
  }
  std::size_t queued_bytes() const override { return 0; }
  void close() override { connection_->close(side_); }

 private:
  std::shared_ptr<Connection> connection_;
  Side side_;
};

std::shared_ptr<io::WebSocket> Connection::socket(Side side) {
  return std::make_shared<Socket>(shared_from_this(), side);
}

Duration Connection::latency() {
  const bool is_late = stage_.faults.connections_break && stage_.random.chance(3);
  return is_late ? stage_.random.between(50ms, 3s) : stage_.random.between(1ms, 4ms);
}

void Connection::send(Side from, std::string data, bool binary) {
  if (ends_[from].is_closing || ends_[from].is_closed || is_severed_) return;
  End& to = ends_[other(from)];
  Duration arrives = stage_.time.now() + latency();
  if (!to.inbox.empty()) arrives = std::max(arrives, to.inbox.back().arrives);
  to.inbox.push_back({std::move(data), binary, arrives});
  pump(other(from));
}

/// Sees to it that the first message arrives when its time has come and the path is there.
void Connection::pump(Side to) {
  End& end = ends_[to];
  if (end.is_pumping || !end.is_started || end.inbox.empty() || end.is_closed) return;
  end.is_pumping = true;
  Duration arrives = end.inbox.front().arrives;
  if (const auto cut = cut_until_.find(node_); cut != cut_until_.end()) {
    arrives = std::max(arrives, cut->second);
  }
  stage_.time.at(arrives, [self = shared_from_this(), to] {
    self->ends_[to].is_pumping = false;
    self->deliver(to);
  });
}

void Connection::deliver(Side to) {
  End& end = ends_[to];
  if (end.is_closed || end.inbox.empty()) return;
  const auto cut = cut_until_.find(node_);
  const bool is_cut = cut != cut_until_.end() && cut->second > stage_.time.now();
  if (!is_cut) {
    const Message message = std::move(end.inbox.front());
    end.inbox.pop_front();
    const auto callback = end.callbacks.on_message;  // Which may close, and so drop, itself.
    callback(message.data, message.binary);
  }
  pump(to);
}

void Connection::notice(Side side, Duration delay, const char* reason) {
  if (ends_[side].is_closed) return;
  stage_.time.after(delay, [self = shared_from_this(), side, reason] {
    End& end = self->ends_[side];
    if (std::exchange(end.is_closed, true)) return;
    end.is_closing = true;
    end.inbox.clear();
    const auto callback = std::exchange(end.callbacks, {}).on_close;
    if (callback && !end.is_dead) callback(reason);
  });
}

/// What was sent before still arrives, in front of the news that nothing more will.
void Connection::close(Side side) {
  if (std::exchange(ends_[side].is_closing, true)) return;
  Duration arrives = latency();
  const End& peer = ends_[other(side)];
  if (!peer.inbox.empty()) {
    arrives = std::max(arrives, peer.inbox.back().arrives - stage_.time.now());
  }
  const auto cut = cut_until_.find(node_);
  if (cut != cut_until_.end() && cut->second > stage_.time.now()) {
    arrives = std::max(arrives, cut->second - stage_.time.now() + 1ms);
  }
  notice(other(side), std::min(arrives, kSilence), "the peer closed it");
  notice(side, std::min(arrives + 1ms, kSilence), "closed");
}

void Connection::sever() {
  if (std::exchange(is_severed_, true)) return;
  for (const Side side : {Node, Server}) {
    const bool at_once = stage_.random.chance(50);
    if (at_once || stage_.random.chance(50)) ends_[side].inbox.clear();
    notice(side, at_once ? 1ms : stage_.random.between(1ms, kSilence), "the connection broke");
  }
}

void Connection::die(Side side, bool with_machine) {
  End& end = ends_[side];
  if (std::exchange(end.is_dead, true)) return;
  end.is_closed = end.is_closing = true;
  end.inbox.clear();
  end.callbacks = {};
  End& peer = ends_[other(side)];
  if (with_machine && stage_.random.chance(50)) peer.inbox.clear();
  Duration delay = with_machine ? stage_.random.between(1ms, kSilence) : latency();
  if (!peer.inbox.empty()) {
    delay = std::max(delay, peer.inbox.back().arrives - stage_.time.now() + 1ms);
  }
  notice(other(side), delay, "the peer is gone");
}

// ---- Network
// -------------------------------------------------------------------------------------

void Network::server_dies() {
  accept_ = {};
  for (const auto& connection : connections_) connection->die(Connection::Server, false);
}

void Network::lose_everything_sent() {
  for (const auto& connection : connections_) connection->lose_what_is_sent_to(Connection::Node);
}

bool Network::is_cut(const model::NodeId& node) const {
  const auto cut = cut_until_.find(node);
  return cut != cut_until_.end() && cut->second > stage_.time.now();
}

void Network::dial(const model::NodeId& node, Dialled done) {
  stage_.time.after(stage_.random.between(1ms, 5ms), [this, node, done = std::move(done)] {
    forget_old();
    if (!accept_ || is_cut(node)) return done(nullptr);
    auto connection = std::make_shared<Connection>(stage_, node, cut_until_);
    connections_.push_back(connection);
    accept_(node, connection->socket(Connection::Server));
    stage_.time.after(stage_.random.between(1ms, 3ms), [done, connection] { done(connection); });
  });
}

void Network::forget_old() {
  std::erase_if(connections_, [](const auto& connection) { return connection->is_over(); });
}

void Network::break_one() {
  forget_old();
  if (connections_.empty()) return;
  const auto& chosen = connections_[static_cast<std::size_t>(
      stage_.random.below(static_cast<int>(connections_.size())))];
  stage_.note("a connection breaks", chosen->node().text);
  chosen->sever();
}

}  // namespace berth::sim
