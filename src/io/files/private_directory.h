// SPDX-License-Identifier: Apache-2.0
// A directory that is for its owner alone, with everything in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::io {

struct PrivateDirectory {
  std::string path{};
  /// A file that is there when the directory is ours and not just any. One without it is closed to
  /// others only if it holds nothing but `known`: nobody wants to lose the mode of /tmp.
  std::string_view mark{};
  std::span<const std::string_view> known{};
  /// Names that stay as they are.
  std::span<const std::string_view> open{};
  /// Folders of which only the first two levels are looked at.
  std::span<const std::string_view> shallow{};
};

/// Refuses a directory that belongs to somebody else, or that is open to others and is not ours to
/// close. One that is not there yet is fine, unless it would be made in the home of the user whom
/// sudo was called by. Changes nothing.
Status check_private(const PrivateDirectory& directory);

/// Takes away what others may do with the directory and with what is in it, and says what it
/// changed. All of it is looked at when the directory itself or something at its top was open;
/// otherwise nobody could have come in, and the top is enough. Refuses what belongs to somebody
/// else: neither we nor root.
Result<std::vector<std::string>> make_private(const PrivateDirectory& directory);

/// "alice", or the number of a user without a name.
std::string user_name(unsigned uid);

}  // namespace berth::io
