// SPDX-License-Identifier: Apache-2.0
#include "target/slurm/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace berth::target::slurm {
namespace {

constexpr std::size_t kLongest = 1024;
constexpr std::size_t kMostOptions = 64;
constexpr std::chrono::minutes kLongestTime = std::chrono::days(366);

/// Options that say what Berth says itself, or that would make its nodes something else: several
/// jobs, another script, a job of another name or cluster, output elsewhere, no answer.
constexpr std::array kRefused = std::to_array<std::string_view>(
    {"array",    "batch",      "chdir",  "clusters",  "comment",     "cpus-per-task",
     "deadline", "dependency", "error",  "export",    "export-file", "get-user-env",
     "gid",      "help",       "hold",   "input",     "job-name",    "mem",
     "nodes",    "no-requeue", "ntasks", "open-mode", "output",      "parsable",
     "quiet",    "requeue",    "signal", "test-only", "uid",         "usage",
     "verbose",  "version",    "wait",   "workdir",   "wrap"});

struct OwnField {
  std::string_view option;
  std::string_view field;
};
constexpr OwnField kOwnFields[] = {
    {"account", "account"}, {"partition", "partition"}, {"qos", "qos"}, {"time", "time_limit"}};

tl::unexpected<Error> wrong(std::string_view field, std::string_view why) {
  return fail(Code::InvalidArgument, fmt::format("the site's {} {}", field, why),
              "slurm." + std::string(field));
}

bool is_printable(std::string_view text) {
  return is_valid_utf8(text) && std::ranges::all_of(text, [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
         });
}

/// A partition, an account, a QOS: "main", "main,fast", "team@site".
Status check_name(std::string_view field, std::string_view text) {
  constexpr std::string_view kMarks = "_-.,@+:=/";
  const auto is_fine = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  };
  if (text.size() > kLongest) return wrong(field, "is too long");
  if (text.starts_with('-')) return wrong(field, "must not begin with '-'");
  if (std::ranges::all_of(text, is_fine)) return Done{};
  return wrong(field, fmt::format("takes letters, digits and {}", kMarks));
}

Status check_path(std::string_view field, std::string_view text) {
  if (text.empty()) return Done{};
  if (!text.starts_with('/')) return wrong(field, "needs an absolute path");
  if (text.size() > kLongest) return wrong(field, "is too long");
  // Slurm replaces %x in file names, and reads backslashes.
  const bool is_plain = text.find_first_of("%\\") == std::string_view::npos;
  if (!is_plain || !is_printable(text)) {
    return wrong(field, "must not hold '%', '\\' or control characters");
  }
  return Done{};
}

Status check_option_name(std::string_view name) {
  for (const OwnField& own : kOwnFields) {
    if (own.option.starts_with(name)) {
      return wrong("options",
                   fmt::format("hold '--{}': the site has {} for that", name, own.field));
    }
  }
  // sbatch takes any beginning of a name that is unambiguous: '--wra' is '--wrap'.
  const bool is_refused = std::ranges::any_of(
      kRefused, [&](std::string_view refused) { return refused.starts_with(name); });
  if (!is_refused) return Done{};
  return wrong("options", fmt::format("hold '--{}', which Berth sets itself or relies on", name));
}

Status check_option(std::string_view text) {
  if (text.size() > kLongest) return wrong("options", "hold one that is too long");
  if (!is_printable(text)) return wrong("options", "hold a line break or control character");
  const std::string_view name = text.substr(0, text.find('='));
  const bool is_long =
      name.size() > 3 && name.starts_with("--") && std::ranges::all_of(name.substr(2), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (!is_long || name[2] == '-') {
    return wrong("options",
                 fmt::format("hold '{}', which is not written '--name' or '--name=value'", text));
  }
  return check_option_name(name.substr(2));
}

}  // namespace

Status check_settings(const model::SlurmSettings& settings) {
  TRY(check_name("partition", settings.partition));
  TRY(check_name("account", settings.account));
  TRY(check_name("qos", settings.qos));
  if (settings.time_limit && settings.time_limit->count() <= 0) {
    return wrong("time_limit", "must be at least a minute");
  }
  if (settings.time_limit > kLongestTime) return wrong("time_limit", "must be at most a year");
  if (settings.options.size() > kMostOptions) return wrong("options", "are too many");
  for (const std::string& option : settings.options) TRY(check_option(option));
  TRY(check_path("bin_directory", settings.bin_directory));
  TRY(check_path("config", settings.config));
  return check_path("work_directory", settings.work_directory);
}

}  // namespace berth::target::slurm
