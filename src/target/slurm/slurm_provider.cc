// SPDX-License-Identifier: Apache-2.0
#include "target/slurm/slurm_provider.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/environment.h"
#include "base/log.h"
#include "base/text.h"
#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::target::slurm {
namespace {

Status check_id(const model::NodeId& id) {
  if (is_resource_name(id.text)) return Done{};
  return fail(Code::InvalidArgument, fmt::format("'{}' cannot name a node", id.text));
}

/// What the commands see, and with sbatch the job too: nothing of ours, and no variable by which
/// Slurm's commands take options.
std::map<std::string, std::string> command_environment(const std::string& config) {
  constexpr std::array kKept = std::to_array<std::string_view>(
      {"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "SLURM_CONF", "USER"});
  std::map<std::string, std::string> environment = io::current_environment();
  // The node has it as its own: somebody's virtual environment is not to be on it.
  environment["PATH"] = path_outside_environments(environment);
  std::erase_if(environment, [&](const auto& variable) {
    return std::ranges::find(kKept, variable.first) == kKept.end();
  });
  if (!config.empty()) environment["SLURM_CONF"] = config;
  return environment;
}

std::string only_mine() { return fmt::format("--user={}", ::geteuid()); }

/// What it said, short enough for a message.
std::string first_line(const io::CommandOutput& output) {
  const std::string_view said = trim(output.error).empty() ? output.out : output.error;
  const std::string_view line = split(trim(said), '\n').front().substr(0, 300);
  if (line.empty()) return fmt::format("it ended with status {}", output.exit_code);
  return to_valid_utf8(line);
}

/// Slurm is away, which says nothing about what was asked of it.
bool may_pass(const std::string& message) {
  constexpr std::array kSigns = std::to_array<std::string_view>(
      {"ontact slurm controller", "timed out", "emporarily", "Zero Bytes", "onnection refused",
       "standby", "ommunication", "try again", "unable to establish"});
  return std::ranges::any_of(
      kSigns, [&](std::string_view sign) { return message.find(sign) != std::string::npos; });
}

tl::unexpected<Error> failed(const std::string& program, const io::CommandOutput& output) {
  return fail(Code::Unavailable, fmt::format("'{}' failed: {}", program, first_line(output)));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

SlurmProvider::SlurmProvider(model::SlurmSettings settings, Owner owner, std::string executable,
                             Duration command_limit)
    : settings_(std::move(settings)),
      owner_(std::move(owner)),
      executable_(std::move(executable)),
      command_limit_(command_limit) {}

Result<io::CommandOutput> SlurmProvider::run(const std::string& program,
                                             std::vector<std::string> arguments,
                                             std::string input) const {
  const std::string& directory = settings_.bin_directory;
  arguments.insert(arguments.begin(), directory.empty() ? program : directory + "/" + program);
  Result<io::CommandOutput> ran =
      io::run_command({.command = std::move(arguments),
                       .environment = command_environment(settings_.config),
                       .input = std::move(input),
                       .time_limit = command_limit_});
  if (ran) return ran;
  if (ran.error().code == Code::NotFound) {
    return fail(Code::NotFound,
                fmt::format("there is no '{}' {}: Slurm's commands must be on the "
                            "server's machine",
                            program, directory.empty() ? "on the PATH" : "in " + directory));
  }
  return fail(Code::Unavailable, ran.error().message);
}

Result<std::vector<QueuedJob>> SlurmProvider::list_jobs(std::vector<std::string> filter) const {
  filter.push_back(only_mine());
  filter.push_back(fmt::format("--format={}", kQueueFormat));
  for (const char* word : {"--all", "--states=all", "--noheader"}) filter.emplace_back(word);
  const io::CommandOutput output = TRY(run("squeue", std::move(filter)));
  if (output.exit_code != 0) return failed("squeue", output);
  return parse_queue(output.out);
}

Result<bool> SlurmProvider::is_there(const model::NodeId& id) const {
  const std::vector<QueuedJob> jobs = TRY(list_jobs({"--name=" + tag(id)}));
  return std::ranges::any_of(jobs, [&](const QueuedJob& job) {
    return job.name == tag(id) && liveness_of(job.state) != Liveness::Gone;
  });
}

Status SlurmProvider::start(const NodeSpec& spec) {
  TRY(check_id(spec.id));
  const std::string authority = TRY(io::read_file(spec.ca_file, 64 * 1024));
  std::string script = TRY(pilot_script(settings_, executable_, spec, authority));
  if (TRY(is_there(spec.id))) return Done{};
  const io::CommandOutput output =
      TRY(run("sbatch", submit_arguments(settings_, owner_, spec), std::move(script)));
  if (output.exit_code != 0) {
    const std::string why = first_line(output);
    return fail(may_pass(output.error) ? Code::Unavailable : Code::InvalidArgument,
                fmt::format("'sbatch' refused: {}", why));
  }
  // "17", or "17;cluster". Whatever else it means, the next call finds the job if there is one.
  const std::string_view job = split(trim(output.out), ';').front();
  if (!is_number(job)) {
    return fail(Code::Unavailable, fmt::format("'sbatch' printed no job id but '{}'",
                                               to_valid_utf8(job.substr(0, 100))));
  }
  log::info("node '{}' is job {} of Slurm", spec.id.text, job);
  return Done{};
}

Result<std::vector<ObservedNode>> SlurmProvider::observe() {
  return nodes_among(TRY(list_jobs({})), tag_prefix(owner_));
}

Status SlurmProvider::stop(const model::NodeId& id) {
  TRY(check_id(id));
  const io::CommandOutput output = TRY(run("scancel", {only_mine(), "--name=" + tag(id)}));
  if (output.exit_code == 0) return Done{};
  // It may have ended between scancel's look and its request.
  if (!TRY(is_there(id))) return Done{};
  return failed("scancel", output);
}

}  // namespace berth::target::slurm
