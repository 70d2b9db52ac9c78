// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "lang/arm_template/characters.h"
#include "lang/arm_template/format.h"
#include "lang/arm_template/functions.h"

namespace berth::lang::arm_template {
namespace {

constexpr std::int64_t kWidest = 10'000;

json::value text_value(std::string_view text) { return json::value(json::string(text)); }

Result<json::value> concat(const Arguments& given) {
  if (given.size() > 0 && given.values[0].is_array()) {
    json::array all;
    for (std::size_t index = 0; index < given.size(); ++index) {
      const json::array& list = *TRY(given.list(index));
      all.insert(all.end(), list.begin(), list.end());
    }
    return all;
  }
  std::string all;
  for (std::size_t index = 0; index < given.size(); ++index) {
    const json::value& value = given.values[index];
    if (value.is_structured()) return given.wrong(index, "text, as the first is");
    all += to_text(value);
  }
  return text_value(all);
}

Result<json::value> format(const Arguments& given) {
  const std::span<const json::value> values(given.values);
  const Result<std::string> text = format_text(TRY(given.text(0)), values.subspan(1));
  if (!text) return given.wrong(text.error().message);
  return text_value(*text);
}

Result<json::value> to_lower_case(const Arguments& given) {
  return text_value(to_lower(TRY(given.text(0))));
}

Result<json::value> to_upper_case(const Arguments& given) {
  std::string text(TRY(given.text(0)));
  for (char& letter : text) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return text_value(text);
}

Result<json::value> trimmed(const Arguments& given) { return text_value(trim(TRY(given.text(0)))); }

Result<json::value> substring(const Arguments& given) {
  const std::string_view text = TRY(given.text(0));
  const auto size = static_cast<std::int64_t>(character_count(text));
  const std::int64_t first = TRY(given.number(1));
  if (first < 0 || first > size) {
    return given.wrong(
        fmt::format("the text has {} characters, it cannot begin at {}", size, first));
  }
  const std::int64_t count = given.size() > 2 ? TRY(given.number(2)) : size - first;
  if (count < 0 || count > size - first) {
    return given.wrong(fmt::format("the text has {} characters behind the first {}, not {}",
                                   size - first, first, count));
  }
  return text_value(
      characters(text, static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
}

Result<json::value> replace(const Arguments& given) {
  std::string_view text = TRY(given.text(0));
  const std::string_view old = TRY(given.text(1));
  const std::string_view with = TRY(given.text(2));
  if (old.empty()) return given.wrong("the text to replace is empty");
  std::string result;
  for (std::size_t at = text.find(old); at != text.npos; at = text.find(old)) {
    result += text.substr(0, at);
    result += with;
    text.remove_prefix(at + old.size());
    if (result.size() > (4u << 20)) return given.wrong("the result is too long");
  }
  return text_value(result += text);
}

/// The separator, or several.
Result<std::vector<std::string_view>> separators(const Arguments& given) {
  std::vector<std::string_view> all;
  if (const json::array* list = given.values[1].if_array()) {
    for (const json::value& element : *list) {
      if (!element.is_string()) return given.wrong("separators are texts");
      all.push_back(text_of(element));
    }
  } else {
    all.push_back(TRY(given.text(1)));
  }
  std::erase(all, std::string_view());
  return all;
}

Result<json::value> split_text(const Arguments& given) {
  const std::string_view text = TRY(given.text(0));
  const std::vector<std::string_view> between = TRY(separators(given));
  json::array parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::ranges::find_if(
        between, [&](std::string_view each) { return text.substr(at).starts_with(each); });
    if (found == between.end()) {
      ++at;
      continue;
    }
    parts.push_back(text_value(text.substr(begin, at - begin)));
    begin = at += found->size();
  }
  parts.push_back(text_value(text.substr(begin)));
  return parts;
}

Result<json::value> join(const Arguments& given) {
  const json::array& list = *TRY(given.list(0));
  const std::string_view between = TRY(given.text(1));
  std::string text;
  for (const json::value& element : list) {
    if (&element != list.data()) text += between;
    if (element.is_structured()) return given.wrong("joins texts and numbers");
    text += to_text(element);
    if (text.size() > (4u << 20)) return given.wrong("the result is too long");
  }
  return text_value(text);
}

Result<json::value> pad_left(const Arguments& given) {
  if (given.values[0].is_structured()) return given.wrong(0, "text or a whole number");
  const std::string text = to_text(given.values[0]);
  const std::int64_t width = TRY(given.number(1));
  if (width < 0 || width > kWidest) return given.wrong("the length is from 0 to 10000");
  const std::string_view with = given.size() > 2 ? TRY(given.text(2)) : std::string_view(" ");
  if (with.size() != 1) return given.wrong("pads with one character");
  const auto have = static_cast<std::int64_t>(character_count(text));
  const auto missing = static_cast<std::size_t>(std::max<std::int64_t>(0, width - have));
  return text_value(std::string(missing, with.front()) + text);
}

Result<json::value> starts_with(const Arguments& given) {
  const std::string_view text = TRY(given.text(0));
  return starts_with_ignoring_case(text, TRY(given.text(1)));
}

Result<json::value> ends_with(const Arguments& given) {
  const std::string_view text = TRY(given.text(0));
  const std::string_view end = TRY(given.text(1));
  return text.size() >= end.size() &&
         equals_ignoring_case(text.substr(text.size() - end.size()), end);
}

/// In characters; -1 when it is not there. Case does not matter.
json::value position(std::string_view text, std::size_t byte) {
  if (byte == std::string_view::npos) return -1;
  return static_cast<std::int64_t>(character_count(text.substr(0, byte)));
}

/// In a text, or, with "equal", of a list: list_functions.cc has that one.
Result<json::value> last_index_of(const Arguments& given) {
  const std::string text = to_lower(TRY(given.text(0)));
  return position(text, text.rfind(to_lower(TRY(given.text(1)))));
}

Result<json::value> string_of(const Arguments& given) {
  return text_value(to_text(given.values[0]));
}

Result<json::value> parse(const Arguments& given) {
  boost::system::error_code failed;
  json::value value = json::parse(TRY(given.text(0)), failed);
  if (failed) return given.wrong("the text is not JSON");
  return value;
}

Result<json::value> encode_base64(const Arguments& given) {
  return text_value(to_base64(TRY(given.text(0))));
}

Result<std::string> decoded(const Arguments& given) {
  const Result<std::string> bytes = from_base64(TRY(given.text(0)));
  if (!bytes) return given.wrong("the text is not base64");
  if (!is_valid_utf8(*bytes)) return given.wrong("what was encoded is not text");
  return *bytes;
}

Result<json::value> decode_base64(const Arguments& given) {
  return text_value(TRY(decoded(given)));
}

Result<json::value> decode_base64_json(const Arguments& given) {
  boost::system::error_code failed;
  json::value value = json::parse(TRY(decoded(given)), failed);
  if (failed) return given.wrong("what was encoded is not JSON");
  return value;
}

Result<json::value> uri_component(const Arguments& given) {
  return text_value(percent_encode(TRY(given.text(0))));
}

Result<json::value> uri_component_to_string(const Arguments& given) {
  const Result<std::string> text = percent_decode(TRY(given.text(0)));
  if (!text) return given.wrong(text.error().message);
  if (!is_valid_utf8(*text)) return given.wrong("what was encoded is not text");
  return text_value(*text);
}

/// The last part of the base is replaced, unless it ends in '/'.
Result<json::value> uri(const Arguments& given) {
  const std::string_view base = TRY(given.text(0));
  std::string_view relative = TRY(given.text(1));
  if (relative.find("://") != relative.npos) return text_value(relative);
  const std::size_t scheme = base.find("://");
  if (scheme == base.npos) return given.wrong("the first argument is no absolute address");
  const std::size_t root = std::min(base.find('/', scheme + 3), base.size());
  if (relative.starts_with('/'))
    return text_value(std::string(base.substr(0, root)) + std::string(relative));
  if (root == base.size()) return text_value(fmt::format("{}/{}", base, relative));
  return text_value(std::string(base.substr(0, base.rfind('/') + 1)) + std::string(relative));
}

Result<json::value> data_uri(const Arguments& given) {
  return text_value("data:text/plain;charset=utf8;base64," + to_base64(TRY(given.text(0))));
}

/// Everything that was given, so that ("ab","c") and ("a","bc") differ.
Result<std::string> hash_of(const Arguments& given) {
  std::string all;
  for (std::size_t index = 0; index < given.size(); ++index) {
    const std::string_view text = TRY(given.text(index));
    all += fmt::format("{}:{}", text.size(), text);
  }
  return sha256(all);
}

Result<json::value> unique_string(const Arguments& given) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  const std::string hash = TRY(hash_of(given));
  std::string text;
  for (std::size_t index = 0; index < 13; ++index) {
    text += kLetters[static_cast<unsigned char>(hash[index]) % kLetters.size()];
  }
  return text_value(text);
}

Result<json::value> guid(const Arguments& given) {
  std::string bytes = TRY(hash_of(given)).substr(0, 16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x50);
  bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
  std::string text = to_hex(bytes);
  for (const std::size_t at : {20u, 16u, 12u, 8u}) text.insert(at, "-");
  return text_value(text);
}

constexpr Function kFunctions[] = {
    {"concat", 1, kAnyNumber, concat},
    {"format", 1, kAnyNumber, format},
    {"toLower", 1, 1, to_lower_case},
    {"toUpper", 1, 1, to_upper_case},
    {"trim", 1, 1, trimmed},
    {"substring", 2, 3, substring},
    {"replace", 3, 3, replace},
    {"split", 2, 2, split_text},
    {"join", 2, 2, join},
    {"padLeft", 2, 3, pad_left},
    {"startsWith", 2, 2, starts_with},
    {"endsWith", 2, 2, ends_with},
    {"lastIndexOf", 2, 2, last_index_of},
    {"string", 1, 1, string_of},
    {"json", 1, 1, parse},
    {"base64", 1, 1, encode_base64},
    {"base64ToString", 1, 1, decode_base64},
    {"base64ToJson", 1, 1, decode_base64_json},
    {"uri", 2, 2, uri},
    {"uriComponent", 1, 1, uri_component},
    {"uriComponentToString", 1, 1, uri_component_to_string},
    {"dataUri", 1, 1, data_uri},
    {"uniqueString", 1, kAnyNumber, unique_string},
    {"guid", 1, kAnyNumber, guid},
};

}  // namespace

std::span<const Function> text_functions() { return kFunctions; }

}  // namespace berth::lang::arm_template
