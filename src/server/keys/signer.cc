// SPDX-License-Identifier: Apache-2.0
#include "server/keys/signer.h"

#include <charconv>
#include <initializer_list>

#include "base/digest.h"
#include "base/text.h"
#include "io/message/http.h"

namespace berth::server {
namespace {

constexpr std::string_view kVersion = "2021-08-06";
constexpr std::string_view kProtocols = "https,http";
constexpr std::string_view kJobTokenStart = "berth-job.";
constexpr std::string_view kNodeTokenStart = "berth-node.";

/// Lengths in front, so that no two lists of fields give the same text.
std::string canonical(std::initializer_list<std::string_view> fields) {
  std::string text;
  for (const std::string_view field : fields) text += fmt::format("{}:{},", field.size(), field);
  return text;
}

/// Azure's "signed object id": who it was given to.
std::string holder_of(const Grant& grant) {
  if (grant.token.text.empty()) return {};
  return fmt::format("{}.{}", grant.token.text, grant.issued_at.time_since_epoch().count());
}

/// "3", or "3-9f2c" with the fence: which attempt. Fences are hex digits.
std::string attempt_text(int attempt, std::string_view fence) {
  return fence.empty() ? std::to_string(attempt) : fmt::format("{}-{}", attempt, fence);
}

/// Azure's "correlation id": what it is used for.
std::string work_of(const Grant& grant) {
  if (grant.attempt <= 0) return {};
  return fmt::format("{}.{}", attempt_text(grant.attempt, grant.fence), grant.job);
}

/// "<number>.<rest>" or "<rest>.<number>", as the two above write it.
template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

bool read_attempt(std::string_view text, int& attempt, std::string& fence) {
  const std::size_t dash = text.find('-');
  if (dash != text.npos) fence = text.substr(dash + 1);
  return read_number(text.substr(0, dash), attempt) && attempt > 0;
}

bool read_holder(std::string_view text, Grant& grant) {
  if (text.empty()) return true;
  const std::size_t dot = text.find('.');
  WallTime::rep issued_at = 0;
  if (dot == text.npos || !read_number(text.substr(dot + 1), issued_at)) return false;
  grant.token = {std::string(text.substr(0, dot))};
  grant.issued_at = WallTime(WallTime::duration(issued_at));
  return true;
}

bool read_work(std::string_view text, Grant& grant) {
  if (text.empty()) return true;
  const std::size_t dot = text.find('.');
  if (dot == text.npos) return false;
  grant.job = text.substr(dot + 1);
  return read_attempt(text.substr(0, dot), grant.attempt, grant.fence);
}

std::string message_of(const Grant& grant, std::string_view expiry) {
  std::string message = canonical({"sas", kVersion, "c", kProtocols, grant.workspace.text,
                                   grant.container, grant.prefix, grant.permissions, expiry});
  const std::string holder = holder_of(grant);
  const std::string work = work_of(grant);
  if (!holder.empty()) message += canonical({"holder", holder});
  if (!work.empty()) message += canonical({"work", work});
  return message;
}

std::string job_message(const model::JobKey& job, std::string_view attempt) {
  return canonical({"job", job.workspace.text, job.name, attempt});
}

tl::unexpected<Error> refuse(std::string why) { return fail(Code::Forbidden, std::move(why)); }

/// The values of a signed query, each of which may be there once.
struct SignedQuery {
  std::string version{}, resource{}, permissions{}, expiry{}, protocols{}, prefix{}, signature{};
  std::string holder{}, work{};
};

Result<SignedQuery> read_query(std::string_view query) {
  const auto values = io::parse_query(query);
  if (!values) return refuse("the query string is broken");
  SignedQuery result;
  const std::pair<std::string_view, std::string*> fields[] = {
      {"sv", &result.version},    {"sr", &result.resource},  {"sp", &result.permissions},
      {"se", &result.expiry},     {"si", &result.prefix},    {"spr", &result.protocols},
      {"sig", &result.signature}, {"skoid", &result.holder}, {"scid", &result.work},
  };
  for (const auto& [name, field] : fields) {
    std::size_t count = 0;
    for (const auto& [key, value] : *values) {
      if (key != name) continue;
      *field = value;
      ++count;
    }
    if (count > 1) return refuse(fmt::format("'{}' is there twice", name));
  }
  return result;
}

}  // namespace

bool covers(const Grant& grant, std::string_view path) {
  const std::string_view prefix = grant.prefix;
  if (!path.starts_with(prefix)) return false;
  return prefix.empty() || prefix.ends_with('/') || path.size() == prefix.size() ||
         path[prefix.size()] == '/';
}

bool permits(const Grant& grant, char permission) {
  return grant.permissions.find(permission) != std::string::npos;
}

std::string Signer::sign(const Grant& grant) const {
  const std::string expiry = to_iso8601(grant.expires_at);
  const std::string signature = to_base64(hmac_sha256(key_, message_of(grant, expiry)));
  std::string query = fmt::format("sv={}&sr=c&sp={}&se={}&spr={}", kVersion, grant.permissions,
                                  percent_encode(expiry), percent_encode(kProtocols));
  const std::string holder = holder_of(grant);
  const std::string work = work_of(grant);
  if (!holder.empty()) query += "&skoid=" + percent_encode(holder);
  if (!work.empty()) query += "&scid=" + percent_encode(work);
  if (!grant.prefix.empty()) query += "&si=" + percent_encode(grant.prefix);
  return query + "&sig=" + percent_encode(signature);
}

Result<Grant> Signer::check(const model::WorkspaceId& workspace, std::string_view container,
                            std::string_view query, WallTime now) const {
  SignedQuery signed_query = TRY(read_query(query));
  if (signed_query.signature.empty()) return refuse("the address is not signed");
  if (signed_query.version != kVersion || signed_query.resource != "c" ||
      signed_query.protocols != kProtocols) {
    return refuse("the signature is not one of ours");
  }
  Grant grant{.workspace = workspace,
              .container = std::string(container),
              .prefix = std::move(signed_query.prefix),
              .permissions = std::move(signed_query.permissions)};
  if (!read_holder(signed_query.holder, grant) || !read_work(signed_query.work, grant)) {
    return refuse("the signature is not one of ours");
  }
  const Result<std::string> signature = from_base64(signed_query.signature);
  const std::string expected = hmac_sha256(key_, message_of(grant, signed_query.expiry));
  if (!signature || !equal_in_constant_time(*signature, expected)) {
    return refuse("the signature does not match");
  }
  grant.expires_at = TRY(wall_time_from_iso8601(signed_query.expiry));
  if (now >= grant.expires_at) return refuse("the signature has expired");
  return grant;
}

std::string Signer::job_token(const model::JobKey& job, int attempt, std::string_view fence) const {
  const std::string number = attempt_text(attempt, fence);
  return fmt::format("{}{}.{}.{}.{}", kJobTokenStart, job.workspace.text, number, job.name,
                     to_hex(hmac_sha256(key_, job_message(job, number))));
}

std::optional<Signer::JobToken> Signer::check_job_token(std::string_view token) const {
  if (!token.starts_with(kJobTokenStart)) return std::nullopt;
  token.remove_prefix(kJobTokenStart.size());
  // The name is the one part that may hold dots, so the others are taken off around it.
  const std::size_t first = token.find('.');
  const std::size_t second = first == token.npos ? first : token.find('.', first + 1);
  const std::size_t last = token.rfind('.');
  if (second == token.npos || last <= second) return std::nullopt;

  JobToken result{.job = {{std::string(token.substr(0, first))},
                          std::string(token.substr(second + 1, last - second - 1))}};
  const std::string_view number = token.substr(first + 1, second - first - 1);
  const std::string expected = to_hex(hmac_sha256(key_, job_message(result.job, number)));
  if (!equal_in_constant_time(token.substr(last + 1), expected)) return std::nullopt;
  if (!read_attempt(number, result.attempt, result.fence)) return std::nullopt;
  return result;
}

std::string Signer::node_token(const model::NodeId& node) const {
  return fmt::format("{}{}.{}", kNodeTokenStart, node.text,
                     to_hex(hmac_sha256(key_, canonical({"node", node.text}))));
}

std::optional<model::NodeId> Signer::check_node_token(std::string_view token) const {
  if (!token.starts_with(kNodeTokenStart)) return std::nullopt;
  token.remove_prefix(kNodeTokenStart.size());
  const std::size_t last = token.rfind('.');
  if (last == token.npos) return std::nullopt;
  const std::string_view node = token.substr(0, last);
  const std::string expected = to_hex(hmac_sha256(key_, canonical({"node", node})));
  if (!equal_in_constant_time(token.substr(last + 1), expected)) return std::nullopt;
  return model::NodeId{std::string(node)};
}

std::string Signer::derived_key(std::string_view purpose) const {
  return hmac_sha256(key_, canonical({"key", purpose}));
}

}  // namespace berth::server
