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

void ConnectionTable::tick() {
  ++now_;
  for (Connection* connection : connections_) {
    if (connection->deadline_ > now_) continue;
    connection->deadline_ = Connection::kNever;
    connection->expire();
  }
}

void ConnectionTable::finish_all_soon() {
  for (Connection* connection : connections_) connection->finish_soon();
}

void ConnectionTable::cut_all() {
  for (Connection* connection : connections_) connection->cut();
}

// A connection that is cut while it waits for a handler may be gone at once: so first look, then
// cut.
void ConnectionTable::recheck() {
  std::vector<Connection*> refused;
  for (Connection* connection : connections_) {
    if (connection->guard_ && !connection->guard_()) refused.push_back(connection);
  }
  for (Connection* connection : refused) {
    if (connections_.contains(connection)) connection->cut();
  }
}

void ConnectionTable::remove(Connection& connection) {
  connections_.erase(&connection);
  if (!connections_.empty()) return;
  if (auto callback = std::exchange(when_empty_, nullptr)) callback();
}

}  // namespace berth::io
