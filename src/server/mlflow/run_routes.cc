// SPDX-License-Identifier: Apache-2.0
// MLflow: runs. What is logged to them comes through mlflow_log_routes.cc.
#include "base/random.h"
#include "base/text.h"
#include "model/labels.h"
#include "server/door/route.h"
#include "server/mlflow/mlflow.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/ledger.h"
#include "store/tracking_names.h"
#include "wire/mlflow/limits.h"
#include "wire/mlflow/tracking.h"

namespace berth::server {
namespace {

namespace json = boost::json;
namespace mlflow = wire::mlflow;
using mlflow::Message;
using model::LoggedRun;
using model::Run;

WallTime wall_time(std::int64_t milliseconds) { return WallTime(Duration(milliseconds)); }

/// The id of a new run: as MLflow's, a UUID without its dashes.
std::string new_run_id() { return random_hex(16); }

Result<model::TagMap> tags_of(const Message& message) {
  model::TagMap tags;
  const auto given = TRY(message.pairs("tags"));
  for (std::size_t i = 0; i < given.size(); ++i) {
    TRY(mlflow::check_tag(given[i].first, given[i].second, fmt::format("tags[{}].", i)));
    tags[given[i].first] = given[i].second;
  }
  return tags;
}

std::string first_of(std::initializer_list<std::string> choices) {
  for (const std::string& choice : choices) {
    if (!choice.empty()) return choice;
  }
  return {};
}

std::string value_in(const model::TagMap& tags, const char* key) {
  const auto found = tags.find(key);
  return found == tags.end() ? std::string() : found->second;
}

/// The name may come as a field or as a tag, and if as both then as the same.
Result<std::string> name_of(const Message& message, const model::TagMap& tags) {
  const std::string name = TRY(message.text("run_name"));
  const std::string tag = value_in(tags, store::kNameTag);
  if (!name.empty() && !tag.empty() && name != tag) {
    return message.wrong(
        "run_name", fmt::format("is '{}' but the tag '{}' says '{}'", name, store::kNameTag, tag));
  }
  return first_of({name, tag, random_display_name()});
}

Result<io::Reply> create(Call& call) {
  const Message message = TRY(message_of(call));
  const std::string asked = TRY(message.text("experiment_id"));
  const model::Experiment experiment =
      TRY(find_experiment_to_add_to(call, asked.empty() ? model::kDefaultExperimentId : asked));
  model::TagMap tags = TRY(tags_of(message));
  Run run{.key = {call.workspace->id, new_run_id()}, .experiment = experiment.id};
  run.artifact_location = experiment.artifact_location;
  run.made_by = maker_of(call);
  run.name = TRY(name_of(message, tags));
  const std::string user = TRY(message.text("user_id"));
  run.user = first_of({value_in(tags, store::kUserTag), user, call.principal.name});
  const std::int64_t started_at = TRY(message.integer("start_time")).value_or(0);
  run.started_at = started_at > 0 ? wall_time(started_at) : call.services.clock.now().wall;
  LoggedRun shown{.run = run, .tags = tags};
  shown.tags[store::kNameTag] = run.name;
  shown.tags[store::kUserTag] = run.user;
  tags.erase(store::kNameTag);
  tags.erase(store::kUserTag);
  TRY(model::check_room(model::bytes_of(tags), model::kMostTagBytes, "the tags of the run"));
  track(call, store::PutRun{std::move(run), std::move(tags)});
  return json_reply(200, json::object{{"run", mlflow::to_json(shown)}});
}

Result<io::Reply> get(Call& call) {
  const std::string id = TRY(mlflow::run_id_of(TRY(message_of(call))));
  const auto found = TRY(tracking_of(call).logged_run({call.workspace->id, id}));
  if (!found) {
    return fail(Code::NotFound, fmt::format("no run with id '{}'", to_valid_utf8(id)));
  }
  TRY(check_reach(call, found->run, Touch::Read));
  return recorded(call, json::object{{"run", mlflow::to_json(*found)}});
}

Result<std::optional<model::RunStatus>> status_of(const Message& message) {
  const std::string text = TRY(message.text("status"));
  if (text.empty()) return std::optional<model::RunStatus>();
  const auto status = model::run_status_from(text);
  if (!status) {
    return message.wrong("status", "is RUNNING, SCHEDULED, FINISHED, FAILED or KILLED");
  }
  return status;
}

/// The run of a job that is not over says what the job does, whatever a script thinks of it.
Result<io::Reply> update(Call& call) {
  const Message message = TRY(message_of(call));
  Run run = TRY(find_active_run(call, TRY(mlflow::run_id_of(message))));
  store::ChangeRun change{.run = run.key};
  const std::optional<model::RunStatus> status = TRY(status_of(message));
  const std::optional<std::int64_t> ended_at = TRY(message.integer("end_time"));
  const std::string name = TRY(message.text("run_name"));
  const Together together(call.services.ledger);
  if (!call.services.ledger.state().jobs.contains(run.key)) {
    change.status = status;
    if (ended_at) change.ended_at = wall_time(*ended_at);
    run.status = status.value_or(run.status);
    if (ended_at) run.ended_at = wall_time(*ended_at);
  }
  if (!name.empty()) {
    TRY(mlflow::check_tag(store::kNameTag, name, "run_name."));
    run.name = name;
    change.name = name;
    if (run.is_job) TRY(call.services.jobs.rename(run.key, name));
  }
  track(call, std::move(change));
  return json_reply(200, json::object{{"run_info", mlflow::to_json(run)}});
}

Result<io::Reply> mark(Call& call, bool is_deleted) {
  const Run run = TRY(find_run(call, TRY(mlflow::run_id_of(TRY(message_of(call)))), Touch::Write));
  track(call, store::ChangeRun{.run = run.key, .is_deleted = is_deleted});
  return json_reply(200, json::object());
}

Result<io::Reply> remove(Call& call) { return mark(call, true); }
Result<io::Reply> restore(Call& call) { return mark(call, false); }

Result<store::LifeView> view_of(const Message& message) {
  const std::string view = TRY(message.text("run_view_type"));
  if (view.empty() || view == "ACTIVE_ONLY") return store::LifeView::Active;
  if (view == "DELETED_ONLY") return store::LifeView::Deleted;
  if (view == "ALL") return store::LifeView::All;
  return message.wrong("run_view_type", "is ACTIVE_ONLY, DELETED_ONLY or ALL");
}

Result<io::Reply> search(Call& call) {
  const Message message = TRY(message_of(call));
  store::Search search = TRY(search_of(call, message, mlflow::Subject::Runs));
  search.experiments = TRY(message.texts("experiment_ids"));
  search.view = TRY(view_of(message));
  return search_later(call, [search](store::Tracking& tracking) -> Result<io::Reply> {
    store::Page<LoggedRun> found = TRY(tracking.runs(search));
    const std::string next = take_page(found, search);
    json::array runs;
    for (const LoggedRun& run : found) runs.push_back(mlflow::to_json(run));
    json::object answer = {{"runs", std::move(runs)}};
    if (!next.empty()) answer["next_page_token"] = next;
    return json_reply(200, answer);
  });
}

constexpr Permission kRead = allow_jobs(kReadRuns);
constexpr Permission kWrite = allow_jobs(kWriteRuns);
constexpr Permission kDelete = allow_people(kDeleteRuns);

constexpr Route kRoutes[] = {
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/create", kWrite, BodyKind::Json, create},
    {"GET", "/mlflow/v1.0/W/api/2.0/mlflow/runs/get", kRead, BodyKind::None, get},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/update", kWrite, BodyKind::Json, update},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/delete", kDelete, BodyKind::Json, remove},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/restore", kDelete, BodyKind::Json, restore},
    {"POST", "/mlflow/v1.0/W/api/2.0/mlflow/runs/search", kRead, BodyKind::Json, search},
};

}  // namespace

std::span<const Route> mlflow_run_routes() { return kRoutes; }

}  // namespace berth::server
