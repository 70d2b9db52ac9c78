// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/clock.h"

namespace berth::server {

/// How many of something may happen: so many at once, and so many a second from then on.
struct Rate {
  double at_once = 1;
  double per_second = 1;
};

class Throttle {
 public:
  explicit Throttle(Rate rate) : rate_(rate), left_(rate.at_once) {}

  /// Takes one, if there is one left.
  bool pass(TimePoint now);
  bool is_full(TimePoint now) const { return left_at(now) >= rate_.at_once; }

 private:
  double left_at(TimePoint now) const;

  Rate rate_;
  double left_;
  TimePoint since_{};
};

/// One for each address. Keeps only those that have been used lately, and never many.
class PeerThrottle {
 public:
  explicit PeerThrottle(Rate rate) : rate_(rate) {}

  /// `peer` is "address:port": the port does not count.
  bool pass(const std::string& peer, TimePoint now);
  std::size_t size() const { return peers_.size(); }

 private:
  Rate rate_;
  std::map<std::string, Throttle> peers_;
};

}  // namespace berth::server
