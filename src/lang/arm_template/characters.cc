// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/characters.h"

namespace berth::lang::arm_template {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; }

}  // namespace

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += begins_character(byte) ? 1 : 0;
  return count;
}

std::size_t byte_of(std::string_view text, std::size_t character) {
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_character(text[at])) continue;
    if (seen++ == character) return at;
  }
  return text.size();
}

std::string_view characters(std::string_view text, std::size_t first, std::size_t count) {
  const std::string_view rest = text.substr(byte_of(text, first));
  return rest.substr(0, byte_of(rest, count));
}

}  // namespace berth::lang::arm_template
