// SPDX-License-Identifier: Apache-2.0
#include "cli/operation.h"

#include <chrono>
#include <thread>

#include "base/record.h"
#include "base/text.h"
#include "wire/arm/error.h"

namespace berth::cli {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(50);
constexpr Duration kLongestPause = std::chrono::seconds(1);

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

/// Why an operation failed, from the object that says that it did.
tl::unexpected<Error> failure_of(const json::object& status) {
  const json::value* error = status.if_contains("error");
  const std::string message =
      error != nullptr && error->is_object() ? text_of(error->get_object(), "message") : "";
  return fail(Code::Internal, message.empty() ? "the operation failed" : message);
}

}  // namespace

io::ClientRequest json_request(std::string method, std::string path, const json::object& body) {
  return {.method = std::move(method),
          .url = std::move(path),
          .headers = {{"Content-Type", "application/json"}},
          .body = json::serialize(body)};
}

Result<Operation> begin(Context& context, io::ClientRequest request) {
  const io::ClientResponse response = TRY(context.client.send(std::move(request)));
  if (response.status >= 400) return fail(wire::arm::error_from(response.status, response.body));
  Operation operation;
  operation.status_path = path_of_link(io::header(response.headers, "Azure-AsyncOperation"));
  if (const std::string_view notice = io::header(response.headers, "x-berth-notice");
      !notice.empty()) {
    context.console.note("note: " + printable(notice));
  }
  if (trim(response.body).empty()) return operation;
  const json::value answer = TRY(record::parse(response.body));
  if (answer.is_object()) operation.answer = answer.get_object();
  return operation;
}

Status finish(Context& context, const Operation& operation, const std::string& doing) {
  if (operation.status_path.empty() || context.arguments.has("no-wait")) return Done{};
  for (Duration pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const json::object status = TRY(context.client.get(operation.status_path));
    const std::string word = text_of(status, "status");
    if (equals_ignoring_case(word, "Succeeded")) break;
    if (equals_ignoring_case(word, "Failed") || equals_ignoring_case(word, "Canceled")) {
      return failure_of(status);
    }
    context.console.progress(doing + " …");
    std::this_thread::sleep_for(pause);
  }
  context.console.clear_progress();
  return Done{};
}

}  // namespace berth::cli
