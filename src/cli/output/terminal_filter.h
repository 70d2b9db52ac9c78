// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::cli {

/// Makes a job's log safe to show on a terminal: colours (SGR), newlines, returns and tabs pass,
/// every other control character is escaped. Bytes may arrive in any pieces.
class TerminalFilter {
 public:
  std::string filter(std::string_view bytes);
  std::string finish();  ///< What was held back, waiting for its end.

 private:
  std::string held_{};
};

}  // namespace berth::cli
