// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>

#include "base/clock.h"

namespace berth::io {

class ConnectionTable;

/// One accepted connection as the server sees it: something with a deadline that can be ended. Any
/// of its calls may be its end.
class Connection {
 public:
  explicit Connection(ConnectionTable& table);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void expire() = 0;       ///< The deadline has passed.
  virtual void finish_soon() = 0;  ///< The server drains: end now if idle, else when answered.
  virtual void cut() = 0;          ///< End now.

  void set_deadline(Duration from_now);
  void clear_deadline() { deadline_ = kNever; }
  /// Says whether the connection may go on with what it does; none: it may.
  void set_guard(std::function<bool()> guard) { guard_ = std::move(guard); }

 protected:
  ~Connection();

 private:
  friend class ConnectionTable;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  ConnectionTable& table_;
  std::uint64_t deadline_ = kNever;
  std::function<bool()> guard_{};
};

/// The live connections of a server. Deadlines are counted in ticks of one shared timer, so that
/// setting one is storing a number: a request sets several.
class ConnectionTable {
 public:
  explicit ConnectionTable(Duration tick) : tick_(tick) {}

  std::size_t size() const { return connections_.size(); }
  Duration tick_length() const { return tick_; }
  void tick();  ///< Called every tick_length() while there are connections.
  void finish_all_soon();
  void cut_all();
  void recheck();  ///< Cuts those whose guard says no.
  /// Called, once, when the last connection has gone.
  void when_empty(std::function<void()> callback) { when_empty_ = std::move(callback); }

 private:
  friend class Connection;
  void remove(Connection& connection);
  template <typename Act>
  void for_each(const Act& act);

  Duration tick_;
  std::uint64_t now_ = 0;
  std::unordered_set<Connection*> connections_{};
  std::function<void()> when_empty_{};
};

}  // namespace berth::io
