// SPDX-License-Identifier: Apache-2.0
#include "cli/word_file.h"

#include <iostream>
#include <iterator>
#include <optional>

#include "io/files/file.h"

namespace berth::cli {
namespace {

std::optional<std::string> content_of(const std::string& name, const Place& place) {
  std::string text;
  if (name == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  } else {
    const bool is_below_home = name.starts_with("~/") && !place.user_home.empty();
    auto read =
        io::read_file(is_below_home ? place.user_home + name.substr(1) : place.absolute(name));
    if (!read) return std::nullopt;
    text = *std::move(read);
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string with_file_read(const std::string& word, const Place& place) {
  const std::size_t equals = word.find('=');
  const std::size_t start = equals == std::string::npos ? 0 : equals + 1;
  if (word.size() < start + 2 || word[start] != '@') return word;
  const auto content = content_of(word.substr(start + 1), place);
  return content ? word.substr(0, start) + *content : word;
}

}  // namespace

std::vector<std::string> with_files_read(std::span<const std::string> words, const Place& place) {
  std::vector<std::string> expanded;
  for (const std::string& word : words) expanded.push_back(with_file_read(word, place));
  return expanded;
}

}  // namespace berth::cli
