// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_create.h"

#include "cli/commands/job_variables.h"
#include "cli/given.h"
#include "cli/transfer/stream.h"
#include "cli/transfer/submit.h"
#include "io/files/file.h"
#include "wire/yaml/asset.h"

namespace berth::cli {
namespace {

constexpr Column kSummary[] = {
    {"Name", "name"},
    {"Display name", "display_name"},
    {"Status", "status"},
    {"Error", "error.message"},
    {"Experiment", "experiment_name"},
    {"Compute", "compute"},
    {"Command", "command"},
    {"Environment", "environment"},
    {"Variables", "environment_variables"},
    {"Inputs", "inputs"},
    {"Outputs", "outputs"},
    {"Tags", "tags"},
    {"Description", "description"},
    {"Created", "creation_context.created_at"},
    {"Started", "properties.StartTimeUtc"},
    {"Ended", "properties.EndTimeUtc"},
    {"Warnings", "warnings"},
};

Result<wire::yaml::JobFile> read_file(const Context& context) {
  Document document = TRY(load_document(context));
  if (context.arguments.has("name")) set_text(document.root, "name", context.arguments.get("name"));
  wire::yaml::JobFile file = TRY(wire::yaml::job_from_yaml(document.root, document.base_directory));
  if (document.root.find("experiment_name") == nullptr) {
    file.job.spec.edit().experiment_name = experiment_of(context.place.directory);
  }
  TRY(add_variables(context, file.job.spec.edit()));
  return file;
}

Status save(const Context& context, const json::object& view) {
  if (!context.arguments.has("save-as")) return Done{};
  const std::string path = context.place.absolute(context.arguments.get("save-as"));
  return io::write_file(path, wire::yaml::to_yaml_text(view), 0644);
}

}  // namespace

std::span<const Column> job_summary() { return kSummary; }

Result<int> create_job(Context& context) {
  wire::yaml::JobFile file = TRY(read_file(context));
  const std::string source =
      file.code_path ? file.code_path->path : TRY(load_document(context)).base_directory;
  TRY(complete(context, file, source));
  mention_own_environment(context, file.job.spec);
  Submitted job = TRY(submit(context, file.job));
  const bool streams = context.arguments.has("stream");
  if (streams) {
    TRY(stream_job(context, job.job.key.name, web_view(job)));
    const model::Job before = std::move(job.job);
    job = TRY(get_job(context.client, before.key.name));
    warn_of_news(context.console, before, job.job);
  }
  const json::object view = view_of(job, context.client.workspace());
  TRY(save(context, view));
  TRY(context.print({.value = view, .columns = kSummary}));
  if (!streams && context.console.out_is_terminal && !context.output.format) {
    context.console.note(fmt::format("\nfollow it with: berth job stream {}", job.job.key.name));
  }
  if (!streams || job.job.status == model::JobStatus::Completed) return 0;
  context.console.error(failure_of(job.job));
  return 1;
}

Result<int> validate_job(Context& context) {
  const wire::yaml::JobFile file = TRY(read_file(context));
  for (const std::string& warning : file.job.warnings) context.console.warning(warning);
  TRY(context.print({.value = {{"errors", json::array()}, {"result", "Succeeded"}}}));
  return 0;
}

}  // namespace berth::cli
