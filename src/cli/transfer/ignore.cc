// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/ignore.h"

#include <optional>

#include "base/text.h"

namespace berth::cli {
namespace {

/// Reads a bracket expression at pattern[at] == '['. Nothing when it never closes: then '[' is
/// itself.
struct Bracket {
  bool contains = false;
  std::size_t end = 0;  ///< Behind the ']'.
};

std::optional<Bracket> read_bracket(std::string_view pattern, std::size_t at, char c) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool contains = false;
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) return Bracket{contains != negated, i + 1};
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const char low = pattern[i++];
    char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = pattern[i + 1];
      i += 2;
    }
    contains = contains || (low <= c && c <= high);
  }
  return std::nullopt;
}

/// Matches one character; returns where the pattern goes on, or nothing.
std::optional<std::size_t> match_one(std::string_view pattern, std::size_t at, char c) {
  if (at >= pattern.size()) return std::nullopt;
  if (pattern[at] == '?') return at + 1;
  if (pattern[at] == '[') {
    if (const auto bracket = read_bracket(pattern, at, c)) {
      return bracket->contains ? std::optional(bracket->end) : std::nullopt;
    }
  }
  if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
  return pattern[at] == c ? std::optional(at + 1) : std::nullopt;
}

bool match_segments(std::span<const std::string> pattern, std::span<const std::string_view> path) {
  std::size_t p = 0;
  std::size_t s = 0;
  std::optional<std::size_t> star;  // The last "**", and how far it reached.
  std::size_t star_end = 0;
  while (s < path.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = p++;
      star_end = s;
    } else if (p < pattern.size() && matches_glob(pattern[p], path[s])) {
      ++p;
      ++s;
    } else if (star) {
      p = *star + 1;
      s = ++star_end;
    } else {
      return false;
    }
  }
  // "a/**" is about what lies in a, not about a itself.
  return p == pattern.size();
}

/// Trailing spaces do not count unless a backslash protects the last one.
std::string_view without_trailing_spaces(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) {
    if (line.size() > 1 && line[line.size() - 2] == '\\') break;
    line.remove_suffix(1);
  }
  return line;
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::optional<std::size_t> star;
  std::size_t star_end = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = t;
    } else if (const auto next = match_one(pattern, p, text[t])) {
      p = *next;
      ++t;
    } else if (star) {
      p = *star + 1;
      t = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

IgnoreRules IgnoreRules::parse(std::string_view text) {
  IgnoreRules rules;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (const std::string_view line : split(text, '\n')) {
    Rule rule;
    if (read_rule(without_trailing_spaces(line), rule)) rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

bool IgnoreRules::read_rule(std::string_view line, Rule& rule) {
  if (line.empty() || line.front() == '#') return false;
  if (line.front() == '!') {
    rule.keeps = true;
    line.remove_prefix(1);
  } else if (line.starts_with("\\#") || line.starts_with("\\!")) {
    line.remove_prefix(1);
  }
  while (line.ends_with('/')) {
    rule.only_folders = true;
    line.remove_suffix(1);
  }
  const bool anchored = line.find('/') != std::string_view::npos;
  if (!anchored) rule.segments.emplace_back("**");
  for (const std::string_view segment : split(line, '/')) {
    if (!segment.empty()) rule.segments.emplace_back(segment);
  }
  return !line.empty() && rule.segments.size() > (anchored ? 0u : 1u);
}

bool IgnoreRules::matches(std::string_view path, bool is_folder) const {
  const std::vector<std::string_view> segments = split(path, '/');
  if (segments.back() == ".git") return true;
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->only_folders && !is_folder) continue;
    if (match_segments(rule->segments, segments)) return !rule->keeps;
  }
  return false;
}

bool IgnoreRules::folder_left_out(std::string_view path) const {
  if (path.empty()) return false;
  if (const auto known = folders_.find(path); known != folders_.end()) return known->second;
  const std::size_t slash = path.rfind('/');
  const std::string_view parent = slash == std::string_view::npos ? "" : path.substr(0, slash);
  const bool left_out = folder_left_out(parent) || matches(path, true);
  folders_.emplace(path, left_out);
  return left_out;
}

bool IgnoreRules::leaves_out(std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos && folder_left_out(path.substr(0, slash))) return true;
  return matches(path, false);
}

}  // namespace berth::cli
