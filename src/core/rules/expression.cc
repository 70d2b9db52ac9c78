// SPDX-License-Identifier: Apache-2.0
#include "core/rules/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/text.h"

namespace berth::core {
namespace {

constexpr std::string_view kInputs = "inputs.";
constexpr std::string_view kOutputs = "outputs.";

/// A stretch of a command: plain text, or the path inside a ${{…}}.
struct Piece {
  std::string_view text{};
  bool is_path = false;
  bool in_group = false;  ///< Between $[[ and ]].
  bool ends_group = false;
};

/// The ${{path}} at the start of the text: \$\{\{\s*(\S*)\s*\}\}, taking the first "}}".
struct Found {
  std::string_view path{};
  std::size_t length = 0;  ///< Of the whole expression; 0 when there is none.
};

Found expression_at(std::string_view text) {
  if (!text.starts_with("${{")) return {};
  const std::size_t end = text.find("}}", 3);
  if (end == std::string_view::npos) return {};
  const std::string_view path = trim(text.substr(3, end - 3));
  // With space inside it is no expression but somebody's own text.
  if (path.find_first_of(" \t\r\n\f\v") != std::string_view::npos) return {};
  return {.path = path, .length = end + 2};
}

/// Splits text without groups.
void append_pieces(std::string_view text, bool in_group, std::vector<Piece>& pieces) {
  std::size_t plain = 0;
  for (std::size_t at = text.find("${{"); at != std::string_view::npos; at = text.find("${{", at)) {
    const Found found = expression_at(text.substr(at));
    if (found.length == 0) {
      at += 3;
      continue;
    }
    if (at > plain) pieces.push_back({text.substr(plain, at - plain), false, in_group});
    pieces.push_back({found.path, true, in_group});
    at += found.length;
    plain = at;
  }
  if (plain < text.size()) pieces.push_back({text.substr(plain), false, in_group});
}

std::vector<Piece> pieces_of(std::string_view command) {
  std::vector<Piece> pieces;
  std::size_t plain = 0;
  for (std::size_t at = command.find("$[["); at != std::string_view::npos;) {
    const std::size_t end = command.find("]]", at);
    if (end == std::string_view::npos) break;
    std::vector<Piece> group;
    append_pieces(command.substr(at + 3, end - at - 3), true, group);
    const auto is_path = [](const Piece& piece) { return piece.is_path; };
    // Brackets around nothing of ours are the shell's business.
    if (std::none_of(group.begin(), group.end(), is_path)) {
      at = command.find("$[[", at + 3);
      continue;
    }
    group.back().ends_group = true;
    append_pieces(command.substr(plain, at - plain), false, pieces);
    pieces.insert(pieces.end(), group.begin(), group.end());
    plain = end + 2;
    at = command.find("$[[", plain);
  }
  append_pieces(command.substr(plain), false, pieces);
  return pieces;
}

bool is_defined(std::string_view path, const model::JobSpec& spec) {
  if (path.starts_with(kInputs)) {
    return spec.inputs.contains(std::string(path.substr(kInputs.size())));
  }
  return path.starts_with(kOutputs) &&
         spec.outputs.contains(std::string(path.substr(kOutputs.size())));
}

std::vector<std::string> defined_paths(const model::JobSpec& spec) {
  std::vector<std::string> paths;
  for (const auto& [name, input] : spec.inputs) paths.push_back(std::string(kInputs) + name);
  for (const auto& [name, output] : spec.outputs) paths.push_back(std::string(kOutputs) + name);
  return paths;
}

tl::unexpected<Error> undefined(std::string_view path, const model::JobSpec& spec) {
  constexpr std::size_t kListed = 20;
  const std::vector<std::string> known = defined_paths(spec);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  std::string message = fmt::format("'${{{{{}}}}}' is not defined", path);
  if (const auto meant = nearest(path, candidates)) {
    message += fmt::format(" (did you mean '${{{{{}}}}}'?)", *meant);
  }
  const std::span<const std::string> listed(known.data(), std::min(known.size(), kListed));
  message += known.empty() ? "; the job has no inputs or outputs"
                           : fmt::format("; there is: {}", fmt::join(listed, ", "));
  if (known.size() > listed.size()) message += ", …";
  return fail(Code::InvalidArgument, std::move(message), "command");
}

/// Only an input can be left unset, and only inside $[[ … ]].
bool is_unset(const Piece& piece, const model::JobSpec& spec) {
  return piece.in_group && piece.text.starts_with(kInputs) && !is_defined(piece.text, spec);
}

}  // namespace

std::vector<std::string_view> references(std::string_view command) {
  std::vector<std::string_view> paths;
  for (const Piece& piece : pieces_of(command)) {
    if (piece.is_path) paths.push_back(piece.text);
  }
  return paths;
}

Result<std::string> expand(std::string_view command, const model::JobSpec& spec,
                           const std::function<std::string(std::string_view path)>& value_of) {
  std::string expanded;
  std::string group;
  bool drop_group = false;
  for (const Piece& piece : pieces_of(command)) {
    std::string& into = piece.in_group ? group : expanded;
    if (!piece.is_path) {
      into += piece.text;
    } else if (is_unset(piece, spec)) {
      drop_group = true;
    } else if (is_defined(piece.text, spec)) {
      into += value_of(piece.text);
    } else {
      return undefined(piece.text, spec);
    }
    if (!piece.ends_group) continue;
    if (!drop_group) expanded += group;
    group.clear();
    drop_group = false;
  }
  return expanded;
}

}  // namespace berth::core
