// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

/// Which files stay out of an upload: the rules of one .amlignore or .gitignore, with git's
/// meaning.
///
/// The last rule that matches decides; a file below a folder that is left out cannot be brought
/// back.
/// `.git` is always left out.
class IgnoreRules {
 public:
  static IgnoreRules parse(std::string_view text);

  /// Of a file, by its path relative to the folder that holds the rules.
  bool leaves_out(std::string_view path) const;

 private:
  struct Rule {
    std::vector<std::string> segments{};  ///< "**" stands for any number of them.
    bool keeps = false;                   ///< It began with '!'.
    bool only_folders = false;
  };
  static bool read_rule(std::string_view line, Rule& rule);
  bool matches(std::string_view path, bool is_folder) const;
  bool folder_left_out(std::string_view path) const;

  std::vector<Rule> rules_{};
  mutable std::map<std::string, bool, std::less<>> folders_{};  ///< Answers already worked out.
};

/// A shell pattern (*, ?, [a-z], [!a], \x) against one path segment.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace berth::cli
