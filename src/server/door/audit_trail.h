// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "io/message/http.h"
#include "server/door/call.h"
#include "server/door/route.h"
#include "server/door/throttle.h"

namespace berth::server {

/// A request, as far as the audit log wants to know it.
struct Seen {
  const io::RequestHead& head;
  const Route* route = nullptr;  ///< Null: there is none at that address.
  const Principal& principal;
  int status = 0;
};

/// Writes the audit log: every change, and who was turned away. Loop thread only.
class AuditTrail {
 public:
  explicit AuditTrail(Services& services) : services_(services) {}

  /// Whether requests of this kind are recorded when they have gone well: those that change
  /// something or give a secret away. What an attempt delivers is its job's, whose submit is here.
  static bool is_recorded(const Route& route, const Principal& principal);

  /// Joins the turn that is open: the line is on disk with what it tells of, or neither is.
  void changed(const Seen& seen);
  /// Strangers, and people without the right. A flood of them is counted and not kept.
  void refused(const Seen& seen);

 private:
  struct Counted {
    Throttle throttle;
    std::int64_t unrecorded = 0;
  };

  Services& services_;
  Counted strangers_{Throttle({.at_once = 100, .per_second = 0.1})};
  Counted known_{Throttle({.at_once = 1000, .per_second = 1})};
};

}  // namespace berth::server
