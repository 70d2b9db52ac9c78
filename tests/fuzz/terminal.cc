// SPDX-License-Identifier: Apache-2.0
// A job's log on somebody's terminal, and the patterns of ignore files.

#include "cli/output/terminal_filter.h"
#include "cli/transfer/ignore.h"
#include "fuzz.h"

using namespace berth;

namespace {

/// Colours and nothing else: ESC [ digits ; … m.
bool is_harmless(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0x1b) {
      const std::size_t end = text.find_first_not_of("0123456789;:", at + 2);
      if (text.substr(at, 2) != "\x1b[" || end == std::string_view::npos || text[end] != 'm') {
        return false;
      }
      at = end;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f) {
      return false;
    } else if (byte == 0xc2 && at + 1 < text.size() &&
               (static_cast<unsigned char>(text[at + 1]) & 0xe0u) == 0x80) {
      return false;  // C1: one character that does what ESC does.
    }
  }
  return true;
}

}  // namespace

FUZZ(input) {
  cli::TerminalFilter whole;
  const std::string shown = whole.filter(input) + whole.finish();
  fuzz::require(is_harmless(shown), "what is shown holds colours only");

  cli::TerminalFilter bytewise;
  std::string pieces;
  for (const char byte : input) pieces += bytewise.filter({&byte, 1});
  pieces += bytewise.finish();
  fuzz::require(is_harmless(pieces), "what is shown piece by piece holds colours only");

  if (input.size() > 512) return;
  const std::string_view path = fuzz::take_line(input);
  (void)cli::IgnoreRules::parse(input).leaves_out(path);
}
