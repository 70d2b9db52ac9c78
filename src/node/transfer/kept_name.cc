// SPDX-License-Identifier: Apache-2.0
#include "node/transfer/kept_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "model/assets/reference.h"

namespace berth::node {
namespace {

constexpr std::size_t kLongestSegment = 255;  ///< Of a file's name, on the systems people have.
constexpr std::size_t kDigestLength = 16;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// How many bytes the character at the front has; 0 when it is no UTF-8.
std::size_t length_of_character(std::string_view text) {
  for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    if (is_valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

/// '%' too, so that what was escaped can be told from what was not.
std::string escaped(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::size_t length = length_of_character(path);
    const char first = path.front();
    if (length == 0 || is_control(first) || first == '\\' || first == '%') {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(first));
      path.remove_prefix(1);
    } else {
      result += path.substr(0, length);
      path.remove_prefix(length);
    }
  }
  return result;
}

/// The most of it that fits, without half a character or half an escape at its end.
std::string cut(std::string_view text, std::size_t most) {
  text = text.substr(0, most);
  while (!text.empty() && !is_valid_utf8(text)) text.remove_suffix(1);
  const std::size_t escape = text.rfind('%');
  if (escape != std::string_view::npos && escape + 3 > text.size()) text = text.substr(0, escape);
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

std::string digest_of(std::string_view path) {
  return "~" + to_hex(sha256(path)).substr(0, kDigestLength);
}

std::string with_digest(std::string_view text, std::size_t most, std::string_view path) {
  const std::string digest = digest_of(path);
  return cut(text, most - std::min(most, digest.size())) + digest;
}

/// Each part of the path, and then all of it, within its limit.
std::string shortened(const std::string& name, std::size_t longest, std::string_view path) {
  std::string result;
  for (const std::string_view segment : split(name, '/')) {
    if (!result.empty()) result += '/';
    result += segment.size() <= kLongestSegment ? std::string(segment)
                                                : with_digest(segment, kLongestSegment, segment);
  }
  return result.size() <= longest ? result : with_digest(result, longest, path);
}

bool can_stay(const std::string& path, std::size_t longest) {
  return path.size() <= longest && model::checked_blob_path(path).has_value();
}

}  // namespace

KeptNames::KeptNames(const std::vector<io::FileEntry>& files, std::size_t longest)
    : longest_(longest) {
  for (const io::FileEntry& file : files) {
    if (!can_stay(file.path, longest_)) continue;
    taken_.insert(file.path);
    for (std::size_t slash = file.path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = file.path.rfind('/', slash - 1)) {
      if (!taken_.insert(file.path.substr(0, slash)).second) break;
    }
  }
}

std::string KeptNames::name_of(const std::string& path) {
  if (can_stay(path, longest_)) return path;
  std::string name = shortened(escaped(path), longest_, path);
  for (int number = 2; !taken_.insert(name).second; ++number) {
    name = with_digest(escaped(path), std::min(longest_, name.size() + kDigestLength + 1),
                       fmt::format("{}#{}", path, number));
  }
  return name;
}

std::string shown_path(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::size_t length = length_of_character(path);
    const char first = path.front();
    if (first == '\n') {
      result += "\\n";
    } else if (first == '\\') {
      result += "\\\\";
    } else if (length == 0 || is_control(first)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(first));
    } else {
      result += path.substr(0, length);
    }
    path.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

}  // namespace berth::node
