// SPDX-License-Identifier: Apache-2.0
#include "cli/output/terminal_filter.h"

#include <optional>

namespace berth::cli {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kLongestColor = 64;

std::string escaped(char c) { return fmt::format("\\x{:02x}", static_cast<unsigned char>(c)); }

bool passes(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7F) || c == '\n' || c == '\r' || c == '\t';
}

/// Length of the colour sequence that `text` begins with; 0: it is something else; nothing: it may
/// still become one.
std::optional<std::size_t> color_length(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  if (text[1] != '[') return 0;
  const std::size_t end = text.find_first_not_of("0123456789;:", 2);
  if (end == std::string_view::npos) {
    return text.size() < kLongestColor ? std::nullopt : std::optional<std::size_t>(0);
  }
  return text[end] == 'm' ? end + 1 : 0;
}

/// U+0080 to U+009F are control characters too.
std::optional<bool> is_c1(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const auto second = static_cast<unsigned char>(text[1]);
  return second >= 0x80 && second < 0xA0;
}

}  // namespace

std::string TerminalFilter::filter(std::string_view bytes) {
  const std::string text = std::exchange(held_, {}) + std::string(bytes);
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest[0] == kEscape) {
      const auto length = color_length(rest);
      if (!length) {
        held_ = rest;
        break;
      }
      safe += *length > 0 ? std::string(rest.substr(0, *length)) : escaped(kEscape);
      at += std::max<std::size_t>(*length, 1);
    } else if (rest[0] == '\xC2') {
      const auto control = is_c1(rest);
      if (!control) {
        held_ = rest;
        break;
      }
      // Half of a character: what follows it is looked at for itself, it may be an escape.
      safe += *control ? escaped(rest[1]) : std::string(1, rest[0]);
      at += *control ? 2 : 1;
    } else {
      passes(rest[0]) ? safe += rest[0] : safe += escaped(rest[0]);
      ++at;
    }
  }
  return safe;
}

std::string TerminalFilter::finish() {
  std::string safe;
  for (const char c : std::exchange(held_, {})) {
    passes(c) ? safe += c : safe += escaped(c);
  }
  return safe;
}

}  // namespace berth::cli
