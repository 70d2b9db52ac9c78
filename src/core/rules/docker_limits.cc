// SPDX-License-Identifier: Apache-2.0
#include "core/rules/docker_limits.h"

#include <fmt/format.h>

#include <charconv>

#include "base/quantity.h"
#include "base/text.h"

namespace berth::core {
namespace {

using Limit = std::optional<std::uint64_t>;

tl::unexpected<Error> wrong(std::string_view flag, std::string_view message,
                            const char* target = "resources.docker_args") {
  return fail(Code::InvalidArgument, fmt::format("{}: {}", flag, message), target);
}

Limit unless_zero(std::uint64_t number) { return number == 0 ? Limit() : Limit(number); }

Result<Limit> read_bytes(std::string_view flag, std::string_view text) {
  const auto bytes = bytes_from(text);
  if (!bytes) return wrong(flag, bytes.error().message);
  return unless_zero(*bytes);
}

/// -1 is no limit too.
Result<Limit> read_count(std::string_view flag, std::string_view text) {
  if (text == "-1") return Limit();
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  const bool fits = number <= std::uint64_t{1} << 62;  // Kernels take signed numbers.
  if (failed == std::errc() && stopped == end && fits) return unless_zero(number);
  return wrong(flag, fmt::format("'{}' is not a number of processes", to_valid_utf8(text)));
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    text = text.substr(std::min(text.find_first_not_of(" \t\n\r"), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find_first_of(" \t\n\r")));
    text.remove_prefix(words.back().size());
  }
}

/// Of "--name value", "--name=value" and "-m512m": the flag, and its value when it is in the word.
struct Word {
  std::string_view flag{};
  std::optional<std::string_view> value{};
};

Word taken_apart(std::string_view word) {
  if (const auto equals = word.find('='); equals != word.npos) {
    return {word.substr(0, equals), word.substr(equals + 1)};
  }
  if (word.starts_with("-m") && word.size() > 2) return {word.substr(0, 2), word.substr(2)};
  return {word, std::nullopt};
}

Status take(DockerLimits& limits, std::string_view flag, std::string_view value) {
  if (flag == "--memory" || flag == "-m") limits.memory = TRY(read_bytes(flag, value));
  if (flag == "--shm-size") limits.shared_memory = TRY(read_bytes(flag, value));
  if (flag == "--pids-limit") limits.processes = TRY(read_count(flag, value));
  return Done{};
}

bool is_limit(std::string_view flag) {
  return flag == "--memory" || flag == "-m" || flag == "--shm-size" || flag == "--pids-limit";
}

}  // namespace

Result<DockerLimits> docker_limits(const model::JobResources& resources) {
  DockerLimits limits;
  if (!resources.shm_size.empty()) {
    const auto bytes = bytes_from(resources.shm_size);
    if (!bytes) return wrong("shm_size", bytes.error().message, "resources.shm_size");
    limits.shared_memory = unless_zero(*bytes);
  }
  const auto words = words_of(resources.docker_args);
  for (std::size_t i = 0; i < words.size(); ++i) {
    Word word = taken_apart(words[i]);
    if (!is_limit(word.flag)) continue;
    if (!word.value && i + 1 == words.size()) return wrong(word.flag, "its value is missing");
    TRY(take(limits, word.flag, word.value ? *word.value : words[++i]));
  }
  return limits;
}

}  // namespace berth::core
