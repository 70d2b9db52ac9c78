// SPDX-License-Identifier: Apache-2.0
#include "cli/output/quote.h"

namespace berth::cli {
namespace {

bool is_plain(char c) {
  const bool alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

std::string quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace

std::string shell_quote(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  return quoted(word);
}

std::string command_line(std::span<const std::string> words) {
  if (words.size() == 1) return words.front();
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    // A first word like A=1 would be taken for an assignment; quotes keep it a program's name.
    const bool is_assignment = line.empty() && word.find('=') != std::string::npos;
    line += is_assignment ? quoted(word) : shell_quote(word);
  }
  return line;
}

}  // namespace berth::cli
