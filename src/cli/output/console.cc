// SPDX-License-Identifier: Apache-2.0
#include "cli/output/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/output/terminal_filter.h"
#include "cli/output/text_width.h"
#include "io/files/file.h"

namespace berth::cli {
namespace {

constexpr std::string_view kClosedPipe = "nobody reads the output any more";

void write_line(int fd, std::string text) {
  text += '\n';
  (void)io::write_all(fd, text);  // With stderr gone there is nobody left to tell.
}

int terminal_width(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string labelled(std::string_view label, std::string_view color, bool colored) {
  if (!colored) return fmt::format("{}:", label);
  return fmt::format("\x1b[{}m{}:\x1b[0m", color, label);
}

/// Messages may have several lines; everything else that could steer a terminal is escaped.
std::string safe_message(std::string_view message) {
  std::string safe;
  for (const std::string_view line : split(message, '\n')) {
    if (!safe.empty()) safe += '\n';
    safe += printable(line);
  }
  return safe;
}

}  // namespace

Console process_console(bool allow_color) {
  Console console;
  console.out_is_terminal = isatty(console.out_fd) == 1;
  console.err_is_terminal = isatty(console.err_fd) == 1;
  console.out_has_color = allow_color && console.out_is_terminal;
  console.err_has_color = allow_color && console.err_is_terminal;
  console.width = terminal_width(console.out_is_terminal ? console.out_fd : console.err_fd);
  return console;
}

Status Console::out(std::string_view text) const {
  clear_progress();
  TerminalFilter filter;  // Whatever the format is: a file may get the bytes, a terminal not.
  const std::string shown = out_is_terminal ? filter.filter(text) + filter.finish() : std::string();
  errno = 0;
  const Status written = io::write_all(out_fd, out_is_terminal ? shown : text);
  if (written) return Done{};
  if (errno == EPIPE) return fail(Code::Internal, std::string(kClosedPipe));
  return fail(written.error().code, "cannot write the output: " + written.error().message);
}

bool is_closed_pipe(const Error& error) { return error.message == kClosedPipe; }

void Console::error(std::string_view message) const {
  clear_progress();
  write_line(err_fd,
             fmt::format("{} {}", labelled("error", "1;31", err_has_color), safe_message(message)));
}

void Console::warning(std::string_view message) const {
  if (only_errors) return;
  clear_progress();
  write_line(err_fd, fmt::format("{} {}", labelled("warning", "1;33", err_has_color),
                                 safe_message(message)));
}

void Console::note(std::string_view message) const {
  if (only_errors) return;
  clear_progress();
  write_line(err_fd, safe_message(message));
}

void Console::detail(std::string_view message) const {
  if (!verbose) return;
  clear_progress();
  write_line(err_fd, safe_message(message));
}

void Console::progress(std::string_view message) const {
  if (!err_is_terminal || only_errors) return;
  const auto columns = static_cast<std::size_t>(width > 1 ? width - 1 : 1);
  (void)io::write_all(err_fd, "\r\x1b[K" + truncated(printable(message), columns));
  *has_progress = true;
}

void Console::clear_progress() const {
  if (has_progress->exchange(false)) (void)io::write_all(err_fd, "\r\x1b[K");
}

namespace {

/// U+202A to U+202E and U+2066 to U+2069 turn the direction of what follows: a name with one in it
/// reads as another.
bool turns_direction(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xE2') return false;
  const auto third = static_cast<unsigned char>(text[2]);
  return (text[1] == '\x80' && third >= 0xAA && third <= 0xAE) ||
         (text[1] == '\x81' && third >= 0xA6 && third <= 0xA9);
}

}  // namespace

std::string printable(std::string_view text) {
  const std::string valid = is_valid_utf8(text) ? std::string(text) : to_valid_utf8(text);
  std::string safe;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    // U+0080 to U+009F are control characters too, two bytes long in UTF-8.
    const bool is_c1 =
        byte == 0xC2 && i + 1 < valid.size() && static_cast<unsigned char>(valid[i + 1]) < 0xA0;
    if (is_c1) {
      safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(valid[++i]));
    } else if (turns_direction(std::string_view(valid).substr(i))) {
      safe += fmt::format("\\u20{:02x}", (valid[i + 1] == '\x81' ? 0x40 : 0) +
                                             (static_cast<unsigned char>(valid[i + 2]) & 0x3Fu));
      i += 2;
    } else if (byte < 0x20 || byte == 0x7F) {
      safe += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : fmt::format("\\x{:02x}", byte);
    } else {
      safe += valid[i];
    }
  }
  return safe;
}

}  // namespace berth::cli
