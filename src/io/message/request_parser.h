// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/message/http.h"

namespace berth::io {

/// Why a request cannot be served, as the status and the words of its answer.
struct BadRequest {
  int status = 400;
  std::string code{};
  std::string message{};
};

/// Beast's HTTP/1 parser, filling a RequestHead directly. One object per request.
///
/// Stricter than Beast where two readers of one byte stream could disagree about where a request
/// ends: only "chunked" as transfer coding, only with HTTP/1.1, exactly one Host, no header that
/// goes on in the next line. The header limit is on the whole head, however it is cut into packets.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(std::uint32_t header_limit);

  /// Takes as much as it can of these bytes: of the head first, then of the body. Returns how many
  /// were taken; fewer than all means that more must arrive first, or that the head or the whole
  /// request is complete.
  std::size_t feed(std::string_view bytes);

  const std::optional<BadRequest>& failure() const { return failure_; }
  RequestHead& head() { return head_; }
  bool wants_continue() const { return wants_continue_; }
  bool is_http11() const { return is_http11_; }
  /// Where the body's bytes are appended from now on.
  void set_body(std::string* body) { body_ = body; }
  std::uint64_t body_bytes() const { return body_bytes_; }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void fail(error_code error);
  void check_head();
  void replace_host();

  void on_request_impl(boost::beast::http::verb verb, string_view method, string_view target,
                       int version, error_code& error) override;
  void on_field_impl(boost::beast::http::field field, string_view name, string_view value,
                     error_code& error) override;
  void on_header_impl(error_code& error) override;
  std::size_t on_body_impl(string_view bytes, error_code& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, string_view bytes,
                                 error_code& error) override;
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  void on_finish_impl(error_code&) override {}

  RequestHead head_{};
  std::string_view fed_{};
  std::optional<BadRequest> failure_{};
  std::optional<std::string> authority_{};  ///< Of a target that names one.
  std::string* body_ = nullptr;
  std::uint64_t body_bytes_ = 0;
  std::size_t head_bytes_ = 0;
  std::size_t header_limit_;
  int hosts_ = 0;
  bool is_http11_ = false;
  bool wants_continue_ = false;
  bool has_other_expectation_ = false;
  bool has_transfer_encoding_ = false;
  bool has_other_transfer_encoding_ = false;
  bool has_folded_header_ = false;
  bool head_done_ = false;
};

}  // namespace berth::io
