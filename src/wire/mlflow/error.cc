// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/error.h"

#include <array>
#include <boost/json.hpp>

#include "base/check.h"
#include "base/text.h"

namespace berth::wire::mlflow {
namespace {

struct Mapping {
  Code code;
  int status;
  std::string_view name;
};

constexpr std::array<Mapping, 10> kMappings = {{
    {Code::InvalidArgument, 400, "INVALID_PARAMETER_VALUE"},
    {Code::Unauthenticated, 401, "UNAUTHENTICATED"},
    {Code::Forbidden, 403, "PERMISSION_DENIED"},
    {Code::NotFound, 404, "RESOURCE_DOES_NOT_EXIST"},
    {Code::Conflict, 400, "RESOURCE_ALREADY_EXISTS"},
    {Code::TooLarge, 413, "BAD_REQUEST"},
    {Code::NotSupported, 501, "NOT_IMPLEMENTED"},
    {Code::Unavailable, 503, "TEMPORARILY_UNAVAILABLE"},
    {Code::OutOfSpace, 507, "RESOURCE_LIMIT_EXCEEDED"},
    {Code::Internal, 500, "INTERNAL_ERROR"},
}};

const Mapping& mapping_of(Code code) {
  for (const Mapping& mapping : kMappings) {
    if (mapping.code == code) return mapping;
  }
  CHECK(false, "every code has a status and a name");
}

}  // namespace

std::string_view error_code(Code code) { return mapping_of(code).name; }

int http_status(Code code) { return mapping_of(code).status; }

std::string error_body(std::string_view code, std::string_view message) {
  return boost::json::serialize(
      boost::json::object{{"error_code", code}, {"message", to_valid_utf8(message)}});
}

std::string error_body(const Error& error) {
  return error_body(error_code(error.code), error.message);
}

}  // namespace berth::wire::mlflow
