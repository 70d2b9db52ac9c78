// SPDX-License-Identifier: Apache-2.0
#include "io/message/reply_text.h"

#include <fmt/format.h>

#include <array>
#include <boost/beast/http/status.hpp>
#include <boost/json.hpp>
#include <iterator>

#include "base/text.h"

namespace berth::io {
namespace {

constexpr std::string_view kOurs[] = {
    "Date",       "Server",     "Content-Type",     "Content-Length",
    "Connection", "Keep-Alive", "Transfer-Encoding"};

constexpr std::array<bool, 256> token_characters() {
  std::array<bool, 256> allowed{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    allowed[static_cast<unsigned char>(c)] = true;
  }
  return allowed;
}
constexpr std::array<bool, 256> kTokenCharacters = token_characters();

bool is_token(std::string_view name) {
  for (const char c : name) {
    if (!kTokenCharacters[static_cast<unsigned char>(c)]) return false;
  }
  return !name.empty();
}

bool is_ours(std::string_view name) {
  for (const std::string_view ours : kOurs) {
    if (equals_ignoring_case(name, ours)) return true;
  }
  return false;
}

void append_value(std::string& text, std::string_view value) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 0x20 && byte != 0x7f) || c == '\t') text += c;
  }
}

void append_header(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ");
  append_value(text, value);
  text += "\r\n";
}

bool is_first_of_its_name(const Headers& headers, std::size_t index) {
  const std::string& name = headers[index].first;
  if (equals_ignoring_case(name, "Set-Cookie")) return true;  // The one header that may repeat.
  for (std::size_t i = 0; i < index; ++i) {
    if (equals_ignoring_case(headers[i].first, name)) return false;
  }
  return true;
}

bool status_has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::uint64_t content_length(const Reply& reply, const ReplyFraming& framing) {
  if (framing.answers_head && reply.head_length) return *reply.head_length;
  if (reply.files.empty()) return reply.body.size();
  std::uint64_t total = 0;
  for (const FileRange& range : reply.files) total += range.length;
  return total;
}

}  // namespace

Reply error_reply(int status, std::string_view code, std::string_view message) {
  boost::json::object error;
  error["code"] = code;
  error["message"] = to_valid_utf8(message);
  Reply reply;
  reply.status = status;
  reply.body = boost::json::serialize(boost::json::object{{"error", std::move(error)}});
  return reply;
}

Reply error_reply(const Error& error) {
  if (error.code == Code::OutOfSpace) return error_reply(507, "InsufficientStorage", error.message);
  return error_reply(503, "ServiceUnavailable", error.message);
}

bool has_body(const Reply& reply, const ReplyFraming& framing) {
  return !framing.answers_head && status_has_body(reply.status);
}

std::string reply_head(const Reply& reply, const ReplyFraming& framing, std::string_view date) {
  namespace http = boost::beast::http;
  std::string text;
  text.reserve(256 + 64 * reply.headers.size());
  const auto reason = http::obsolete_reason(static_cast<http::status>(reply.status));
  fmt::format_to(std::back_inserter(text), "HTTP/1.1 {} {}\r\nDate: {}\r\nServer: berth\r\n",
                 reply.status, std::string_view(reason.data(), reason.size()), date);
  // RFC 9110, 8.6: a 204 must not have a Content-Length, and one in a 304 would mean another thing.
  if (status_has_body(reply.status)) {
    if (!reply.content_type.empty()) append_header(text, "Content-Type", reply.content_type);
    if (!reply.stream) {
      fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n",
                     content_length(reply, framing));
    } else if (framing.is_http11) {
      text += "Transfer-Encoding: chunked\r\n";
    }
  }
  if (!framing.keep_alive) text += "Connection: close\r\n";
  for (std::size_t i = 0; i < reply.headers.size(); ++i) {
    const auto& [name, value] = reply.headers[i];
    if (!is_token(name) || is_ours(name) || !is_first_of_its_name(reply.headers, i)) continue;
    append_header(text, name, value);
  }
  return text += "\r\n";
}

std::string_view DateText::at(WallTime now) {
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (second != second_) {
    second_ = second;
    text_ = to_http_date(now);
  }
  return text_;
}

}  // namespace berth::io
