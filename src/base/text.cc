// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace berth {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_alphanumeric(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9');
}

/// Damerau-Levenshtein (optimal string alignment): edits and swaps of neighbours. Both in one case.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  const std::size_t width = right.size() + 1;
  std::vector<std::size_t> before_last(width);
  std::vector<std::size_t> last(width);
  std::vector<std::size_t> row(width);
  for (std::size_t j = 0; j < width; ++j) last[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t cost = left[i - 1] == right[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + cost});
      const bool swapped =
          i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[right.size()];
}

/// -1 for what is not a hex digit.
int hex_value(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  const char small = lower(letter);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

bool is_continuation(char letter) { return (static_cast<unsigned char>(letter) & 0xc0) == 0x80; }

/// The length of the well-formed character at the start, 0 if there is none.
std::size_t utf8_length(std::string_view bytes) {
  const auto at = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4 || bytes.size() < length) return 0;
  for (std::size_t index = 1; index < length; ++index) {
    if (!is_continuation(bytes[index])) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  if (first == 0xe0 && at(1) < 0xa0) return 0;
  if (first == 0xed && at(1) > 0x9f) return 0;
  if (first == 0xf0 && at(1) < 0x90) return 0;
  if (first == 0xf4 && at(1) > 0x8f) return 0;
  return length;
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), lower);
  return small;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return left.size() == right.size() && starts_with_ignoring_case(left, right);
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char left, char right) { return lower(left) == lower(right); });
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  // Nobody mistypes a name this long; comparing it would only cost time.
  constexpr std::size_t kLongest = 128;
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  const std::string wanted = to_lower(word);
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::optional<std::string_view> found;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(wanted, to_lower(candidate));
    // Fewer edits than letters, or any two-letter word would be near any other.
    if (distance >= best || distance >= std::max(word.size(), candidate.size())) continue;
    best = distance;
    found = candidate;
  }
  return found;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = bytes.front() == '\0' ? 0 : utf8_length(bytes);
    if (length == 0) {
      text += "\xef\xbf\xbd";
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

bool is_valid_utf8(std::string_view bytes) {
  const auto is_ascii = [](char letter) { return static_cast<unsigned char>(letter) < 0x80; };
  for (std::size_t at = 0; at < bytes.size();) {
    if (is_ascii(bytes[at])) {
      ++at;
      continue;
    }
    const std::size_t length = utf8_length(bytes.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t index = 0; index < text.size(); ++index) {
    char letter = text[index];
    if (letter == '%') {
      const int high = index + 2 < text.size() ? hex_value(text[index + 1]) : -1;
      const int low = index + 2 < text.size() ? hex_value(text[index + 2]) : -1;
      if (high < 0 || low < 0) {
        return fail(Code::InvalidArgument, fmt::format("broken escape in '{}'", text));
      }
      letter = static_cast<char>(high * 16 + low);
      index += 2;
    }
    if (letter == '\0') return fail(Code::InvalidArgument, "NUL in percent-encoded text");
    decoded += letter;
  }
  return decoded;
}

std::string percent_encode(std::string_view text, bool keep_slashes) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char letter : text) {
    const bool plain = is_alphanumeric(letter) ||
                       std::string_view("-._~").find(letter) != std::string_view::npos ||
                       (keep_slashes && letter == '/');
    if (plain) {
      encoded += letter;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return encoded;
}

std::string to_hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char letter : bytes) {
    const auto byte = static_cast<unsigned char>(letter);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t start = 0; start < bytes.size(); start += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - start);
    unsigned group = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      const unsigned byte = index < count ? static_cast<unsigned char>(bytes[start + index]) : 0u;
      group = group << 8 | byte;
    }
    for (std::size_t index = 0; index < 4; ++index) {
      text += index <= count ? kBase64[group >> (18 - 6 * index) & 63] : '=';
    }
  }
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  const auto broken = [] { return fail(Code::InvalidArgument, "not valid base64"); };
  std::size_t padding = 0;
  for (; text.ends_with('='); text.remove_suffix(1)) ++padding;
  if (padding > 2 || (text.size() + padding) % 4 != 0) return broken();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  unsigned group = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    const std::size_t value = kBase64.find(letter);
    if (value == std::string_view::npos) return broken();
    group = group << 6 | static_cast<unsigned>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 255);
    group &= (1u << bits) - 1;
  }
  return bytes;
}

bool is_resource_name(std::string_view name) {
  if (name.empty() || name.size() > 255) return false;
  if (!is_alphanumeric(name.front()) && name.front() != '_') return false;
  return std::all_of(name.begin(), name.end(), [](char letter) {
    return is_alphanumeric(letter) || letter == '-' || letter == '_' || letter == '.';
  });
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would print as "1024.0".
  for (; amount >= 1023.95 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace berth
