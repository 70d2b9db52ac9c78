// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/file.h"

namespace berth::node {

inline constexpr std::size_t kLongestBlobPath = 1024;  ///< As model::checked_blob_path has it.

/// Under which names the files of a folder are kept. A file may have a name that a blob cannot
/// have, nor a file of another system: with a backslash, a newline, bytes that are not UTF-8, or
/// longer than a blob's. What cannot stay is escaped as in an address ("a%0Ab"), what is too long
/// is cut and ends in a part of its SHA-256. Never the name of another file of the folder.
class KeptNames {
 public:
  /// `longest` is for the whole path below the folder.
  KeptNames(const std::vector<io::FileEntry>& files, std::size_t longest);

  /// Its own, where that is possible. To be asked once for each file.
  std::string name_of(const std::string& path);

 private:
  std::set<std::string> taken_{};  ///< Files, and the folders that they are in.
  std::size_t longest_;
};

/// A path as it may be shown to people and written into one line: "a\nb", "\xff".
std::string shown_path(std::string_view path);

}  // namespace berth::node
