// SPDX-License-Identifier: Apache-2.0
#include "io/connection.h"

#include <utility>
#include <vector>

namespace berth::io {

Connection::Connection(ConnectionTable& table) : table_(table) { table_.connections_.insert(this); }

Connection::~Connection() { table_.remove(*this); }

void Connection::set_deadline(Duration from_now) {
  // One more, because the current tick is already partly over.
  const auto ticks = (from_now + table_.tick_ - Duration(1)) / table_.tick_ + 1;
  deadline_ = table_.now_ + static_cast<std::uint64_t>(ticks);
}

/// What is done to a connection may be its end, or another's.
template <typename Act>
void ConnectionTable::for_each(const Act& act) {
  const std::vector<Connection*> all(connections_.begin(), connections_.end());
  for (Connection* connection : all) {
    if (connections_.contains(connection)) act(*connection);
  }
}

void ConnectionTable::tick() {
  ++now_;
  for_each([this](Connection& connection) {
    if (connection.deadline_ > now_) return;
    connection.deadline_ = Connection::kNever;
    connection.expire();
  });
}

void ConnectionTable::finish_all_soon() {
  for_each([](Connection& connection) { connection.finish_soon(); });
}

void ConnectionTable::cut_all() {
  for_each([](Connection& connection) { connection.cut(); });
}

void ConnectionTable::recheck() {
  for_each([](Connection& connection) {
    if (connection.guard_ && !connection.guard_()) connection.cut();
  });
}

void ConnectionTable::remove(Connection& connection) {
  connections_.erase(&connection);
  if (!connections_.empty()) return;
  if (auto callback = std::exchange(when_empty_, nullptr)) callback();
}

}  // namespace berth::io
