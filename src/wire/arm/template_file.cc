// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/template_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace berth::wire::arm {
namespace {

namespace json = boost::json;

/// Plain JSON, and for each of its bytes the byte of the file that it came from.
struct Plain {
  std::string text{};
  std::vector<std::size_t> origins{};

  void add(char byte, std::size_t origin) {
    text += byte;
    origins.push_back(origin);
  }
};

std::string place_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column = at - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return fmt::format("line {}, column {}", line, column);
}

/// A text from its opening quote on; where it ends. Its line breaks become "\n".
std::size_t copy_text(std::string_view text, std::size_t at, Plain& plain) {
  plain.add(text[at], at);
  for (++at; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '\r' && text.substr(at + 1, 1) == "\n") continue;
    if (byte == '\n' || byte == '\t') {
      plain.add('\\', at);
      plain.add(byte == '\n' ? 'n' : 't', at);
      continue;
    }
    plain.add(byte, at);
    if (byte == '"') return at + 1;
    if (byte == '\\' && at + 1 < text.size()) plain.add(text[at + 1], at + 1), ++at;
  }
  return at;
}

Result<Plain> plain_of(std::string_view text) {
  Plain plain;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = copy_text(text, at, plain);
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      if (end == std::string_view::npos) {
        return fail(Code::InvalidArgument,
                    fmt::format("{}: the comment that begins here has no end", place_of(text, at)));
      }
      at = end + 2;
    } else {
      plain.add(text[at], at);
      ++at;
    }
  }
  return plain;
}

}  // namespace

Result<json::value> value_from_template_file(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const Plain plain = TRY(plain_of(text));
  json::stream_parser parser;
  boost::system::error_code failed;
  const std::size_t read = parser.write_some(plain.text.data(), plain.text.size(), failed);
  std::size_t at = read;
  if (!failed) {
    at = plain.text.find_first_not_of(" \t\r\n", read);
    if (at != std::string::npos) {
      return fail(Code::InvalidArgument, fmt::format("{}: there is more than one value",
                                                     place_of(text, plain.origins[at])));
    }
    parser.finish(failed);
    at = plain.text.size();
  }
  if (!failed) return parser.release();
  const std::size_t origin = at < plain.origins.size() ? plain.origins[at] : text.size();
  return fail(Code::InvalidArgument,
              fmt::format("{}: this is not JSON ({})", place_of(text, origin), failed.message()));
}

}  // namespace berth::wire::arm
