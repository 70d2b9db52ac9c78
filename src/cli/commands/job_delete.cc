// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_delete.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "cli/given.h"
#include "cli/output/numbers.h"
#include "cli/period.h"
#include "cli/transfer/submit.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {
    {"Name", "name"},  {"Status", "status"},   {"Ended", "ended_at"},    {"Files", "files"},
    {"Frees", "size"}, {"Stays", "kept_size"}, {"Stays for", "kept_for"}};
constexpr std::size_t kNamesAtOnce = 100;
constexpr std::chrono::milliseconds kPause(200);

std::string name_of(const json::value& job) {
  const json::value* name = job.is_object() ? job.get_object().if_contains("name") : nullptr;
  return name != nullptr && name->is_string() ? std::string(name->get_string()) : std::string();
}

/// Words that may also stand in one, with commas between them.
std::vector<std::string> words_of(const Context& context, std::string_view key) {
  std::vector<std::string> words;
  for (const std::string& text : context.arguments.all(key)) {
    for (const std::string_view word : split(text, ',')) {
      if (!word.empty()) words.emplace_back(word);
    }
  }
  return words;
}

Result<std::string> filters_of(const Context& context) {
  std::string query;
  if (context.arguments.has("older-than")) {
    const auto period = TRY(period_from(context.arguments.get("older-than")));
    query += "&endedBefore=" + percent_encode(to_iso8601(SystemClock().now().wall - period));
  }
  for (const std::string& status : words_of(context, "status")) {
    query += "&status=" + percent_encode(status);
  }
  for (const char* key : {"tag", "experiment"}) {
    if (context.arguments.has(key)) {
      query += fmt::format("&{}={}", key, percent_encode(context.arguments.get(key)));
    }
  }
  return query;
}

/// Every page of the selection, with what would go.
Result<json::array> select(Context& context, const std::string& query) {
  json::array found;
  std::int64_t after = 0;
  while (true) {
    json::object page = TRY(context.client.get(
        context.client.berth_path(fmt::format("/storage/jobs?after={}{}", after, query))));
    if (const json::value* jobs = page.if_contains("value"); jobs != nullptr && jobs->is_array()) {
      for (const json::value& job : jobs->get_array()) found.push_back(job);
    }
    const json::value* next = page.if_contains("next");
    if (next == nullptr || !next->is_int64()) return found;
    after = next->get_int64();
    context.console.progress(fmt::format("looking for jobs: {} so far", found.size()));
  }
}

/// Of the names that were not found among the jobs that are over: what is the matter with them.
std::string trouble_with(Context& context, const std::string& name) {
  const Result<Submitted> job = get_job(context.client, name);
  if (!job) return job.error().message;
  if (model::is_terminal(job->job.status)) return {};
  return fmt::format("job '{}' is not over ({}); cancel it first, or say --cancel", name,
                     boost::describe::enum_to_string(job->job.status, "Unknown"));
}

/// Those that still run are cancelled, and waited for.
Status cancel_live(Context& context, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Result<Submitted> job = get_job(context.client, name);
    if (!job || model::is_terminal(job->job.status)) continue;
    TRY(context.client.post(context.client.workspace_path("/jobs/" + name + "/cancel")));
  }
  for (const std::string& name : names) {
    while (true) {
      const Result<Submitted> job = get_job(context.client, name);
      if (!job || model::is_terminal(job->job.status)) break;
      context.console.progress(fmt::format("canceling '{}'", name));
      std::this_thread::sleep_for(kPause);
    }
  }
  context.console.clear_progress();
  return Done{};
}

struct Chosen {
  json::array jobs{};
  std::vector<std::string> troubles{};
};

Result<Chosen> by_names(Context& context, const std::vector<std::string>& names,
                        const std::string& filters) {
  Chosen chosen;
  for (std::size_t at = 0; at < names.size(); at += kNamesAtOnce) {
    std::string query = filters;
    const std::size_t end = std::min(names.size(), at + kNamesAtOnce);
    for (std::size_t i = at; i < end; ++i) query += "&name=" + percent_encode(names[i]);
    for (json::value& job : TRY(select(context, query))) chosen.jobs.push_back(std::move(job));
  }
  for (const std::string& name : names) {
    const bool is_found = std::ranges::any_of(
        chosen.jobs, [&](const json::value& job) { return name_of(job) == name; });
    if (is_found) continue;
    std::string trouble = trouble_with(context, name);
    if (!trouble.empty()) chosen.troubles.push_back(std::move(trouble));
  }
  return chosen;
}

/// What people read beside the numbers.
void add_texts(json::array& jobs) {
  for (json::value& each : jobs) {
    json::object& job = each.as_object();
    job["size"] = human_bytes(number_at(job, "bytes"));
    const std::uint64_t kept = number_at(job, "kept_bytes");
    job["kept_size"] = kept == 0 ? std::string() : human_bytes(kept);
    std::string by;
    const json::value* keepers = job.if_contains("kept_by");
    for (const json::value& keeper :
         keepers != nullptr && keepers->is_array() ? keepers->get_array() : json::array()) {
      if (!by.empty()) by += ", ";
      if (keeper.is_string()) by += std::string_view(keeper.get_string());
    }
    job["kept_for"] = by;
  }
}

std::string summary_of(const json::array& jobs, std::string_view verb) {
  std::uint64_t bytes = 0;
  std::uint64_t kept = 0;
  for (const json::value& job : jobs) {
    bytes += number_at(job.as_object(), "bytes");
    kept += number_at(job.as_object(), "kept_bytes");
  }
  std::string text = fmt::format("{} {} {}, up to {}", verb, jobs.size(),
                                 jobs.size() == 1 ? "job" : "jobs", human_bytes(bytes));
  if (kept > 0)
    text += fmt::format("; {} stay, because registered assets name them", human_bytes(kept));
  return text;
}

/// One after the other; what was refused is told and does not hold up the rest.
Result<json::array> remove_all(Context& context, const json::array& jobs,
                               std::vector<std::string>& troubles) {
  json::array gone;
  for (const json::value& job : jobs) {
    const std::string name = name_of(job);
    context.console.progress(fmt::format("deleting {} of {}", gone.size() + 1, jobs.size()));
    const Status removed = context.client.remove(context.client.workspace_path("/jobs/" + name));
    if (removed) {
      gone.push_back(job);
    } else if (removed.error().code == Code::Conflict || removed.error().code == Code::NotFound) {
      troubles.push_back(removed.error().message);
    } else {
      context.console.clear_progress();
      return fail(removed.error());
    }
  }
  context.console.clear_progress();
  return gone;
}

Result<int> finish(Context& context, json::array jobs, const std::vector<std::string>& troubles) {
  for (const std::string& trouble : troubles) context.console.error(trouble);
  TRY(context.print({.value = std::move(jobs), .columns = kColumns}));
  return troubles.empty() ? 0 : 1;
}

}  // namespace

Result<int> delete_jobs(Context& context) {
  const std::vector<std::string> names = words_of(context, "name");
  for (const std::string& name : names) TRY(check_name(name, "job"));
  const std::string filters = TRY(filters_of(context));
  if (names.empty() && filters.empty() && !context.arguments.has("all")) {
    return wrong_usage(context,
                       "which jobs? Give names, or --older-than, --status, --tag, --experiment, "
                       "or --all for all that are over");
  }
  const bool is_trial = context.arguments.has("dry-run");
  if (context.arguments.has("cancel") && !is_trial) TRY(cancel_live(context, names));
  Chosen chosen = names.empty() ? Chosen{.jobs = TRY(select(context, filters))}
                                : TRY(by_names(context, names, filters));
  context.console.clear_progress();
  add_texts(chosen.jobs);
  if (is_trial) {
    context.console.note(summary_of(chosen.jobs, "would delete"));
    return finish(context, std::move(chosen.jobs), chosen.troubles);
  }
  const bool is_told_exactly = !names.empty() && !context.console.err_is_terminal;
  if (!chosen.jobs.empty() && !is_told_exactly &&
      !TRY(is_certain(context, summary_of(chosen.jobs, "delete") + "?"))) {
    return 1;
  }
  json::array gone = TRY(remove_all(context, chosen.jobs, chosen.troubles));
  context.console.note(summary_of(gone, "deleted"));
  return finish(context, std::move(gone), chosen.troubles);
}

}  // namespace berth::cli
