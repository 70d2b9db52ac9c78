// SPDX-License-Identifier: Apache-2.0
#include "io/message/request_parser.h"

#include <boost/beast/http/error.hpp>
#include <functional>

#include "base/text.h"

namespace berth::io {
namespace {

namespace http = boost::beast::http;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// Takes "http://host" off "http://host/a?b", as clients behind a proxy send it, and gives it back;
/// nothing when the target begins with its path.
std::optional<std::string_view> take_authority(std::string_view& target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return std::nullopt;
  const std::size_t path = target.find_first_of("/?#", scheme + 3);
  const std::string_view authority = target.substr(scheme + 3, path - scheme - 3);
  const std::string_view protocol = target.substr(0, scheme);
  target = path == std::string_view::npos ? "/" : target.substr(path);
  const bool is_ours =
      equals_ignoring_case(protocol, "http") || equals_ignoring_case(protocol, "https");
  return is_ours ? authority : std::string_view();
}

/// The path and query of "/a?b".
void split_target(std::string_view target, RequestHead& head) {
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  head.path = target.substr(0, mark);
  if (mark != std::string_view::npos) head.query = target.substr(mark + 1);
  if (head.path.empty()) head.path = "/";
}

/// A header whose value goes on, or begins, in the next line. Beast gives a value as it stands in
/// the bytes it was fed, unless it had to join lines first.
bool is_folded(std::string_view name, std::string_view value, std::string_view fed) {
  const std::less<const char*> is_before;
  if (value.empty()) return false;
  if (is_before(value.data(), fed.data())) return true;
  if (!is_before(value.data(), fed.data() + fed.size())) return true;
  const char* const end = name.data() + name.size();
  return std::string_view(end, static_cast<std::size_t>(value.data() - end)).find('\n') !=
         std::string_view::npos;
}

}  // namespace

RequestParser::RequestParser(std::uint32_t header_limit) : header_limit_(header_limit) {
  basic_parser::header_limit(header_limit);
  body_limit(boost::none);  // Counted by the session, which knows the limit only after the head.
}

std::size_t RequestParser::feed(std::string_view bytes) {
  // Beast takes it for granted that the last chunk, "0\r\n\r\n", arrives in one piece. A body that
  // is not over has at least so much to come, whatever these bytes are of it.
  constexpr std::size_t kLastChunk = 5;
  if (head_done_ && chunked() && bytes.starts_with('0') && bytes.size() < kLastChunk) return 0;
  eager(head_done_);
  fed_ = bytes;
  error_code error;
  const std::size_t taken = put({bytes.data(), bytes.size()}, error);
  if (error && error != http::error::need_more) fail(error);
  return taken;
}

void RequestParser::fail(error_code error) {
  if (failure_) return;
  if (error == http::error::header_limit) {
    failure_ = {431, "RequestHeaderFieldsTooLarge",
                "the request's headers are larger than " + human_bytes(header_limit_)};
  } else {
    failure_ = {400, "BadRequest", "malformed HTTP request: " + error.message()};
  }
}

void RequestParser::on_request_impl(http::verb, string_view method, string_view target, int version,
                                    error_code& error) {
  head_.method = view(method);
  is_http11_ = version == 11;
  head_bytes_ = method.size() + target.size() + 12;
  if (head_bytes_ > header_limit_) error = http::error::header_limit;
  std::string_view rest = view(target);
  if (const auto authority = take_authority(rest)) authority_ = *authority;
  split_target(rest, head_);
  head_.headers.reserve(12);
}

void RequestParser::on_field_impl(http::field field, string_view name, string_view value,
                                  error_code& error) {
  // Trailers after a chunked body come here too: checked for size, otherwise of no interest.
  head_bytes_ += name.size() + value.size() + 4;
  if (head_bytes_ > header_limit_) {
    error = http::error::header_limit;
    return;
  }
  if (head_done_) return;
  if (is_folded(view(name), view(value), fed_)) has_folded_header_ = true;
  switch (field) {
    case http::field::host: ++hosts_; break;
    case http::field::expect:
      wants_continue_ = equals_ignoring_case(view(value), "100-continue");
      has_other_expectation_ = !wants_continue_;
      break;
    case http::field::transfer_encoding:
      has_transfer_encoding_ = true;
      if (!equals_ignoring_case(view(value), "chunked")) has_other_transfer_encoding_ = true;
      break;
    default: break;
  }
  head_.headers.emplace_back(view(name), view(value));
}

void RequestParser::on_header_impl(error_code& error) {
  head_done_ = true;
  check_head();
  if (authority_) replace_host();
  if (failure_) error = http::error::bad_value;  // Any will do: it only stops the parser.
}

/// RFC 9112, 3.2.2: what the target says goes, whatever the header says.
void RequestParser::replace_host() {
  std::erase_if(head_.headers,
                [](const auto& entry) { return equals_ignoring_case(entry.first, "Host"); });
  head_.headers.emplace_back("Host", *authority_);
}

void RequestParser::check_head() {
  if (has_transfer_encoding_ && (has_other_transfer_encoding_ || !is_http11_)) {
    failure_ = {400, "BadRequest", "the only transfer coding understood is 'chunked', in HTTP/1.1"};
  } else if (has_folded_header_) {
    failure_ = {400, "BadRequest", "a header must not go on in the next line"};
  } else if (hosts_ > 1 || (is_http11_ && hosts_ == 0)) {
    failure_ = {400, "BadRequest", "a request needs exactly one Host header"};
  } else if (authority_ && authority_->empty()) {
    failure_ = {400, "BadRequest",
                "a request's target is a path, or an address with http or https"};
  } else if (has_other_expectation_) {
    failure_ = {417, "ExpectationFailed", "the only expectation understood is '100-continue'"};
  }
}

std::size_t RequestParser::on_body_impl(string_view bytes, error_code&) {
  body_bytes_ += bytes.size();
  if (body_ != nullptr) body_->append(bytes.data(), bytes.size());
  return bytes.size();
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, string_view bytes, error_code&) {
  error_code ignored;
  return on_body_impl(bytes, ignored);
}

}  // namespace berth::io
