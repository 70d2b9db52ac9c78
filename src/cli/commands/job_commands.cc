// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/commands/job_create.h"
#include "cli/commands/job_delete.h"
#include "cli/commands/job_update.h"
#include "cli/commands/job_variables.h"
#include "cli/given.h"
#include "cli/transfer/download.h"
#include "cli/transfer/stream.h"
#include "cli/transfer/submit.h"

namespace berth::cli {
namespace {

constexpr Column kListColumns[] = {
    {"Name", "name"},
    {"Status", "status"},
    {"Display name", "display_name"},
    {"Created", "creation_context.created_at"},
    {"Experiment", "experiment_name"},
    {"Compute", "compute"},
};

Result<std::string> job_name(const Context& context) { return required_name(context, "job"); }

Result<int> list(Context& context) {
  const std::size_t most = TRY(most_results(context));
  const std::string parent = context.arguments.get("parent-job-name");
  const std::string tag = context.arguments.has("tag")
                              ? "&tag=" + percent_encode(context.arguments.get("tag"))
                              : std::string();
  const std::string of = parent.empty() ? "" : "&parentJobName=" + percent_encode(parent);
  const json::array found = TRY(context.client.list(
      context.client.workspace_path("/jobs?" + view_query(context) + tag + of), most));
  json::array views;
  for (const json::value& resource : found) {
    if (!resource.is_object() || views.size() == most) continue;
    const Submitted job = TRY(read_job(resource.get_object()));
    views.push_back(view_of(job, context.client.workspace()));
  }
  if (views.empty() && parent.empty() && context.console.out_is_terminal) {
    context.console.note("no jobs yet; 'berth run -- COMMAND' makes one");
  }
  TRY(context.print({.value = std::move(views), .columns = kListColumns}));
  return 0;
}

Result<int> show(Context& context) {
  const Submitted job = TRY(get_job(context.client, TRY(job_name(context))));
  TRY(context.print({.value = view_of(job, context.client.workspace()), .columns = job_summary()}));
  return 0;
}

Result<int> stream(Context& context) {
  const std::string name = TRY(job_name(context));
  const Submitted job = TRY(get_job(context.client, name));
  TRY(stream_job(context, name, web_view(job)));
  const Submitted ended = TRY(get_job(context.client, name));
  warn_of_news(context.console, {}, ended.job);
  if (ended.job.status == model::JobStatus::Completed) return 0;
  context.console.error(failure_of(ended.job));
  return 1;
}

Result<int> cancel(Context& context) {
  const std::string name = TRY(job_name(context));
  TRY(context.client.post(context.client.workspace_path("/jobs/" + name + "/cancel")));
  if (context.console.err_is_terminal) context.console.note(fmt::format("canceling '{}'", name));
  return 0;
}

Result<int> download(Context& context) {
  const Submitted job = TRY(get_job(context.client, TRY(job_name(context))));
  const DownloadWish wish{
      .directory = context.place.absolute(context.arguments.get("download-path", ".")),
      .output_name = context.arguments.get("output-name"),
      .all = context.arguments.has("all")};
  const std::size_t files = TRY(download_job(context, job.job, wish));
  context.console.note(
      fmt::format("downloaded {} {} to {}", files, files == 1 ? "file" : "files", wish.directory));
  return 0;
}

/// Addresses under which the job can be looked at, by name.
Result<int> show_services(Context& context) {
  const Submitted job = TRY(get_job(context.client, TRY(job_name(context))));
  const json::object view = view_of(job, context.client.workspace());
  const json::value* services = view.if_contains("services");
  TRY(context.print({.value = services == nullptr ? json::value(json::object()) : *services}));
  return 0;
}

Result<int> explain(Context& context) {
  const std::string name = TRY(job_name(context));
  const json::object answer =
      TRY(context.client.get(context.client.berth_path("/jobs/" + name + "/explain")));
  const json::value* text = answer.if_contains("explanation");
  if (context.output.format || !context.output.query.empty() || text == nullptr ||
      !text->is_string()) {
    TRY(context.print({.value = answer}));
    return 0;
  }
  const std::string_view said = text->get_string();
  TRY(context.console.out(
      fmt::format("job '{}' {}\n", name, said.empty() ? "runs" : printable(said))));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the job's name", true};
constexpr Flag kFile = {"-f,--file", Takes::Value, "FILE", "the job's YAML file", true};
constexpr Flag kSet = {"--set", Takes::Several, "a.b=c",
                       "change a key of the file: inputs.rate=0.1"};

constexpr Flag kNameOnly[] = {kName};
constexpr Flag kShowFlags[] = {
    kName, {"-e,--web", Takes::Nothing, "", "ignored: there is no page to open yet"}};

constexpr Flag kCreateFlags[] = {
    kFile,
    kSet,
    {"-n,--name", Takes::Value, "NAME", "the job's name; one is made up otherwise"},
    kEnvironment,
    kEnvironmentFile,
    kSecret,
    {"-s,--stream", Takes::Nothing, "", "follow the job to its end"},
    {"-a,--save-as", Takes::Value, "FILE", "write the job as the server has it to this file"},
    {"-e,--web", Takes::Nothing, "", "ignored: there is no page to open yet"},
    {"--skip-validation", Takes::Nothing, "", "accepted; the file is always checked"},
};

constexpr Flag kServicesFlags[] = {
    kName,
    {"-i,--node-index", Takes::Value, "N", "accepted: a service is the same from every node"}};

constexpr Flag kValidateFlags[] = {kFile, kSet};

constexpr Flag kListFlags[] = {
    {"-r,--max-results", Takes::Value, "N", "at most so many (50)"},
    {"--all-results", Takes::Nothing, "", "all there are"},
    {"--include-archived", Takes::Nothing, "", "archived ones too"},
    {"--archived-only", Takes::Nothing, "", "archived ones only"},
    {"-p,--parent-job-name", Takes::Value, "NAME", "the children of this job"},
    {"--tag", Takes::Value, "KEY[=VALUE]", "those with this tag"},
};

constexpr Flag kDownloadFlags[] = {
    kName,
    {"--all", Takes::Nothing, "", "artifacts and every named output"},
    {"--output-name", Takes::Value, "OUTPUT", "only this output"},
    {"-p,--download-path", Takes::Value, "FOLDER", "where to (the current folder)"},
};

constexpr Flag kUpdateFlags[] = {
    kName,
    {"--set", Takes::Several, "key=value",
     "display_name=…, description=…, tags.key=… or properties.key=…"},
    kEditAdd,
    kEditRemove,
    kEditText,
    {"-e,--web", Takes::Nothing, "", "ignored: there is no page to open yet"},
};

constexpr Command kCommands[] = {
    {.words = "job create",
     .summary = "Submit a job file",
     .details =
         R"(Relative paths in the file are seen from its folder. Local code and inputs are uploaded first;
what the server has already is not sent again. The same name with the same content is the same job.
Nothing of this shell's environment is the job's but what --env and --env-file name.)",
     .examples = R"(  berth job create -f job.yml --stream
  berth job create -f job.yml --secret HF_TOKEN --env SEED=1
  berth job create -f job.yml --set inputs.rate=0.1 tags.who=me
  name=$(berth job create -f job.yml --query name -o tsv))",
     .flags = kCreateFlags,
     .run = create_job},
    {.words = "job list",
     .summary = "List jobs, newest first",
     .details = "",
     .examples = R"(  berth job list -r 10
  berth job list --query '[].name' -o tsv)",
     .flags = kListFlags,
     .run = list},
    {.words = "job show",
     .summary = "Show a job",
     .details = "",
     .examples = R"(  berth job show NAME
  berth job show -n NAME --query status -o tsv)",
     .flags = kShowFlags,
     .run = show},
    {.words = "job stream",
     .summary = "Follow a job's log to its end",
     .details =
         "Of a job that is over: the whole log. Exit status 1 when the job did not complete.",
     .examples = "",
     .flags = kNameOnly,
     .run = stream},
    {.words = "job cancel",
     .summary = "Cancel a job",
     .details =
         R"(The command gets SIGTERM and some seconds to end, then SIGKILL. The job is Canceled when all
of its processes are gone.)",
     .examples = "",
     .flags = kNameOnly,
     .run = cancel},
    {.words = "job download",
     .summary = "Download a job's logs and outputs",
     .details =
         R"(Logs, what the job wrote to outputs/ and logs/ and what it logged with MLflow, models included, go to
artifacts/, named outputs (with --all or --output-name) to named-outputs/<output>/. The job must be over.)",
     .examples = "  berth job download -n NAME --all -p results",
     .flags = kDownloadFlags,
     .run = download},
    {.words = "job update",
     .summary = "Change what may change of a job",
     .details = "",
     .examples = "  berth job update -n NAME --set display_name='first try' tags.keep=yes",
     .flags = kUpdateFlags,
     .run = update_job},
    {.words = "job delete",
     .summary = "Delete jobs that are over, with their logs, outputs and metrics",
     .details =
         R"(What goes with a job: its run in MLflow, its logs and artifacts, its outputs, and soon after that
the code that no other job names. What stays: files that a registered model or data asset names, and
outputs that were sent to a place of your own choosing. Asks before it deletes; without a terminal,
several jobs at once need --yes.)",
     .examples = R"(  berth job delete NAME
  berth job delete --older-than 30d --status Failed,Canceled --dry-run
  berth job delete --tag sweep=lr-3 --yes)",
     .flags = kJobDeleteFlags,
     .run = delete_jobs},
    {.words = "job archive",
     .summary = "Hide a job from lists",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = archive_job},
    {.words = "job restore",
     .summary = "Show an archived job in lists again",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = restore_job},
    {.words = "job validate",
     .summary = "Check a job file without submitting it",
     .details = "",
     .examples = "",
     .flags = kValidateFlags,
     .run = validate_job},
    {.words = "job show-services",
     .summary = "Show the addresses of a job's services",
     .details = "",
     .examples = "  berth job show-services -n NAME --query Studio.endpoint -o tsv",
     .flags = kServicesFlags,
     .run = show_services},
    {.words = "job explain",
     .summary = "Say why a job is where it is",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = explain},
};

}  // namespace

std::span<const Command> job_commands() { return kCommands; }

}  // namespace berth::cli
