// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

/// Where a command prints: its answer to `out`, everything else to `err`. Tests give it files.
struct Console {
  int out_fd = 1;
  int err_fd = 2;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool out_has_color = false;
  bool err_has_color = false;
  int width = 80;            ///< Of the terminal, in columns.
  bool only_errors = false;  ///< --only-show-errors
  bool verbose = false;      ///< --verbose, --debug

  /// is_closed_pipe() tells the error of a reader that went away from others.
  Status out(std::string_view text) const;

  void error(std::string_view message) const;    ///< "error: …"
  void warning(std::string_view message) const;  ///< "warning: …"
  void note(std::string_view message) const;     ///< One line, unless --only-show-errors.
  void detail(std::string_view message) const;   ///< One line, with --verbose only.

  /// A line that the next one replaces; only on a terminal. clear_progress() takes it away, and so
  /// does whatever is printed next.
  void progress(std::string_view message) const;
  void clear_progress() const;

  std::shared_ptr<std::atomic<bool>> has_progress = std::make_shared<std::atomic<bool>>(false);
};

bool is_closed_pipe(const Error& error);

/// stdout and stderr as they are. NO_COLOR and TERM=dumb turn colours off.
Console process_console(bool allow_color);

/// Text of others made safe to show: control characters are escaped, broken UTF-8 replaced.
std::string printable(std::string_view text);

}  // namespace berth::cli
