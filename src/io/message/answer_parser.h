// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// The head of an upstream's answer, read by Beast's HTTP/1 parser. One object per head. The body
/// is not its business.
///
/// As strict as RequestParser about where an answer ends: only "chunked" as transfer coding, only
/// with HTTP/1.1.
class AnswerParser final : public boost::beast::http::basic_parser<false> {
 public:
  /// To HEAD there is no body, whatever the head says.
  AnswerParser(std::uint32_t head_limit, bool answers_head);

  /// Takes what it can of these bytes, never more than the head. Returns how many.
  std::size_t feed(std::string_view bytes);

  bool is_bad() const { return is_bad_; }
  int status() const { return status_; }
  std::string_view reason() const { return reason_; }

  struct Field {
    std::string_view name{};
    std::string_view value{};
  };
  std::size_t fields() const { return fields_.size(); }
  Field field(std::size_t index) const;

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_response_impl(int status, string_view reason, int version, error_code& error) override;
  void on_field_impl(boost::beast::http::field field, string_view name, string_view value,
                     error_code& error) override;
  void on_header_impl(error_code& error) override;
  void on_request_impl(boost::beast::http::verb, string_view, string_view, int,
                       error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

  /// Of one field, in text_: its value follows its name.
  struct Place {
    std::uint32_t begin = 0;
    std::uint32_t name = 0;
    std::uint32_t value = 0;
  };

  std::uint32_t head_limit_;
  int status_ = 0;
  bool is_http11_ = false;
  bool is_bad_ = false;
  bool has_transfer_encoding_ = false;
  bool has_other_transfer_encoding_ = false;
  std::string reason_{};
  std::string text_{};  ///< Of all fields: one allocation, where strings would be many.
  std::vector<Place> fields_{};
};

}  // namespace berth::io
