// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/error.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/record.h"
#include "base/text.h"

namespace berth::wire::arm {
namespace {

namespace json = boost::json;

struct Mapping {
  Code code;
  int status;
  std::string_view arm;
};

constexpr std::array<Mapping, 10> kMappings = {{
    {Code::InvalidArgument, 400, "UserError"},
    {Code::Unauthenticated, 401, "InvalidAuthenticationToken"},
    {Code::Forbidden, 403, "AuthorizationFailed"},
    {Code::NotFound, 404, "ResourceNotFound"},
    {Code::Conflict, 409, "Conflict"},
    {Code::TooLarge, 413, "RequestEntityTooLarge"},
    {Code::NotSupported, 501, "NotSupported"},
    {Code::Unavailable, 503, "ServiceUnavailable"},
    {Code::OutOfSpace, 507, "InsufficientStorage"},
    {Code::Internal, 500, "InternalServerError"},
}};

const Mapping& mapping_of(Code code) {
  for (const Mapping& mapping : kMappings) {
    if (mapping.code == code) return mapping;
  }
  CHECK(false, "every code has a status and a name");
}

/// What a status means when the body does not say, for answers of servers that are not ours.
Code code_of_status(int status) {
  for (const Mapping& mapping : kMappings) {
    if (mapping.status == status) return mapping.code;
  }
  if (status == 408 || status == 429 || status == 502 || status == 504) return Code::Unavailable;
  if (status == 412) return Code::Conflict;
  return status >= 400 && status < 500 ? Code::InvalidArgument : Code::Internal;
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<json::object> error_object(std::string_view body) {
  const Result<json::value> parsed = record::parse(body);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const json::object& root = parsed->get_object();
  const json::value* error = root.if_contains("error");
  if (error != nullptr && error->is_object()) return error->get_object();
  if (root.contains("message")) return root;  // Some services leave the envelope out.
  return std::nullopt;
}

}  // namespace

int http_status(Code code) { return mapping_of(code).status; }

std::string_view arm_code(Code code) { return mapping_of(code).arm; }

std::string error_body(const Error& error) {
  json::object inner = {{"code", arm_code(error.code)}, {"message", to_valid_utf8(error.message)}};
  if (!error.target.empty()) inner["target"] = to_valid_utf8(error.target);
  return json::serialize(json::object{{"error", std::move(inner)}});
}

Error error_from(int status, std::string_view body) {
  Error error{.code = code_of_status(status)};
  if (const auto object = error_object(body)) {
    error.message = text_of(*object, "message");
    error.target = text_of(*object, "target");
  }
  if (error.message.empty()) error.message = fmt::format("the server answered {}", status);
  return error;
}

}  // namespace berth::wire::arm
