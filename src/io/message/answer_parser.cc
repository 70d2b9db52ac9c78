// SPDX-License-Identifier: Apache-2.0
#include "io/message/answer_parser.h"

#include <boost/beast/http/error.hpp>

#include "base/text.h"

namespace berth::io {
namespace http = boost::beast::http;

AnswerParser::AnswerParser(std::uint32_t head_limit, bool answers_head) : head_limit_(head_limit) {
  header_limit(head_limit);
  body_limit(boost::none);
  skip(answers_head);
}

std::size_t AnswerParser::feed(std::string_view bytes) {
  error_code error;
  const std::size_t taken = put({bytes.data(), bytes.size()}, error);
  if (error && error != http::error::need_more) is_bad_ = true;
  return taken;
}

AnswerParser::Field AnswerParser::field(std::size_t index) const {
  const Place& place = fields_[index];
  const std::string_view all = text_;
  return {all.substr(place.begin, place.name), all.substr(place.begin + place.name, place.value)};
}

void AnswerParser::on_response_impl(int status, string_view reason, int version,
                                    error_code& error) {
  status_ = status;
  is_http11_ = version == 11;
  reason_.assign(reason.data(), reason.size());
  text_.reserve(512);
  fields_.reserve(16);
  if (status < 100 || status > 599) error = http::error::bad_status;
}

void AnswerParser::on_field_impl(http::field field, string_view name, string_view value,
                                 error_code& error) {
  if (text_.size() + name.size() + value.size() > head_limit_) {
    error = http::error::header_limit;
    return;
  }
  if (field == http::field::transfer_encoding) {
    has_transfer_encoding_ = true;
    if (!equals_ignoring_case({value.data(), value.size()}, "chunked")) {
      has_other_transfer_encoding_ = true;
    }
  }
  fields_.push_back({.begin = static_cast<std::uint32_t>(text_.size()),
                     .name = static_cast<std::uint32_t>(name.size()),
                     .value = static_cast<std::uint32_t>(value.size())});
  text_.append(name.data(), name.size()).append(value.data(), value.size());
}

void AnswerParser::on_header_impl(error_code& error) {
  if (has_other_transfer_encoding_ || (has_transfer_encoding_ && !is_http11_)) {
    error = http::error::bad_transfer_encoding;
  }
}

}  // namespace berth::io
