// SPDX-License-Identifier: Apache-2.0
#include "target/slurm/pilot.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::target::slurm {
namespace {

constexpr const char* kTokenEnd = "BERTH_TOKEN";
constexpr const char* kAuthorityEnd = "BERTH_AUTHORITY";

/// As one word of a shell, whatever it holds.
std::string quoted(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

bool is_one_line(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

/// The two texts that stand between marks of ours.
Status check_bodies(const NodeSpec& spec, const std::string& authority) {
  if (spec.token.empty() || !is_one_line(spec.token) || spec.token == kTokenEnd) {
    return fail(Code::InvalidArgument, "a node's token must be one line");
  }
  const bool is_certificate = authority.starts_with("-----BEGIN CERTIFICATE-----\n") &&
                              authority.find(kAuthorityEnd) == std::string::npos &&
                              authority.find('\0') == std::string::npos;
  if (!is_certificate) {
    return fail(Code::InvalidArgument, "the authority's certificate is not PEM text");
  }
  for (const std::string& text : {spec.server_url, spec.id.text}) {
    if (!is_one_line(text)) return fail(Code::InvalidArgument, "a node's address must be one line");
  }
  return Done{};
}

}  // namespace

std::string tag_prefix(const Owner& owner) {
  return fmt::format("berth:{}:{}:", owner.installation, owner.site);
}

std::string pilot_log(const std::string& user, const std::string& job_id) {
  return fmt::format("/tmp/berth-node-{}-{}.log", user, job_id);
}

std::vector<std::string> submit_arguments(const model::SlurmSettings& settings, const Owner& owner,
                                          const NodeSpec& spec) {
  std::vector<std::string> words = settings.options;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", option, value));
  };
  const auto number = [](std::int64_t value) { return value > 0 ? std::to_string(value) : ""; };
  add("partition", settings.partition);
  add("account", settings.account);
  add("qos", settings.qos);
  if (settings.time_limit) add("time", std::to_string(settings.time_limit->count()));
  add("cpus-per-task", number(spec.cores));
  if (spec.memory_mib > 0) add("mem", fmt::format("{}M", spec.memory_mib));
  add("gpus-per-node", number(spec.gpus));
  add("job-name", tag_prefix(owner) + spec.id.text);
  add("comment", tag_prefix(owner) + spec.id.text);
  // Of two jobs of one name at most one runs: a submit that was repeated makes no second node.
  add("dependency", "singleton");
  add("output", pilot_log("%u", "%j"));
  for (const char* word : {"--parsable", "--nodes=1", "--ntasks=1", "--no-requeue", "--export=ALL",
                           "--chdir=/", "--input=/dev/null", "--open-mode=truncate"}) {
    words.emplace_back(word);
  }
  return words;
}

Result<std::string> pilot_script(const model::SlurmSettings& settings,
                                 const std::string& executable, const NodeSpec& spec,
                                 const std::string& authority) {
  TRY(check_bodies(spec, authority));
  std::string options = fmt::format("--name {} --server {} --slots {}", quoted(spec.id.text),
                                    quoted(spec.server_url), spec.slots);
  if (!settings.work_directory.empty()) {
    options += " --work-directory " + quoted(settings.work_directory);
  }
  return fmt::format(
      "#!/bin/sh\n"
      "# A node of Berth. It ends by itself when nobody needs it.\n"
      "umask 077\n"
      "berth={}\n"
      "[ -x \"$berth\" ] || berth=berth\n"
      "exec \"$berth\" node {} --token-file /dev/fd/3 --ca /dev/fd/4 3<<'{}' 4<<'{}'\n"
      "{}\n{}\n"
      "{}{}\n",
      quoted(executable), options, kTokenEnd, kAuthorityEnd, spec.token, kTokenEnd,
      authority.ends_with('\n') ? authority : authority + "\n", kAuthorityEnd);
}

}  // namespace berth::target::slurm
