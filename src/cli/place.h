// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace berth::cli {

/// Where a command runs: the environment, read once, and what follows from it.
struct Place {
  std::map<std::string, std::string> environment{};
  std::string directory{};  ///< The working directory, absolute.
  std::string user_home{};  ///< $HOME; may be empty.
  std::string home{};  ///< Berth's state: $BERTH_HOME, $XDG_DATA_HOME/berth, ~/.local/share/berth.

  /// An environment variable; empty when it is not set.
  std::string variable(const std::string& name) const;
  /// The path as seen from the working directory.
  std::string absolute(const std::string& path) const;
};

Result<Place> place_of(std::map<std::string, std::string> environment, std::string directory);
Result<Place> current_place();

}  // namespace berth::cli
