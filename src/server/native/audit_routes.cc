// SPDX-License-Identifier: Apache-2.0
// /berth/v1: the audit log, as it is stored, for whoever wants to check it.
#include <charconv>

#include "server/door/paging.h"
#include "server/door/route.h"

namespace berth::server {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostLines = 1000;

/// Lines behind `after`, oldest first, each as its very text and hash; and how far the log has
/// come.
Result<io::Reply> list(Call& call) {
  const std::string text = call.query_value("after");
  store::AuditQuery query{.limit = kMostLines};
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, query.after);
  if (!text.empty() && (failed != std::errc() || stopped != end)) {
    return fail(Code::InvalidArgument, "'after' is not a number", "after");
  }
  json::array lines;
  for (model::AuditLine& line : TRY(call.services.store.audit(query))) {
    lines.push_back({{"number", line.number},
                     {"record", std::move(line.text)},
                     {"hash", std::move(line.hash)}});
  }
  const store::AuditHead head = TRY(call.services.store.audit_head());
  return json_reply(
      200, {{"value", std::move(lines)}, {"head", {{"number", head.number}, {"hash", head.hash}}}});
}

constexpr Permission kRead = {Permission::Kind::Action, "Berth/audit/read"};

constexpr Route kRoutes[] = {{"GET", "/berth/v1/audit", kRead, BodyKind::None, list}};

}  // namespace

std::span<const Route> audit_routes() { return kRoutes; }

}  // namespace berth::server
