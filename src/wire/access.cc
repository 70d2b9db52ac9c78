// SPDX-License-Identifier: Apache-2.0
#include "wire/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "wire/arm/field.h"

namespace berth::wire {
namespace {

namespace json = boost::json;
using arm::Fields;

Result<Fields> fields_of(const json::value& body, std::initializer_list<std::string_view> known) {
  Fields fields = TRY(Fields::of(body, ""));
  for (const auto& [key, value] : fields.object()) {
    const std::string_view name = key;
    if (std::ranges::find(known, name) == known.end()) {
      return fail(Code::InvalidArgument, fmt::format("'{}' is not a key of this", name),
                  std::string(name));
    }
  }
  return fields;
}

}  // namespace

json::object to_json(const model::User& user) {
  return {{"id", user.id.text},
          {"name", user.name},
          {"display_name", user.display_name},
          {"created_by", user.created_by},
          {"created_at", to_iso8601(user.created_at)}};
}

json::object to_json(const model::Token& token, WallTime now) {
  return {{"id", token.id.text},
          {"name", token.name},
          {"created_by", token.created_by},
          {"created_at", to_iso8601(token.created_at)},
          {"expires_at", to_iso8601(token.expires_at)},
          {"expired", token.expires_at <= now}};
}

Result<std::string> display_name_from_json(const json::value& body) {
  const Fields fields = TRY(fields_of(body, {"display_name"}));
  return fields.text("display_name");
}

Result<TokenRequest> token_from_json(const json::value& body) {
  const Fields fields =
      TRY(fields_of(body, {"name", "expires_at", "workspace", "resource_group", "subscription"}));
  TokenRequest request;
  request.name = TRY(fields.text("name"));
  request.workspace = TRY(fields.text("workspace"));
  for (const auto& [key, place] : {std::pair("resource_group", &request.resource_group),
                                   std::pair("subscription", &request.subscription)}) {
    std::string text = TRY(fields.text(key));
    if (!text.empty()) *place = std::move(text);
  }
  const std::string expiry = TRY(fields.text("expires_at"));
  if (expiry.empty()) return request;
  const Result<WallTime> time = wall_time_from_iso8601(expiry);
  if (!time) return fields.wrong("expires_at", "must be a time such as 2026-11-16T00:45:12Z");
  request.expires_at = *time;
  return request;
}

}  // namespace berth::wire
