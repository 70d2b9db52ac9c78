// SPDX-License-Identifier: Apache-2.0
#include "cli/output/shell.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/output/quote.h"

namespace berth::cli {
namespace {

/// In single quotes, with these texts in place of characters that would end or change them.
std::string single_quoted(std::string_view value, std::string_view quote,
                          std::string_view backslash) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'') {
      text += quote;
    } else if (c == '\\') {
      text += backslash;
    } else {
      text += c;
    }
  }
  return text + "'";
}

/// Docker, direnv and python-dotenv agree on double quotes with these escapes.
std::string double_quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '$') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string assignment(const std::string& name, std::string_view value, Shell shell) {
  switch (shell) {
    case Shell::Posix: return fmt::format("export {}={}\n", name, shell_quote(value));
    case Shell::Fish:
      return fmt::format("set -gx {} {};\n", name, single_quoted(value, "\\'", "\\\\"));
    case Shell::PowerShell:
      return fmt::format("$env:{} = {}\n", name, single_quoted(value, "''", "\\"));
    case Shell::Dotenv: return fmt::format("{}={}\n", name, double_quoted(value));
  }
  return {};
}

}  // namespace

Result<Shell> shell_from(std::string_view name) {
  for (const char* posix : {"sh", "bash", "zsh", "dash", "posix"}) {
    if (equals_ignoring_case(name, posix)) return Shell::Posix;
  }
  if (equals_ignoring_case(name, "fish")) return Shell::Fish;
  if (equals_ignoring_case(name, "powershell") || equals_ignoring_case(name, "pwsh")) {
    return Shell::PowerShell;
  }
  if (equals_ignoring_case(name, "dotenv")) return Shell::Dotenv;
  return fail(
      Code::InvalidArgument,
      fmt::format("'{}' is not a shell we know: sh, bash, zsh, fish, powershell or dotenv", name));
}

std::string assignments(const Variables& variables, Shell shell) {
  std::string text;
  for (const auto& [name, value] : variables) text += assignment(name, value, shell);
  return text;
}

}  // namespace berth::cli
