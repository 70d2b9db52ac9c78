// SPDX-License-Identifier: Apache-2.0
#include "wire/node/message.h"

#include <fmt/format.h>

#include <array>
#include <type_traits>

#include "base/record.h"
#include "base/text.h"

namespace berth::wire::node {
namespace {

namespace json = boost::json;

/// In the order of the variant's alternatives.
constexpr std::array<std::string_view, 8> kToNodeKinds = {
    "Welcome", "Launch", "Go", "Stop", "Forget", "LogStored", "LeaseRenewed", "Leave"};
constexpr std::array<std::string_view, 12> kToServerKinds = {
    "Hello",    "Heartbeat", "LeaseNoted", "Leaving", "Prepared", "WorkAhead",
    "Returned", "Renew",     "Advanced",   "Serving", "Ended",    "LogChunk"};
static_assert(kToNodeKinds.size() == std::variant_size_v<ToNode>);
static_assert(kToServerKinds.size() == std::variant_size_v<ToServer>);

template <typename T>
std::string text_of(std::string_view kind, const T& message) {
  const std::string members = record::encode_text(message);
  const std::string_view rest = std::string_view(members).substr(1);  // Behind its brace.
  return fmt::format("{{\"kind\":\"{}\"{}{}", kind, rest == "}" ? "" : ",", rest);
}

template <typename Message, std::size_t Index = 0>
Result<std::optional<Message>> decode_kind(std::string_view kind, const json::value& from,
                                           std::span<const std::string_view> kinds) {
  if constexpr (Index == std::variant_size_v<Message>) {
    return std::optional<Message>();
  } else {
    if (kind != kinds[Index]) return decode_kind<Message, Index + 1>(kind, from, kinds);
    using Alternative = std::variant_alternative_t<Index, Message>;
    return std::optional<Message>(TRY(record::decode<Alternative>(from)));
  }
}

template <typename Message>
Result<std::optional<Message>> decode_message(std::string_view text,
                                              std::span<const std::string_view> kinds) {
  const json::value value = TRY(record::parse(text));
  const json::object* const object = value.if_object();
  const json::value* const kind = object != nullptr ? object->if_contains("kind") : nullptr;
  if (kind == nullptr || !kind->is_string()) {
    return fail(Code::InvalidArgument, "a message needs a 'kind'");
  }
  return decode_kind<Message>(kind->get_string(), value, kinds);
}

}  // namespace

Frame encode(const ToNode& message) {
  const std::string_view kind = kToNodeKinds[message.index()];
  return {std::visit([&](const auto& value) { return text_of(kind, value); }, message), false};
}

Frame encode(const ToServer& message) {
  const std::string_view kind = kToServerKinds[message.index()];
  Frame frame{std::visit([&](const auto& value) { return text_of(kind, value); }, message), false};
  if (const LogChunk* chunk = std::get_if<LogChunk>(&message)) {
    frame.binary = true;
    frame.data.reserve(frame.data.size() + 1 + chunk->bytes.size());
    frame.data += '\n';  // JSON text of ours holds no newline, so the first one ends the header.
    frame.data += chunk->bytes;
  }
  return frame;
}

Result<std::optional<ToNode>> decode_to_node(std::string_view data, bool binary) {
  if (binary) return std::optional<ToNode>();
  return decode_message<ToNode>(data, kToNodeKinds);
}

Result<std::optional<ToServer>> decode_to_server(std::string_view data, bool binary) {
  const std::size_t header_end = binary ? data.find('\n') : data.size();
  if (header_end == std::string_view::npos) {
    return fail(Code::InvalidArgument, "a binary frame needs a header and a newline");
  }
  std::optional<ToServer> message =
      TRY(decode_message<ToServer>(data.substr(0, header_end), kToServerKinds));
  LogChunk* const chunk = message ? std::get_if<LogChunk>(&*message) : nullptr;
  if (message && binary != (chunk != nullptr)) {
    return fail(Code::InvalidArgument, "only a LogChunk is a binary frame");
  }
  if (chunk != nullptr) chunk->bytes = data.substr(header_end + 1);
  return message;
}

std::string parking_path(const model::NodeId& node, const AttemptRef& attempt) {
  return fmt::format("/berth/v1/nodes/{}/services/{}/{}/{}/{}", percent_encode(node.text),
                     percent_encode(attempt.job.workspace.text), percent_encode(attempt.job.name),
                     attempt.attempt, percent_encode(attempt.fence));
}

std::string attempt_directory(const AttemptRef& attempt) {
  return fmt::format("{}/{}/{}{}{}", attempt.job.workspace.text, attempt.job.name, attempt.attempt,
                     attempt.fence.empty() ? "" : "-", attempt.fence);
}

}  // namespace berth::wire::node
