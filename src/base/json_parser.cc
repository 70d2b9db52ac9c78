// SPDX-License-Identifier: Apache-2.0
// record::parse(). Boost.JSON's own parser is off by one unit in the last place for many a number
// (until 1.83, which has an option for it), so a metric would come back as another one. Here the
// text of a number that is not whole is read again by std::from_chars, which is exact.
#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>

#include "base/record.h"

namespace berth::record {
namespace {

using Failed = boost::system::error_code;

/// What boost::json::parser does with what it reads, but for on_double.
class Builder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  explicit Builder(json::storage_ptr storage) : stack_({}, scratch_, sizeof scratch_) {
    stack_.reset(std::move(storage));
  }
  json::value release() { return stack_.release(); }

  bool on_document_begin(Failed&) { return true; }
  bool on_document_end(Failed&) { return true; }
  bool on_object_begin(Failed&) { return true; }
  bool on_object_end(std::size_t size, Failed&) { return stack_.push_object(size), true; }
  bool on_array_begin(Failed&) { return true; }
  bool on_array_end(std::size_t size, Failed&) { return stack_.push_array(size), true; }
  bool on_key_part(json::string_view text, std::size_t, Failed&) {
    return stack_.push_chars(text), true;
  }
  bool on_key(json::string_view text, std::size_t, Failed&) { return stack_.push_key(text), true; }
  bool on_string_part(json::string_view text, std::size_t, Failed&) {
    return stack_.push_chars(text), true;
  }
  bool on_string(json::string_view text, std::size_t, Failed&) {
    return stack_.push_string(text), true;
  }
  bool on_number_part(json::string_view text, Failed&) { return number_.append(text), true; }
  bool on_int64(std::int64_t number, json::string_view, Failed&) {
    number_.clear();
    return stack_.push_int64(number), true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, Failed&) {
    number_.clear();
    return stack_.push_uint64(number), true;
  }
  bool on_double(double nearly, json::string_view text, Failed&) {
    number_.append(text);
    double number = nearly;
    // What is too large or too small for a double is left as it is: infinite, or zero.
    std::from_chars(number_.data(), number_.data() + number_.size(), number);
    number_.clear();
    return stack_.push_double(number), true;
  }
  bool on_bool(bool value, Failed&) { return stack_.push_bool(value), true; }
  bool on_null(Failed&) { return stack_.push_null(), true; }
  bool on_comment_part(json::string_view, Failed&) { return true; }
  bool on_comment(json::string_view, Failed&) { return true; }

 private:
  unsigned char scratch_[4096];
  json::value_stack stack_;
  std::string number_;
};

}  // namespace

Result<json::value> parse(std::string_view text, json::storage_ptr storage) {
  json::parse_options options;
  options.max_depth = 64;
  json::basic_parser<Builder> parser(options, std::move(storage));
  Failed failed;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), failed);
  if (!failed && read < text.size()) failed = json::error::extra_data;
  if (!failed) return parser.handler().release();
  return fail(Code::InvalidArgument,
              fmt::format("not valid JSON: {} at byte {}", failed.message(), read));
}

}  // namespace berth::record
