// SPDX-License-Identifier: Apache-2.0
#include "io/http/connection.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::io {

Connection::Connection(ConnectionTable& table, std::string address)
    : table_(table),
      address_(std::move(address)),
      number_(++table.last_number_),
      standing_(address_.empty() ? Standing::Kept : Standing::Silent) {
  table_.connections_.insert(this);
  table_.enlist(*this);
}

Connection::~Connection() { table_.remove(*this); }

void Connection::set_deadline(Duration from_now) {
  // One more, because the current tick is already partly over.
  const auto ticks = (from_now + table_.tick_ - Duration(1)) / table_.tick_ + 1;
  deadline_ = table_.now_ + static_cast<std::uint64_t>(ticks);
}

void Connection::set_heard() {
  if (standing_ != Standing::Silent || is_leaving_) return;
  table_.strike(*this);
  standing_ = Standing::Heard;
  table_.enlist(*this);
}

void Connection::set_caller(const std::string& name) {
  const bool is_stranger = standing_ == Standing::Silent || standing_ == Standing::Heard;
  if (!is_stranger || is_leaving_) return;
  table_.strike(*this);
  caller_ = name;
  standing_ = Standing::Known;
  table_.enlist(*this);
}

/// Into the lists by which those are found that can go.
void ConnectionTable::enlist(Connection& connection) {
  using Standing = Connection::Standing;
  const std::pair entry(connection.number_, &connection);
  if (connection.standing_ == Standing::Silent) {
    strangers_.silent.insert(entry);
    of_address_[connection.address_].silent.insert(entry);
  } else if (connection.standing_ == Standing::Heard) {
    strangers_.heard.insert(entry);
    of_address_[connection.address_].heard.insert(entry);
  } else if (connection.standing_ == Standing::Known) {
    of_caller_[connection.caller_].insert(entry);
  }
}

void ConnectionTable::strike(Connection& connection) {
  const std::uint64_t number = connection.number_;
  strangers_.silent.erase(number);
  strangers_.heard.erase(number);
  if (const auto found = of_address_.find(connection.address_); found != of_address_.end()) {
    Strangers& there = found->second;
    there.silent.erase(number);
    there.heard.erase(number);
    if (there.silent.empty() && there.heard.empty()) of_address_.erase(found);
  }
  if (const auto found = of_caller_.find(connection.caller_); found != of_caller_.end()) {
    found->second.erase(number);
    if (found->second.empty()) of_caller_.erase(found);
  }
}

/// With an address: if that has all that it may.
Connection* ConnectionTable::oldest_stranger(const std::string& address) const {
  const auto found = of_address_.find(address);
  const Strangers& among = found == of_address_.end() ? strangers_ : found->second;
  if (!among.silent.empty()) return among.silent.begin()->second;
  return among.heard.empty() ? nullptr : among.heard.begin()->second;
}

/// All are known: whoever has the most can do without one that is idle.
Connection* ConnectionTable::least_missed() const {
  const auto most = std::ranges::max_element(of_caller_, {},
                                             [](const auto& entry) { return entry.second.size(); });
  if (most == of_caller_.end() || most->second.size() < 2) return nullptr;
  const auto idle =
      std::ranges::find_if(most->second, [](const auto& entry) { return entry.second->is_idle(); });
  return idle == most->second.end() ? nullptr : idle->second;
}

ConnectionTable::MadeRoom ConnectionTable::make_room(const std::string& address, const Room& room) {
  const auto of_address = of_address_.find(address);
  const bool has_all_of_its_own =
      of_address != of_address_.end() &&
      of_address->second.silent.size() + of_address->second.heard.size() >= room.of_strangers;
  const bool is_full = connections_.size() - leaving_ >= room.all;
  if (!has_all_of_its_own && !is_full) return {};
  Connection* going = oldest_stranger(has_all_of_its_own ? address : "");
  if (going == nullptr) going = least_missed();
  if (going == nullptr) return {.is_there = false};
  const MadeRoom made{.closed_from = going->address_};
  strike(*going);
  going->is_leaving_ = true;
  ++leaving_;
  going->cut();  // Its coroutine ends with the next turn of the loop, or has just now.
  return made;
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
  if (connection.is_leaving_) {
    --leaving_;
  } else {
    strike(connection);
  }
  connections_.erase(&connection);
  if (!connections_.empty()) return;
  if (auto callback = std::exchange(when_empty_, nullptr)) callback();
}

}  // namespace berth::io
