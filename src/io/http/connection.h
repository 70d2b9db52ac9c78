// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>

#include "base/clock.h"

namespace berth::io {

class ConnectionTable;

/// One accepted connection as the server sees it: something with a deadline that can be ended. Any
/// of its calls may be its end.
class Connection {
 public:
  /// One that is never ended to make room for another.
  explicit Connection(ConnectionTable& table) : Connection(table, {}) {}
  /// One of a stranger, from that address.
  Connection(ConnectionTable& table, std::string address);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void expire() = 0;       ///< The deadline has passed.
  virtual void finish_soon() = 0;  ///< The server drains: end now if idle, else when answered.
  virtual void cut() = 0;          ///< End now.
  virtual bool is_idle() const { return false; }  ///< Between requests.

  void set_deadline(Duration from_now);
  void clear_deadline() { deadline_ = kNever; }
  /// Says whether the connection may go on with what it does; none: it may.
  void set_guard(std::function<bool()> guard) { guard_ = std::move(guard); }

  const std::string& address() const { return address_; }
  /// It has sent the head of a request.
  void set_heard();
  /// It has shown who it is. What it was the first time counts.
  void set_caller(const std::string& name);

 protected:
  ~Connection();

 private:
  friend class ConnectionTable;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  enum class Standing { Silent, Heard, Known, Kept };

  ConnectionTable& table_;
  const std::string address_;
  const std::uint64_t number_;  ///< The oldest has the lowest.
  Standing standing_;
  bool is_leaving_ = false;  ///< Ended to make room; its socket is closed.
  std::string caller_{};
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

  struct Room {
    std::size_t all = 0;           ///< Connections there may be.
    std::size_t of_strangers = 0;  ///< Of one address that have not shown who they are.
  };
  struct MadeRoom {
    bool is_there = true;       ///< One more may come.
    std::string closed_from{};  ///< The address of the one that had to go; empty: none had to.
  };
  /// Before one more from this address is taken in. Who has shown who it is never goes for a
  /// stranger: the oldest that has sent nothing goes first, then the oldest stranger, and when all
  /// are known, an idle one of the caller that has the most.
  MadeRoom make_room(const std::string& address, const Room& room);

 private:
  friend class Connection;
  using ByAge = std::map<std::uint64_t, Connection*>;

  void remove(Connection& connection);
  void enlist(Connection& connection);
  void strike(Connection& connection);
  Connection* oldest_stranger(const std::string& address) const;
  Connection* least_missed() const;
  template <typename Act>
  void for_each(const Act& act);

  Duration tick_;
  std::uint64_t now_ = 0;
  std::uint64_t last_number_ = 0;
  std::size_t leaving_ = 0;
  std::unordered_set<Connection*> connections_{};
  struct Strangers {
    ByAge silent{};
    ByAge heard{};
  };
  Strangers strangers_{};
  std::map<std::string, Strangers> of_address_{};
  std::map<std::string, ByAge> of_caller_{};
  std::function<void()> when_empty_{};
};

}  // namespace berth::io
