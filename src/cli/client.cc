// SPDX-License-Identifier: Apache-2.0
#include "cli/client.h"

#include <thread>

#include "base/record.h"
#include "base/text.h"
#include "wire/arm/error.h"

namespace berth::cli {
namespace {

constexpr int kTries = 4;

/// Signatures stay out of what is shown.
std::string_view without_query(std::string_view url) { return url.substr(0, url.find('?')); }

Result<json::object> object_of(const io::ClientResponse& response) {
  if (trim(response.body).empty()) return json::object();
  json::value body = TRY(record::parse(response.body));
  if (!body.is_object()) return fail(Code::Internal, "the server answered with something odd");
  return std::move(body.get_object());
}

}  // namespace

std::string path_of_link(std::string_view link) {
  const std::size_t scheme = link.find("://");
  if (scheme == std::string_view::npos) return std::string(link);
  const std::size_t slash = link.find('/', scheme + 3);
  return slash == std::string_view::npos ? "/" : std::string(link.substr(slash));
}

Client::Client(Locate locate, model::Workspace workspace, const Console& console)
    : locate_(std::move(locate)), workspace_(std::move(workspace)), console_(console) {}

std::string Client::workspace_path(const std::string& below) const {
  return model::arm_id(workspace_) + below;
}

std::string Client::berth_path(const std::string& below) const {
  return "/berth/v1" + workspace_path(below);
}

Result<Endpoint> Client::endpoint() {
  if (!endpoint_) {
    endpoint_ = TRY(locate_(false));
    http_ = io::HttpClient({.authority_file = endpoint_->authority_file});
  }
  return *endpoint_;
}

Result<io::ClientResponse> Client::send_once(const io::ClientRequest& request) {
  const Endpoint server = TRY(endpoint());
  io::ClientRequest full = request;
  full.url = server.base_url + request.url;
  full.headers.emplace_back("Authorization", "Bearer " + server.token);
  const auto response = http_.send(full);
  console_.detail(
      fmt::format("{} {} -> {}", request.method, without_query(full.url),
                  response ? std::to_string(response->status) : response.error().message));
  return response;
}

Result<io::ClientResponse> Client::send(io::ClientRequest request) {
  for (int tries = 1;; ++tries) {
    auto response = send_once(request);
    const bool may_pass = !response && response.error().code == Code::Unavailable;
    if (may_pass && (tries == kTries || !endpoint_ || !endpoint_->is_ours)) {
      return fail(Code::Unavailable,
                  fmt::format("the Berth server does not answer: {}", response.error().message));
    }
    if (!may_pass) return response;
    if (tries > 1) std::this_thread::sleep_for(std::chrono::milliseconds(100) * tries);
    TRY(find_again());
  }
}

Status Client::find_again() {
  endpoint_ = TRY(locate_(true));
  http_ = io::HttpClient({.authority_file = endpoint_->authority_file});
  return Done{};
}

Result<json::object> Client::call(io::ClientRequest request) {
  const io::ClientResponse response = TRY(send(std::move(request)));
  if (response.status >= 400) return fail(wire::arm::error_from(response.status, response.body));
  return object_of(response);
}

Result<json::object> Client::get(const std::string& path) { return call({.url = path}); }

Result<json::object> Client::put(const std::string& path, const json::object& body) {
  return call({.method = "PUT",
               .url = path,
               .headers = {{"Content-Type", "application/json"}},
               .body = json::serialize(body)});
}

Result<json::object> Client::post(const std::string& path, const json::object& body) {
  return call({.method = "POST",
               .url = path,
               .headers = {{"Content-Type", "application/json"}},
               .body = json::serialize(body)});
}

Status Client::remove(const std::string& path) {
  TRY(call({.method = "DELETE", .url = path}));
  return Done{};
}

Result<json::array> Client::list(const std::string& path, std::size_t most) {
  json::array found;
  std::string next = path;
  while (!next.empty() && found.size() < most) {
    const json::object page = TRY(get(next));
    next.clear();
    const json::value* values = page.if_contains("value");
    if (values == nullptr || !values->is_array()) break;
    for (const json::value& value : values->get_array()) {
      if (found.size() < most) found.push_back(value);
    }
    const json::value* link = page.if_contains("nextLink");
    if (link != nullptr && link->is_string()) next = path_of_link(link->get_string());
  }
  return found;
}

}  // namespace berth::cli
