// SPDX-License-Identifier: Apache-2.0
#include "server/door/audit_trail.h"

#include <utility>

#include "base/text.h"
#include "server/door/run_actions.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

constexpr std::size_t kLongestTarget = 1024;

bool only_reads(std::string_view method, std::string_view action) {
  return method == "GET" || method == "HEAD" || action.ends_with("/read") ||
         action.ends_with("/listNodes/action");
}

/// Without the query: it may hold a signature.
model::AuditRecord record_of(const Seen& seen, WallTime now) {
  const std::string& path = seen.head.path;
  return {.at = now,
          .who = seen.principal.name.empty() ? "nobody" : seen.principal.name,
          .token = seen.principal.token.text,
          .from = seen.head.peer,
          .method = seen.head.method,
          .action = seen.route == nullptr ? "" : seen.route->permission.action,
          .target = to_valid_utf8(path.substr(0, kLongestTarget)),
          .status = seen.status};
}

}  // namespace

bool AuditTrail::is_recorded(const Route& route, const Principal& principal) {
  const bool is_delivery =
      principal.kind == Principal::Kind::Signature && !principal.job.name.empty();
  // What is logged to runs is its own record, and there is a great deal of it.
  const bool is_logging = std::string_view(route.permission.action) == kWriteRuns;
  return !is_delivery && !is_logging && !only_reads(route.method, route.permission.action);
}

void AuditTrail::changed(const Seen& seen) {
  services_.ledger.write({store::AddAudit{record_of(seen, services_.clock.now().wall)}});
}

void AuditTrail::refused(const Seen& seen) {
  const bool is_stranger = seen.principal.kind == Principal::Kind::Nobody;
  Counted& kind = is_stranger ? strangers_ : known_;
  const Now now = services_.clock.now();
  if (!kind.throttle.pass(now.mono)) {
    ++kind.unrecorded;
    return;
  }
  model::AuditRecord record = record_of(seen, now.wall);
  record.unrecorded = std::exchange(kind.unrecorded, 0);
  services_.ledger.write({store::AddAudit{std::move(record)}});
}

}  // namespace berth::server
