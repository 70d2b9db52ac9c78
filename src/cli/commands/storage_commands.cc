// SPDX-License-Identifier: Apache-2.0
// What is kept on the server's disk, for how long, and what can go.
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/output/numbers.h"
#include "cli/period.h"
#include "wire/arm/error.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {
    {"Where", "where"}, {"What", "what"}, {"Files", "files"}, {"Size", "size"}};
constexpr Column kSweepColumns[] = {
    {"Objects", "objects"},           {"Size", "size"},
    {"Kept objects", "kept_objects"}, {"Code versions", "code_versions"},
    {"Uploads", "uploads"},           {"Unfinished uploads", "unfinished_uploads"},
    {"Leftovers", "leftovers"}};
constexpr Column kRuleColumns[] = {
    {"Jobs", "keep_jobs"}, {"Failed and canceled jobs", "keep_failed"}, {"Logs", "keep_logs"}};

json::object part(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_object() ? found->get_object() : json::object();
}

const json::array& list_at(const json::object& object, std::string_view key) {
  static const json::array kNone;
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

json::value at(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found == nullptr ? json::value(nullptr) : *found;
}

json::object row(json::value where, json::value what, json::value files, std::uint64_t bytes) {
  return {{"where", std::move(where)},
          {"what", std::move(what)},
          {"files", std::move(files)},
          {"bytes", bytes},
          {"size", human_bytes(bytes)}};
}

/// A line for each kind of each workspace, then what belongs to none.
json::array rows_of(const json::object& report) {
  json::array rows;
  for (const json::value& each : list_at(report, "workspaces")) {
    if (!each.is_object()) continue;
    for (const json::value& kind : list_at(each.get_object(), "kinds")) {
      if (!kind.is_object()) continue;
      rows.push_back(row(at(each.get_object(), "workspace"), at(kind.get_object(), "kind"),
                         at(kind.get_object(), "files"), number_at(kind.get_object(), "bytes")));
    }
  }
  if (!report.contains("objects")) return rows;
  const json::object objects = part(report, "objects");
  const json::object database = part(report, "database");
  rows.push_back(row("(server)", "all files, each content once", at(objects, "files"),
                     number_at(objects, "bytes")));
  rows.push_back(row("(server)", "of these, nothing names", at(objects, "unreferenced_files"),
                     number_at(objects, "unreferenced_bytes")));
  rows.push_back(row("(server)", "database", 1, number_at(database, "bytes")));
  rows.push_back(row("(server)", "database's log", 1, number_at(database, "log_bytes")));
  for (const auto& [key, name] : {std::pair("live_logs", "logs of jobs that run"),
                                  std::pair("uploads_under_way", "uploads under way"),
                                  std::pair("nodes", "nodes on this machine"),
                                  std::pair("server_logs", "the server's own logs")}) {
    const json::object sum = part(report, key);
    rows.push_back(row("(server)", name, at(sum, "files"), number_at(sum, "bytes")));
  }
  return rows;
}

bool is_for_people(const Context& context) {
  const auto& format = context.output.format;
  if (!context.output.query.empty()) return false;
  return format ? *format == Format::Table : context.console.out_is_terminal;
}

void add_notes(const Context& context, const json::object& report) {
  const std::uint64_t saved = number_at(part(report, "objects"), "saved_by_sharing_bytes");
  if (saved > 0) {
    context.console.note(fmt::format(
        "the same content is stored once: that saves {} of what the workspaces' lines add up to",
        human_bytes(saved)));
  }
  const json::object database = part(report, "database");
  if (const std::uint64_t free = number_at(database, "free_bytes"); free > 0) {
    context.console.note(
        fmt::format("{} of the database are free and are used again", human_bytes(free)));
  }
  const json::object disk = part(report, "disk");
  if (!disk.empty()) {
    context.console.note(fmt::format("{} of {} are free on the server's disk",
                                     human_bytes(number_at(disk, "free_bytes")),
                                     human_bytes(number_at(disk, "bytes"))));
  }
}

/// All of the server; who may see one workspace only sees that.
Result<json::object> report_of(Context& context) {
  if (!context.arguments.has("workspace-name")) {
    Result<json::object> whole = context.client.get("/berth/v1/storage");
    if (whole || whole.error().code != Code::Forbidden) return whole;
  }
  return context.client.get(context.client.berth_path("/storage"));
}

Result<int> show(Context& context) {
  const json::object report = TRY(report_of(context));
  if (!is_for_people(context)) {
    TRY(context.print({.value = report}));
    return 0;
  }
  TRY(context.print({.value = rows_of(report), .columns = kColumns}));
  add_notes(context, report);
  return 0;
}

Result<int> sweep(Context& context) {
  const bool is_trial = context.arguments.has("dry-run");
  context.console.progress("looking for what nothing names");
  const Result<json::object> answer = is_trial ? context.client.get("/berth/v1/storage/sweep")
                                               : context.client.post("/berth/v1/storage/sweep");
  context.console.clear_progress();
  json::object report = TRY(answer);
  const json::value* held = report.if_contains("held");
  if (held != nullptr && held->is_bool() && held->get_bool()) {
    context.console.warning(
        "nothing was swept: there is a file 'sweep.off' in the server's state directory");
  }
  report["size"] = human_bytes(number_at(report, "bytes"));
  TRY(context.print({.value = report, .columns = kSweepColumns}));
  return 0;
}

// ---- Rules --------------------------------------------------------------------------------------

constexpr std::pair<const char*, const char*> kRules[] = {{"keep-jobs", "keepJobsSeconds"},
                                                          {"keep-failed", "keepFailedSeconds"},
                                                          {"keep-logs", "keepLogsSeconds"}};

json::object rules_view(const json::object& rules) {
  json::object view;
  for (const auto& [flag, key] : kRules) {
    std::string name = flag;
    std::ranges::replace(name, '-', '_');
    const json::value* rule = rules.if_contains(key);
    const bool is_there = rule != nullptr && rule->is_int64();
    view[name] = is_there ? to_text(std::chrono::seconds(rule->get_int64())) : "forever";
  }
  return view;
}

std::string rules_path(const Context& context) {
  return context.client.berth_path("/storage/retention");
}

Result<int> show_rules(Context& context) {
  const json::object rules = TRY(context.client.get(rules_path(context)));
  TRY(context.print({.value = rules_view(rules), .columns = kRuleColumns}));
  return 0;
}

Result<int> set_rules(Context& context) {
  json::object wanted;
  for (const auto& [flag, key] : kRules) {
    if (!context.arguments.has(flag)) continue;
    const std::string text = context.arguments.get(flag);
    if (text == "forever") {
      wanted[key] = nullptr;
    } else {
      wanted[key] = TRY(period_from(text)).count();
    }
  }
  if (wanted.empty()) {
    return wrong_usage(context, "which rule? --keep-jobs, --keep-failed or --keep-logs");
  }
  const auto response = TRY(context.client.send({.method = "PATCH",
                                                 .url = rules_path(context),
                                                 .headers = {{"Content-Type", "application/json"}},
                                                 .body = json::serialize(wanted)}));
  if (response.status >= 400) return fail(wire::arm::error_from(response.status, response.body));
  return show_rules(context);
}

constexpr Flag kSweepFlags[] = {
    {"--dry-run", Takes::Nothing, "", "only say what would go"},
};
constexpr Flag kSetFlags[] = {
    {"--keep-jobs", Takes::Value, "TIME", "delete jobs so long after their end: 90d; or forever"},
    {"--keep-failed", Takes::Value, "TIME", "the same for failed and canceled ones"},
    {"--keep-logs", Takes::Value, "TIME", "delete only their logs, and keep the jobs"},
};

constexpr Command kCommands[] = {
    {.words = "storage show",
     .summary = "Show what takes how much of the server's disk",
     .details =
         R"(By workspace and kind. Files with the same content are stored once, so that the lines may add up
to more than the disk holds. With -w, or without the right to see the server, one workspace only.)",
     .examples = "  berth storage show -o table",
     .flags = {},
     .run = show},
    {.words = "storage sweep",
     .summary = "Free what nothing names any more",
     .details =
         R"(The server does this by itself every hour, and soon after a job was deleted. While a file
'sweep.off' is in its state directory, it does not: for the time of a backup.)",
     .examples = "  berth storage sweep --dry-run",
     .flags = kSweepFlags,
     .run = sweep},
    {.words = "storage retention show",
     .summary = "Show how long the workspace keeps what is over",
     .details = "",
     .examples = "",
     .flags = {},
     .run = show_rules},
    {.words = "storage retention set",
     .summary = "Say how long the workspace keeps what is over",
     .details =
         R"(Everything is kept for ever until a rule says otherwise. Times count from a job's end. A job with
the tag 'berth.keep' stays, and so do files that a registered model or data asset names.)",
     .examples = R"(  berth storage retention set --keep-jobs 90d --keep-failed 14d
  berth storage retention set --keep-jobs forever)",
     .flags = kSetFlags,
     .run = set_rules},
};

}  // namespace

std::span<const Command> storage_commands() { return kCommands; }

}  // namespace berth::cli
