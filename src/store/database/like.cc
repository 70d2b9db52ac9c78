// SPDX-License-Identifier: Apache-2.0
#include "store/database/like.h"

namespace berth::store {
namespace {

char folded(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Past the character, of one or several bytes, that begins here.
std::size_t after_character(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U);
  return at;
}

}  // namespace

bool is_like(std::string_view text, std::string_view pattern, bool heeds_case) {
  const auto is_same = [heeds_case](char left, char right) {
    return heeds_case ? left == right : folded(left) == folded(right);
  };
  std::size_t at = 0;
  std::size_t wanted = 0;
  // Where to go on when what follows the last '%' does not fit: one character further.
  std::size_t after_any = std::string_view::npos;
  std::size_t retry = 0;
  while (at < text.size()) {
    if (wanted < pattern.size() && pattern[wanted] == '%') {
      after_any = ++wanted;
      retry = at;
    } else if (wanted < pattern.size() && pattern[wanted] == '_') {
      at = after_character(text, at);
      ++wanted;
    } else if (wanted < pattern.size() && is_same(pattern[wanted], text[at])) {
      ++at;
      ++wanted;
    } else if (after_any != std::string_view::npos) {
      at = retry = after_character(text, retry);
      wanted = after_any;
    } else {
      return false;
    }
  }
  while (wanted < pattern.size() && pattern[wanted] == '%') ++wanted;
  return wanted == pattern.size();
}

}  // namespace berth::store
