// SPDX-License-Identifier: Apache-2.0
#include "server/door/error_reply.h"

#include "base/text.h"
#include "wire/arm/error.h"
#include "wire/mlflow/error.h"

namespace berth::server {
namespace {

namespace mlflow = wire::mlflow;

bool is_of_mlflow(const io::RequestHead& head) {
  return starts_with_ignoring_case(head.path, "/mlflow/");
}

}  // namespace

io::Reply error_reply(const io::RequestHead& head, const Error& error) {
  io::Reply reply;
  if (is_of_mlflow(head)) {
    reply.status = mlflow::http_status(error.code);
    reply.body = mlflow::error_body(error);
  } else {
    reply.status = wire::arm::http_status(error.code);
    reply.body = wire::arm::error_body(error);
  }
  if (error.code == Code::Unavailable || error.code == Code::OutOfSpace) {
    reply.headers.emplace_back("Retry-After", "1");
  }
  if (error.code == Code::Unauthenticated) {
    reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"berth\"");
  }
  return reply;
}

io::Reply no_route_reply(const io::RequestHead& head, const Error& error) {
  const bool is_unknown = error.code == Code::NotFound || error.code == Code::NotSupported;
  if (!is_of_mlflow(head) || !is_unknown) return error_reply(head, error);
  return {.status = 404,
          .body = mlflow::error_body(
              mlflow::kEndpointNotFound,
              fmt::format("Berth does not have {} {}", head.method, to_valid_utf8(head.path)))};
}

io::Reply throttled_reply(const io::RequestHead& head) {
  const char* message = "too many wrong tokens";
  io::Reply reply{.status = 429, .headers = {{"Retry-After", "1"}}};
  reply.body = is_of_mlflow(head) ? mlflow::error_body("REQUEST_LIMIT_EXCEEDED", message)
                                  : wire::arm::error_body({Code::Unauthenticated, message});
  return reply;
}

}  // namespace berth::server
