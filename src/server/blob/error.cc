// SPDX-License-Identifier: Apache-2.0
#include "server/blob/error.h"

#include "base/check.h"
#include "wire/arm/error.h"
#include "wire/blob/listing.h"

namespace berth::server {
namespace {

struct Fault {
  std::string_view name;
  int status;
  Code code;
};

constexpr Fault kFaults[] = {
    {"AuthenticationFailed", 403, Code::Forbidden},
    {"AuthorizationPermissionMismatch", 403, Code::Forbidden},
    {"BlobAlreadyExists", 409, Code::Conflict},
    {"BlobImmutableDueToPolicy", 409, Code::Conflict},
    {"BlobNotFound", 404, Code::NotFound},
    {"ConditionNotMet", 412, Code::Conflict},
    {"ContainerAlreadyExists", 409, Code::Conflict},
    {"ContainerNotFound", 404, Code::NotFound},
    {"InvalidBlockId", 400, Code::InvalidArgument},
    {"InvalidBlockList", 400, Code::InvalidArgument},
    {"InvalidHeaderValue", 400, Code::InvalidArgument},
    {"InvalidMd5", 400, Code::InvalidArgument},
    {"InvalidMetadata", 400, Code::InvalidArgument},
    {"InvalidQueryParameterValue", 400, Code::InvalidArgument},
    {"InvalidRange", 416, Code::InvalidArgument},
    {"InvalidResourceName", 400, Code::InvalidArgument},
    {"InvalidXmlDocument", 400, Code::InvalidArgument},
    {"Md5Mismatch", 400, Code::InvalidArgument},
    {"NotImplemented", 501, Code::NotSupported},
};

/// For errors from elsewhere: a full disk, a broken row, a lost object.
std::string_view name_of(Code code) {
  switch (code) {
    case Code::InvalidArgument: return "InvalidInput";
    case Code::Unauthenticated: return "NoAuthenticationInformation";
    case Code::Forbidden: return "AuthenticationFailed";
    case Code::NotFound: return "ResourceNotFound";
    case Code::Conflict: return "ResourceAlreadyExists";
    case Code::TooLarge: return "RequestBodyTooLarge";
    case Code::NotSupported: return "NotImplemented";
    case Code::Unavailable: return "ServerBusy";
    case Code::OutOfSpace: return "InsufficientStorage";
    case Code::Internal: return "InternalError";
  }
  return "InternalError";
}

const Fault* find_fault(std::string_view name) {
  for (const Fault& fault : kFaults) {
    if (fault.name == name) return &fault;
  }
  return nullptr;
}

}  // namespace

tl::unexpected<Error> fail_blob(std::string_view storage_code, std::string message) {
  const Fault* fault = find_fault(storage_code);
  CHECK(fault != nullptr, "every storage error is in the table");
  return fail(fault->code, std::move(message), std::string(storage_code));
}

io::Reply blob_error_reply(const Error& error) {
  const Fault* fault = find_fault(error.target);
  const std::string name(fault != nullptr ? fault->name : name_of(error.code));
  io::Reply reply{.status = fault != nullptr ? fault->status : wire::arm::http_status(error.code),
                  .headers = {{"x-ms-error-code", name}},
                  .content_type = "application/xml",
                  .body = wire::blob::blob_error_xml(name, error.message)};
  if (error.code == Code::Unavailable || error.code == Code::OutOfSpace) {
    reply.headers.emplace_back("Retry-After", "1");
  }
  return reply;
}

}  // namespace berth::server
