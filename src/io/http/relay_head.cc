// SPDX-License-Identifier: Apache-2.0
#include "io/http/relay_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace berth::io {
namespace {

/// About one connection (RFC 9110, 7.6.1), or about where a body ends, which is written anew.
/// Trailers are dropped, so nobody is told that there will be some.
constexpr std::string_view kOfOneHop[] = {
    "Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length",      "Upgrade",
    "TE",         "Trailer",    "Proxy-Connection",  "Proxy-Authorization", "HTTP2-Settings"};
/// What a client says about itself in these, an upstream would take for ours.
constexpr std::string_view kForwarded[] = {
    "X-Forwarded-For",    "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port",
    "X-Forwarded-Server", "X-Real-IP",         "Forwarded"};

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [name](std::string_view each) {
    return each.size() == name.size() && equals_ignoring_case(each, name);
  });
}

void add_words(std::vector<std::string_view>& words, std::string_view value) {
  for (const std::string_view word : split(value, ',')) {
    if (!trim(word).empty()) words.push_back(trim(word));
  }
}

/// Headers that the message itself says are about this connection only.
bool is_named(std::string_view name, const std::vector<std::string_view>& of_connection) {
  return !of_connection.empty() && is_among(name, of_connection);
}

bool is_patched(std::string_view name, const HeaderPatch& patch) {
  const auto is_it = [name](std::string_view other) { return equals_ignoring_case(name, other); };
  return std::ranges::any_of(patch.remove, is_it) ||
         std::ranges::any_of(patch.add, [&](const auto& added) { return is_it(added.first); });
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

/// No value can start a header of its own.
void append_line(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ");
  const std::size_t begin = text.size();
  text.append(value);
  text.erase(
      std::remove_if(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), is_control),
      text.end());
  text += "\r\n";
}

void append_body_mark(std::string& text, const BodyMark& mark) {
  if (mark.is_chunked) text += "Transfer-Encoding: chunked\r\n";
  if (mark.length) fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", *mark.length);
}

std::string_view address_of(std::string_view peer) {
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  return peer;
}

std::vector<std::string_view> connection_words(const Headers& headers) {
  std::vector<std::string_view> words;
  for (const auto& [name, value] : headers) {
    if (equals_ignoring_case(name, "Connection")) add_words(words, value);
  }
  return words;
}

std::vector<std::string_view> connection_words(const AnswerParser& answer) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < answer.fields(); ++i) {
    const AnswerParser::Field field = answer.field(i);
    if (equals_ignoring_case(field.name, "Connection")) add_words(words, field.value);
  }
  return words;
}

std::string_view upgrade_of(const RequestHead& head, const std::vector<std::string_view>& words) {
  const std::string_view protocol = header(head.headers, "Upgrade");
  // HTTP/2 in a tunnel would be requests that nobody has looked at.
  const bool is_http2 = starts_with_ignoring_case(trim(protocol), "h2");
  return is_named("Upgrade", words) && !is_http2 ? protocol : std::string_view();
}

}  // namespace

bool asks_for_upgrade(const RequestHead& head, const RequestMark& mark) {
  return mark.may_upgrade && mark.is_http11 &&
         !upgrade_of(head, connection_words(head.headers)).empty();
}

std::string relayed_request(const RequestHead& head, const RequestMark& mark,
                            const RelayPlan& plan) {
  const std::vector<std::string_view> words = connection_words(head.headers);
  std::string text;
  text.reserve(512);
  text.append(head.method).append(" ");
  text.append(plan.target.empty() ? head.path : plan.target);
  if (plan.target.empty() && !head.query.empty()) text.append("?").append(head.query);
  text += " HTTP/1.1\r\n";
  for (const auto& [name, value] : head.headers) {
    if (is_among(name, kOfOneHop) || is_among(name, kForwarded) || is_named(name, words) ||
        is_patched(name, plan.request)) {
      continue;
    }
    if (!mark.is_http11 && equals_ignoring_case(name, "Expect")) continue;
    append_line(text, name, value);
  }
  const std::string_view host = header(head.headers, "Host");
  // HTTP/1.0 knows no Host, HTTP/1.1 cannot do without.
  if (host.empty() && !is_patched("Host", plan.request)) text += "Host: localhost\r\n";
  append_line(text, "X-Forwarded-For", address_of(head.peer));
  append_line(text, "X-Forwarded-Proto", head.is_tls ? "https" : "http");
  if (!host.empty()) append_line(text, "X-Forwarded-Host", host);
  append_body_mark(text, mark.body);
  if (mark.may_upgrade && mark.is_http11) {
    const std::string_view protocol = upgrade_of(head, words);
    if (!protocol.empty()) {
      text += "Connection: Upgrade\r\n";
      append_line(text, "Upgrade", protocol);
    }
  }
  for (const auto& [name, value] : plan.request.add) append_line(text, name, value);
  return text += "\r\n";
}

std::string relayed_answer(const AnswerParser& answer, const AnswerMark& mark,
                           const HeaderPatch& patch) {
  const std::vector<std::string_view> words = connection_words(answer);
  std::string text;
  text.reserve(512);
  fmt::format_to(std::back_inserter(text), "HTTP/1.1 {} {}\r\n", answer.status(), answer.reason());
  std::string_view protocol;
  for (std::size_t i = 0; i < answer.fields(); ++i) {
    const auto [name, value] = answer.field(i);
    if (mark.is_upgrade && equals_ignoring_case(name, "Upgrade")) protocol = value;
    if (is_among(name, kOfOneHop) || is_named(name, words) || is_patched(name, patch)) continue;
    append_line(text, name, value);
  }
  append_body_mark(text, mark.body);
  if (mark.is_upgrade) {
    text += "Connection: Upgrade\r\n";
    append_line(text, "Upgrade", protocol);
  } else if (!mark.keep_alive) {
    text += "Connection: close\r\n";
  }
  for (const auto& [name, value] : patch.add) append_line(text, name, value);
  return text += "\r\n";
}

}  // namespace berth::io
