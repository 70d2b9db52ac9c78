// SPDX-License-Identifier: Apache-2.0
#include "node/core/lease.h"

#include <algorithm>

namespace berth::node::core {

void Lease::welcomed(std::optional<Duration> lease) {
  lease_ = lease;
  sent_.clear();  // Of a connection before this one.
  // Whatever was promised before: this server counts from here, and so must we.
  deadline_ = lease ? Deadline(asked_at_ + *lease) : std::nullopt;
}

wire::node::Heartbeat Lease::beat(Duration now) {
  sent_[++last_beat_] = now;
  return {last_beat_};
}

void Lease::renewed(const wire::node::LeaseRenewed& answer, Duration now) {
  Duration from = now;
  if (answer.heartbeat != 0) {
    const auto asked = sent_.find(answer.heartbeat);
    if (asked == sent_.end()) return;
    from = asked->second;
    sent_.erase(sent_.begin(), std::next(asked));
  }
  if (!answer.lease) {
    deadline_.reset();
  } else {
    deadline_ = std::max(deadline_.value_or(Duration(0)), from + *answer.lease);
  }
}

std::optional<Duration> Lease::interval() const {
  if (!lease_) return std::nullopt;
  return std::max(*lease_ / 3, Duration(1));
}

}  // namespace berth::node::core
