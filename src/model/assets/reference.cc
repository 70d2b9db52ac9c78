// SPDX-License-Identifier: Apache-2.0
#include "model/assets/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace berth::model {
namespace {

constexpr std::string_view kAzureml = "azureml:";
constexpr std::string_view kAzuremlUri = "azureml://";
constexpr std::size_t kLongestBlobPath = 1024;

using Segments = std::vector<std::string_view>;

tl::unexpected<Error> wrong(std::string message) {
  return fail(Code::InvalidArgument, std::move(message));
}

/// The text with what may break a terminal or a log line made visible.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 200)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return to_valid_utf8(result);
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

int hex_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/// Decodes what is a valid escape and leaves the rest, because '%' is also an ordinary character of
/// a file's name: the stricter percent_decode() would let "..%2f100%" through unlooked at.
std::string decode_escapes(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2])) {
      result += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

bool has_forbidden_character(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\') return true;
  }
  return false;
}

Status check_segment(std::string_view segment, std::string_view path) {
  if (segment == "." || segment == "..") {
    return wrong(fmt::format("the path '{}' has a '{}' in it", shown(path), segment));
  }
  if (has_forbidden_character(segment)) {
    return wrong(
        fmt::format("the path '{}' has a backslash or a control character in it", shown(path)));
  }
  return Done{};
}

/// Nothing below us decodes a blob path again, but other tools do; refuse what would climb then.
Status check_encoded_traversal(std::string_view path) {
  std::string decoded(path);
  for (int round = 0; round < 3; ++round) {
    std::string next = decode_escapes(decoded);
    if (next == decoded) return Done{};
    decoded = std::move(next);
    for (const std::string_view segment : split(decoded, '/')) TRY(check_segment(segment, path));
  }
  return Done{};
}

/// A path inside an azureml:// address; empty means all of what it is relative to.
Result<std::string> checked_uri_path(std::string_view path) {
  if (path.empty()) return std::string();
  TRY(check_encoded_traversal(path));
  return checked_blob_path(path);
}

Status check_name(std::string_view name, std::string_view what, std::string_view text) {
  if (is_resource_name(name)) return Done{};
  return wrong(fmt::format("'{}' in '{}' is not a valid {}", shown(name), shown(text), what));
}

/// Models have labels of their own; whether it is a model is not always to be seen.
enum class Labels { LatestOnly, Any };

Result<AssetRef> named_asset(std::string_view name, std::string_view version,
                             std::string_view text) {
  TRY(check_name(name, "name", text));
  TRY(check_name(version, "version", text));
  return AssetRef{.name = std::string(name), .version = std::string(version)};
}

Result<AssetRef> labelled_asset(std::string_view name, std::string_view label,
                                std::string_view text, Labels labels) {
  TRY(check_name(name, "name", text));
  if (labels == Labels::Any && !equals_ignoring_case(label, "latest")) {
    TRY(check_name(label, "label", text));
    return AssetRef{.name = std::string(name), .label = std::string(label)};
  }
  if (!equals_ignoring_case(label, "latest")) {
    return wrong(fmt::format("'{}' has the label '{}'; only '@latest' can be resolved", shown(text),
                             shown(label)));
  }
  return AssetRef{.name = std::string(name), .label = "latest"};
}

/// <name>:<version>, <name>@<label> or <name>; `text` is what the user wrote.
Result<AssetRef> parse_short_asset(std::string_view body, std::string_view text, Labels labels) {
  if (const auto at = body.find('@'); at != std::string_view::npos) {
    return labelled_asset(body.substr(0, at), body.substr(at + 1), text, labels);
  }
  if (const auto colon = body.find(':'); colon != std::string_view::npos) {
    return named_asset(body.substr(0, colon), body.substr(colon + 1), text);
  }
  TRY(check_name(body, "name", text));
  return AssetRef{.name = std::string(body)};
}

/// The segments after ".../workspaces/<w>/", whatever stands before; empty when there is no such
/// part.
Segments below_workspace(const Segments& segments) {
  for (std::size_t i = 0; i + 2 < segments.size(); ++i) {
    if (!equals_ignoring_case(segments[i], "workspaces")) continue;
    return Segments(segments.begin() + static_cast<std::ptrdiff_t>(i) + 2, segments.end());
  }
  return {};
}

bool is_collection(std::string_view segment, std::span<const AssetKind> kinds) {
  return std::ranges::any_of(
      kinds, [&](AssetKind kind) { return equals_ignoring_case(segment, to_collection(kind)); });
}

/// <collection>/<name>/versions/<v> or /labels/<l>, as ARM ids and asset ids end.
Result<AssetRef> parse_asset_tail(const Segments& tail, std::span<const AssetKind> kinds,
                                  std::string_view text) {
  const std::string wanted = fmt::format("/{}/<name>/versions/<version>", to_collection(kinds[0]));
  if (tail.size() != 4 || tail[1].empty()) {
    return wrong(fmt::format("'{}' does not end in {}", shown(text), wanted));
  }
  if (!is_collection(tail[0], kinds)) {
    return wrong(fmt::format("'{}' names something of '{}', not of '{}'", shown(text),
                             shown(tail[0]), to_collection(kinds[0])));
  }
  if (equals_ignoring_case(tail[2], "labels")) {
    const bool may_be_model = std::ranges::count(kinds, AssetKind::Model) > 0;
    return labelled_asset(tail[1], tail[3], text, may_be_model ? Labels::Any : Labels::LatestOnly);
  }
  if (equals_ignoring_case(tail[2], "versions")) return named_asset(tail[1], tail[3], text);
  return wrong(fmt::format("'{}' does not end in {}", shown(text), wanted));
}

tl::unexpected<Error> registry_unsupported(std::string_view text) {
  return fail(Code::NotSupported,
              fmt::format("'{}' is in a registry; registries are not supported yet", shown(text)));
}

/// datastores/<d>/paths/<p>; `rest` is everything after "datastores/".
Result<DatastorePath> parse_datastore(std::string_view rest, std::string_view text) {
  const auto slash = rest.find('/');
  const std::string_view name = rest.substr(0, slash);
  TRY(check_name(name, "datastore name", text));
  std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  if (!starts_with_ignoring_case(path, "paths/")) {
    return wrong(fmt::format("'{}' needs '/paths/<path>' after the datastore", shown(text)));
  }
  path.remove_prefix(std::string_view("paths/").size());
  std::string checked = TRY(checked_uri_path(path));
  return DatastorePath{.datastore = std::string(name), .path = std::move(checked)};
}

/// jobs/<job>/outputs/<output>[/paths/<p>]; `rest` is everything after "jobs/".
Result<JobOutputRef> parse_job_output(std::string_view rest, std::string_view text) {
  const Segments segments = split(rest, '/');
  if (segments.size() < 3 || !equals_ignoring_case(segments[1], "outputs")) {
    return wrong(fmt::format("'{}' is not azureml://jobs/<job>/outputs/<output>", shown(text)));
  }
  TRY(check_name(segments[0], "job name", text));
  TRY(check_name(segments[2], "output name", text));
  JobOutputRef reference{.job = std::string(segments[0]), .output = std::string(segments[2])};
  std::string_view path = rest.substr(
      std::min(rest.size(), segments[0].size() + 1 + segments[1].size() + 1 + segments[2].size()));
  if (path.empty() || path == "/") return reference;
  if (!starts_with_ignoring_case(path, "/paths/")) {
    return wrong(fmt::format("'{}' needs '/paths/<path>' after the output", shown(text)));
  }
  path.remove_prefix(std::string_view("/paths/").size());
  reference.path = TRY(checked_uri_path(path));
  return reference;
}

constexpr std::array kDataKinds = {AssetKind::Data, AssetKind::Model};

/// The long forms: azureml://subscriptions/… and azureml://locations/….
Result<DataRef> parse_long_uri(std::string_view rest, std::string_view text) {
  const Segments tail = below_workspace(split(rest, '/'));
  if (tail.empty()) {
    return wrong(fmt::format("'{}' does not name anything below a workspace", shown(text)));
  }
  const auto offset = static_cast<std::size_t>(tail[0].data() - rest.data()) + tail[0].size();
  const std::string_view after = rest.substr(std::min(rest.size(), offset + 1));
  if (equals_ignoring_case(tail[0], "datastores")) return TRY(parse_datastore(after, text));
  if (equals_ignoring_case(tail[0], "jobs")) return TRY(parse_job_output(after, text));
  return TRY(parse_asset_tail(tail, kDataKinds, text));
}

Result<DataRef> parse_azureml_uri(std::string_view text) {
  const std::string_view rest = text.substr(kAzuremlUri.size());
  const auto slash = rest.find('/');
  const std::string_view head = rest.substr(0, slash);
  const std::string_view after = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  if (equals_ignoring_case(head, "datastores")) return TRY(parse_datastore(after, text));
  if (equals_ignoring_case(head, "jobs")) return TRY(parse_job_output(after, text));
  if (equals_ignoring_case(head, "registries")) return registry_unsupported(text);
  if (equals_ignoring_case(head, "subscriptions") || equals_ignoring_case(head, "locations")) {
    return parse_long_uri(rest, text);
  }
  return wrong(fmt::format(
      "'{}' is not an address we know; write azureml://datastores/<datastore>/paths/<path> or "
      "azureml://jobs/<job>/outputs/<output>",
      shown(text)));
}

Result<DataRef> parse_run_uri(std::string_view text) {
  std::string_view rest = text.substr(std::string_view("runs:/").size());
  const auto slash = rest.find('/');
  const std::string_view job = rest.substr(0, slash);
  TRY(check_name(job, "job name", text));
  rest = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  std::string checked = TRY(checked_uri_path(rest));
  return JobOutputRef{.job = std::string(job), .output = "artifacts", .path = std::move(checked)};
}

Result<DataRef> parse_web_address(std::string_view text) {
  const std::string_view rest = text.substr(text.find("://") + 3);
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.empty() || has_forbidden_character(text) || text.find(' ') != std::string_view::npos) {
    return wrong(fmt::format("'{}' is not a web address", shown(text)));
  }
  return WebAddress{.url = std::string(text)};
}

bool is_arm_id(std::string_view text) { return starts_with_ignoring_case(text, "/subscriptions/"); }

/// "azureml:/subscriptions/…" is an ARM id in disguise.
std::string_view without_arm_prefix(std::string_view text) {
  if (starts_with_ignoring_case(text, kAzureml) && is_arm_id(text.substr(kAzureml.size()))) {
    return text.substr(kAzureml.size());
  }
  return text;
}

Result<DataRef> refuse_other_scheme(std::string_view text) {
  const auto colon = text.find("://");
  const std::string scheme = to_lower(text.substr(0, colon));
  if (scheme == "file" || colon == std::string_view::npos) {
    return wrong(fmt::format(
        "'{}' is a path on somebody's machine; a client uploads it first and sends where it went",
        shown(text)));
  }
  for (const std::string_view known : {"wasb", "wasbs", "abfs", "abfss", "adl", "s3", "gs"}) {
    if (scheme != known) continue;
    return fail(Code::NotSupported,
                fmt::format("{}:// addresses are not supported yet ('{}')", known, shown(text)));
  }
  return wrong(
      fmt::format("'{}' has an unknown scheme; use azureml:, azureml://, runs:/, http or "
                  "https",
                  shown(text)));
}

std::string article_and_kind(AssetKind kind) {
  switch (kind) {
    case AssetKind::Code: return "a code snapshot";
    case AssetKind::Data: return "a data asset";
    case AssetKind::Environment: return "an environment";
    case AssetKind::Model: return "a model";
    case AssetKind::Component: return "a component";
  }
  return "an asset";
}

}  // namespace

Result<DataRef> parse_data_ref(std::string_view text) {
  if (text.empty()) return wrong("the uri is empty");
  const std::string_view id = without_arm_prefix(text);
  if (is_arm_id(id)) {
    return TRY(parse_asset_tail(below_workspace(split(id, '/')), kDataKinds, text));
  }
  if (starts_with_ignoring_case(text, kAzuremlUri)) return parse_azureml_uri(text);
  if (starts_with_ignoring_case(text, kAzureml)) {
    return TRY(parse_short_asset(text.substr(kAzureml.size()), text, Labels::Any));
  }
  if (starts_with_ignoring_case(text, "runs:/")) return parse_run_uri(text);
  if (starts_with_ignoring_case(text, "http://") || starts_with_ignoring_case(text, "https://")) {
    return parse_web_address(text);
  }
  return refuse_other_scheme(text);
}

Result<AssetRef> parse_asset_ref(AssetKind kind, std::string_view text) {
  const std::array kinds = {kind};
  const std::string_view id = without_arm_prefix(text);
  if (is_arm_id(id)) return parse_asset_tail(below_workspace(split(id, '/')), kinds, text);
  if (starts_with_ignoring_case(text, kAzuremlUri)) {
    const std::string_view rest = text.substr(kAzuremlUri.size());
    if (starts_with_ignoring_case(rest, "registries/")) return registry_unsupported(text);
    return parse_asset_tail(below_workspace(split(rest, '/')), kinds, text);
  }
  if (starts_with_ignoring_case(text, kAzureml)) {
    const Labels labels = kind == AssetKind::Model ? Labels::Any : Labels::LatestOnly;
    return parse_short_asset(text.substr(kAzureml.size()), text, labels);
  }
  return wrong(
      fmt::format("'{}' does not refer to {}; write azureml:<name>:<version> or "
                  "azureml:<name>@latest",
                  shown(text), article_and_kind(kind)));
}

Result<std::string> parse_compute_ref(std::string_view text) {
  const std::string_view id = without_arm_prefix(text);
  std::string_view name = id;
  if (is_arm_id(id)) {
    const Segments tail = below_workspace(split(id, '/'));
    if (tail.size() != 2 || !equals_ignoring_case(tail[0], "computes")) {
      return wrong(fmt::format("'{}' does not end in /computes/<name>", shown(text)));
    }
    name = tail[1];
  } else if (starts_with_ignoring_case(text, kAzureml)) {
    name = text.substr(kAzureml.size());
  }
  if (!is_resource_name(name)) {
    return wrong(fmt::format("'{}' is not the name of a compute target", shown(text)));
  }
  if (equals_ignoring_case(name, "serverless")) return std::string();
  if (equals_ignoring_case(name, "local")) return std::string("local");
  return std::string(name);
}

Result<std::string> checked_blob_path(std::string_view path) {
  if (path.empty()) return wrong("the path is empty");
  if (path.size() > kLongestBlobPath) {
    return wrong(
        fmt::format("the path is {} bytes long; {} is the most", path.size(), kLongestBlobPath));
  }
  if (!is_valid_utf8(path)) return wrong(fmt::format("the path '{}' is not UTF-8", shown(path)));
  const std::string_view without_slash =
      path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  for (const std::string_view segment : split(without_slash, '/')) {
    if (segment.empty()) {
      return wrong(fmt::format("the path '{}' has an empty part: a '/' too many", shown(path)));
    }
    TRY(check_segment(segment, path));
  }
  return std::string(path);
}

}  // namespace berth::model
