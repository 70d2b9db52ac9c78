// SPDX-License-Identifier: Apache-2.0
#include "server/door/throttle.h"

#include <algorithm>

namespace berth::server {
namespace {

constexpr std::size_t kMostPeers = 1024;

}  // namespace

double Throttle::left_at(TimePoint now) const {
  const std::chrono::duration<double> passed = now - since_;
  return std::min(rate_.at_once, left_ + std::max(0.0, passed.count()) * rate_.per_second);
}

bool Throttle::pass(TimePoint now) {
  left_ = left_at(now);
  since_ = now;
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

bool PeerThrottle::pass(const std::string& peer, TimePoint now) {
  const std::string address = peer.substr(0, peer.rfind(':'));
  if (peers_.size() >= kMostPeers && !peers_.contains(address)) {
    std::erase_if(peers_, [now](const auto& entry) { return entry.second.is_full(now); });
    if (peers_.size() >= kMostPeers) peers_.clear();
  }
  return peers_.try_emplace(address, rate_).first->second.pass(now);
}

}  // namespace berth::server
