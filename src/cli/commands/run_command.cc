// SPDX-License-Identifier: Apache-2.0
// berth run: a job without a file.
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <thread>

#include "base/text.h"
#include "cli/command.h"
#include "cli/commands/job_variables.h"
#include "cli/given.h"
#include "cli/interrupt.h"
#include "cli/output/quote.h"
#include "cli/transfer/stream.h"
#include "cli/transfer/submit.h"
#include "model/array.h"

namespace berth::cli {
namespace {

/// Of a folder nobody named: more than this was hardly meant to be uploaded.
constexpr SnapshotLimits kUnnamedLimits{.files = 20'000, .bytes = 2ull << 30};

Result<std::string> unnamed_code(const Context& context) {
  std::error_code failed;
  const std::string& directory = context.place.directory;
  const bool is_user_home = !context.place.user_home.empty() &&
                            std::filesystem::equivalent(directory, context.place.user_home, failed);
  if (directory == "/" || is_user_home) {
    return fail(Code::InvalidArgument,
                fmt::format("the current folder is the job's code, and '{}' is too much to upload\n"
                            "change to the folder of your program, name it with --code, or run "
                            "without code: --no-code",
                            directory));
  }
  return directory;
}

/// A flag's value as a number from 1 up.
Result<std::int64_t> positive(const Context& context, std::string_view key, std::int64_t otherwise,
                              std::int64_t most) {
  const auto number = TRY(number_flag(context, key));
  if (!number) return otherwise;
  if (*number >= 1 && *number <= most) return *number;
  return fail(Code::InvalidArgument, fmt::format("--{} cannot be {}", key, *number));
}

/// What the words say, before anything is asked of the server.
Result<wire::yaml::JobFile> job_of(const Context& context) {
  const Arguments& arguments = context.arguments;
  wire::yaml::JobFile file;
  file.job.key.name = arguments.get("name");
  file.job.display_name = arguments.get("display-name");
  command_of(file.job.spec.edit()).command = command_line(arguments.rest);
  file.job.spec.edit().compute = arguments.get("on", "local");
  file.job.spec.edit().experiment_name =
      arguments.get("experiment-name", experiment_of(context.place.directory));
  TRY(add_variables(context, file.job.spec.edit()));
  if (arguments.has("timeout")) {
    const std::int64_t seconds = TRY(positive(context, "timeout", 0, std::int64_t{1} << 40));
    file.job.spec.edit().timeout = std::chrono::seconds(seconds);
  }
  command_of(file.job.spec.edit()).resources.instance_count =
      static_cast<int>(TRY(positive(context, "instances", 1, std::numeric_limits<int>::max())));
  if (arguments.has("array")) {
    file.job.spec.edit().work =
        TRY(model::array_from(arguments.get("array"), command_of(file.job.spec)));
  }
  if (arguments.has("no-code")) return file;
  file.code_path = wire::yaml::LocalPath{.path = arguments.has("code")
                                                     ? context.place.absolute(arguments.get("code"))
                                                     : TRY(unnamed_code(context))};
  return file;
}

/// The interrupt may come before the server knows the job; then the first tries find nothing.
void cancel(Client& client, const Console& console, const std::string& job) {
  for (int tries = 0; tries < 20; ++tries) {
    const auto asked = client.post(client.workspace_path(fmt::format("/jobs/{}/cancel", job)));
    if (asked) return;
    if (asked.error().code != Code::NotFound) {
      console.error(fmt::format("cannot cancel '{}': {}", job, asked.error().message));
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// First time: cancel and wait for the end. Second time: leave.
std::function<void(int)> on_interrupt(const Context& context, const std::string& job) {
  return [&context, job](int count) {
    if (count > 1) {
      context.console.note(
          fmt::format("\nleft '{}'; 'berth job stream {}' comes back to it", job, job));
      _exit(130);
    }
    if (context.console.err_is_terminal) {
      context.console.note(
          fmt::format("\ncanceling '{}'; Ctrl-C again leaves without waiting", job));
    }
    Client client(context.client.locate(), context.client.workspace(), context.console);
    cancel(client, context.console, job);
  };
}

void report_end(const Context& context, const model::Job& job, const Shown& shown) {
  const Console& console = context.console;
  if (console.err_is_terminal && console.out_is_terminal && !shown.ends_in_newline)
    console.note("");
  if (job.status == model::JobStatus::Completed) {
    if (console.err_is_terminal) console.note(fmt::format("{} completed", job.key.name));
    return;
  }
  // The exit status says it already; on a terminal, or when there is no exit status, so do we.
  const bool says_more = job.error && job.error->code != "ExitCode";
  const bool exited = job.outcome && job.outcome->ending == model::Ending::Exited &&
                      job.outcome->exit_code != 0 && !says_more;
  if (console.err_is_terminal || !exited) console.error(failure_of(job));
}

Result<int> run(Context& context) {
  if (context.arguments.rest.empty()) {
    return wrong_usage(context, "nothing to run: berth run -- COMMAND…");
  }
  auto file = job_of(context);
  if (!file) return wrong_usage(context, file.error().message);
  TRY(pass_own_environment(context, file->job.spec.edit()));
  const std::string source = file->code_path ? file->code_path->path : context.place.directory;
  const bool is_named = context.arguments.has("code");
  TRY(complete(context, *file, source, is_named ? SnapshotLimits{} : kUnnamedLimits));
  const std::string name = file->job.key.name;

  const InterruptWatch watch(on_interrupt(context, name));
  const Submitted submitted = TRY(submit(context, file->job));
  if (context.console.err_is_terminal) {
    context.console.note(fmt::format("job {} on {}", name, file->job.spec->compute));
  }
  if (context.arguments.has("detach")) {
    return context.console.out(name + "\n") ? 0 : 1;
  }
  const auto shown = show_log(context, name);
  if (!shown) {
    // Nobody reads any more: like any command at the front of a pipe, the job ends.
    cancel(context.client, context.console, name);
    return fail(shown.error());
  }
  const Submitted ended = TRY(get_job(context.client, name));
  report_end(context, ended.job, *shown);
  warn_of_news(context.console, submitted.job, ended.job);
  const bool canceled = ended.job.status == model::JobStatus::Canceled;
  return canceled && watch.was_interrupted() ? 130 : exit_status(ended.job);
}

constexpr Flag kRunFlags[] = {
    {"-n,--name", Takes::Value, "NAME", "the job's name; one is made up otherwise"},
    {"--display-name", Takes::Value, "TEXT", "what lists show"},
    kEnvironment,
    kEnvironmentFile,
    kSecret,
    {"--on", Takes::Value, "TARGET", "where to run: local, or a cluster's name"},
    {"--instances", Takes::Value, "N", "so many nodes of the cluster at once (1)"},
    {"--array", Takes::Value, "RANGE", "one job for each index: 1-50, or 1-50%4 for four at once"},
    {"--experiment-name", Takes::Value, "NAME", "its experiment; the folder's name otherwise"},
    {"--timeout", Takes::Value, "SECONDS", "cancel it after this long"},
    {"--code", Takes::Value, "PATH", "upload this folder or file instead of the current folder"},
    {"--no-code", Takes::Nothing, "", "upload nothing"},
    {"--detach", Takes::Nothing, "", "print the job's name and do not wait"},
};

constexpr Command kCommands[] = {
    {.words = "run",
     .summary = "Run a command as a job and show its output",
     .details =
         R"(The current folder is uploaded as the job's code, without what .amlignore (else .gitignore)
leaves out, and is the command's working directory. Files the command writes to outputs/ are kept.
stdout is the command's output, byte for byte; the exit status is the command's (128 + n after
signal n). Ctrl-C cancels the job.

Of this shell's variables the command gets PATH, VIRTUAL_ENV, CONDA_PREFIX and CONDA_DEFAULT_ENV if
it runs on this machine, and what --env and --env-file name; nothing else.

With --array, each index is a job of its own, <name>_<index>, which finds it in BERTH_ARRAY_INDEX; the
job itself is over when they are. 'berth job list -p NAME' lists them.

One word behind -- is a shell line; several are a command and its arguments.)",
     .examples = R"(  berth run -- python3 train.py --rate 0.1
  berth run -- 'python3 prepare.py && python3 train.py'
  berth run --name first --env SEED=1 -- ./train.sh
  berth run --secret HF_TOKEN --secret WANDB=WANDB_API_KEY -- python3 train.py
  berth run --no-code -- nvidia-smi
  berth run --on pool --instances 2 -- python3 train.py
  berth run --array 1-50%4 -- 'python3 train.py --seed $BERTH_ARRAY_INDEX')",
     .flags = kRunFlags,
     .run = run,
     .takes_rest = true},
};

}  // namespace

std::span<const Command> run_commands() { return kCommands; }

}  // namespace berth::cli
