// SPDX-License-Identifier: Apache-2.0
// How long a node may work without hearing from its server. The agent sets the deadline, each shim
// keeps it: neither a hung nor a dead agent can make work outlast its lease.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "wire/node/message.h"

namespace berth::node::core {

/// As since_boot() counts; none: it does not lapse.
using Deadline = std::optional<Duration>;

inline constexpr const char* kLeaseLapsed =
    "the lease lapsed: the node had no word from its server";

/// When the lease lapses, from what was sent and what came back. Pure: time is an argument.
class Lease {
 public:
  /// Hello was sent; Welcome counts from here.
  void asked(Duration now) { asked_at_ = now; }
  void welcomed(std::optional<Duration> lease);
  wire::node::Heartbeat beat(Duration now);
  void renewed(const wire::node::LeaseRenewed& answer, Duration now);

  const Deadline& deadline() const { return deadline_; }
  bool has_lapsed(Duration now) const { return deadline_ && now >= *deadline_; }
  /// How often to send a Heartbeat; none: the server asked for none.
  std::optional<Duration> interval() const;

 private:
  std::optional<Duration> lease_{};
  Deadline deadline_{};
  Duration asked_at_{};
  std::int64_t last_beat_ = 0;
  std::map<std::int64_t, Duration> sent_{};  ///< Heartbeats without an answer.
};

}  // namespace berth::node::core
