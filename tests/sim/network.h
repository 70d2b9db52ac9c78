// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/http/websocket.h"
#include "model/node.h"
#include "sim/stage.h"

namespace berth::sim {

/// One WebSocket between a node and the server, as TCP makes it: bytes arrive in order or not at
/// all, each side learns of a break at a time of its own, and what one side has sent may still
/// arrive when it has long given up.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum Side { Node, Server };

  Connection(Stage& stage, model::NodeId node, const std::map<model::NodeId, Duration>& cut_until)
      : stage_(stage), node_(std::move(node)), cut_until_(cut_until) {}

  /// The socket of one side. Callbacks come from start() on.
  std::shared_ptr<io::WebSocket> socket(Side side);
  const model::NodeId& node() const { return node_; }
  bool is_over() const { return ends_[Node].is_closed && ends_[Server].is_closed; }

  /// The path between them is gone; both learn of it, sooner or later.
  void sever();
  /// The process on that side is gone: it hears nothing more. The other one learns of it at once,
  /// or, when its whole machine is gone, when its pings stay without an answer.
  void die(Side side, bool with_machine);
  void lose_what_is_sent_to(Side side) { ends_[side].inbox.clear(); }

 private:
  class Socket;
  struct Message {
    std::string data{};
    bool binary = false;
    Duration arrives{};
  };
  struct End {
    io::WebSocket::Callbacks callbacks{};
    bool is_started = false;
    bool is_closing = false;  ///< Sends no more.
    bool is_closed = false;   ///< Hears no more.
    bool is_dead = false;
    std::deque<Message> inbox{};
    bool is_pumping = false;
  };

  static Side other(Side side) { return side == Node ? Server : Node; }
  void send(Side from, std::string data, bool binary);
  void pump(Side to);
  void deliver(Side to);
  void close(Side side);
  void notice(Side side, Duration delay, const char* reason);
  Duration latency();

  Stage& stage_;
  model::NodeId node_;
  const std::map<model::NodeId, Duration>& cut_until_;
  End ends_[2];
  bool is_severed_ = false;
};

/// Who can reach whom.
class Network {
 public:
  explicit Network(Stage& stage) : stage_(stage) {}

  using Accept = std::function<void(const model::NodeId&, std::shared_ptr<io::WebSocket>)>;
  /// A server listens from now on.
  void listen(Accept accept) { accept_ = std::move(accept); }
  /// The server's process is gone.
  void server_dies();
  /// What it had sent and has not arrived yet never does.
  void lose_everything_sent();

  using Dialled = std::function<void(std::shared_ptr<Connection>)>;
  /// nullptr: there is no server to be reached.
  void dial(const model::NodeId& node, Dialled done);

  void cut(const model::NodeId& node, Duration time) {
    cut_until_[node] = stage_.time.now() + time;
  }
  void heal() { cut_until_.clear(); }
  /// One of the connections that are there breaks.
  void break_one();

 private:
  bool is_cut(const model::NodeId& node) const;
  void forget_old();

  Stage& stage_;
  Accept accept_{};
  std::map<model::NodeId, Duration> cut_until_{};
  std::vector<std::shared_ptr<Connection>> connections_{};
};

}  // namespace berth::sim
