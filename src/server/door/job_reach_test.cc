// SPDX-License-Identifier: Apache-2.0
// Every MLflow route that the token of a job opens x whose things it is asked about x what the
// workspace lets its jobs do. What must happen is computed from each route's action.
#include <gtest/gtest.h>

#include "core/rules/workspace_rules.h"
#include "server/application_fixture.h"

namespace berth::server {
namespace {

using model::JobAccess;

const std::string kRoot = "/mlflow/v1.0/W/api/2.0/";

/// Things that belong together: whose they are is what the test is about.
struct Things {
  std::string owner{};  ///< "own", "made" or "others".
  std::string run{}, experiment{}, experiment_name{}, logged_model{}, model{};
  std::string artifact{};  ///< A file of the run.
};

std::string end_of(const Route& route) {
  const std::string_view pattern = route.pattern;
  return std::string(pattern.substr(pattern.find("/api/")));
}

bool is_in(const Route& route, std::initializer_list<std::string_view> ends) {
  const std::string end = end_of(route);
  return std::ranges::any_of(ends, [&](std::string_view each) { return end.ends_with(each); });
}

bool reads(const Route& route) {
  return std::string_view(route.permission.action).ends_with("/read");
}

/// These show what is the job's, and leave out the rest.
bool is_list(const Route& route) {
  return is_in(route, {"experiments/search", "runs/search", "logged-models/search",
                       "registered-models/search", "model-versions/search"});
}

/// Whether the job with this access gets through.
bool expected(const Route& route, const Things& things, JobAccess access) {
  if (access == JobAccess::Write || is_list(route)) return true;
  // New things are always the job's own, and parts of files are refused for everybody.
  if (is_in(route, {"experiments/create", "registered-models/create", "mpu/create/{path...}"})) {
    return true;
  }
  const bool may_read = access == JobAccess::Read;
  if (is_in(route, {"search-datasets"})) return may_read;
  // What others go by is not the job's to move, not even of its own models.
  const bool is_write = !reads(route);
  if (is_write && is_in(route, {"registered-models/alias", "transition-stage"})) return false;
  // The experiment of its run is not the job's alone: it adds runs and models there.
  const bool changes_experiment =
      is_write && end_of(route).find("/experiments/") != std::string::npos;
  if (changes_experiment) return things.owner == "made";
  if (things.owner != "others") return true;
  // A version is made of what the job may read.
  return may_read && (!is_write || is_in(route, {"model-versions/create"}));
}

class JobReach : public ApplicationTest {
 protected:
  JobReach() {
    put_job("others", "theirs");
    key = running("own");
    token = signer.job_token(key, 1, plane.state().jobs.at(key).fence);
    own = {.owner = "own", .run = "own", .experiment = "0", .experiment_name = "Default"};
    made = {.owner = "made", .experiment_name = "mine"};
    others = {.owner = "others", .run = "others", .experiment_name = "theirs"};
    made.experiment =
        post(token, "mlflow/experiments/create", R"({"name":"mine"})").at("/experiment_id");
    made.run = post(token, "mlflow/runs/create", R"({"experiment_id":"0"})").at("/run/info/run_id");
    others.experiment =
        ask("GET", path("mlflow/experiments/get-by-name?experiment_name=theirs"), kOwnerToken)
            .at("/experiment/experiment_id");
    for (Things* things : {&own, &made, &others}) fill(*things);
  }

  void put_job(const std::string& name, const std::string& experiment) {
    EXPECT_EQ(put("W/jobs/" + name, R"({"properties":{"jobType":"Command","command":"true",
                                       "experimentName":")" +
                                        experiment + R"("}})")
                  .status,
              201);
  }
  static std::string path(const std::string& below) {
    return "/mlflow/v1.0" + kW + "/api/2.0/" + below;
  }
  Answer post(const std::string& who, const std::string& below, const std::string& body) {
    return ask("POST", path(below), who, body);
  }

  /// A logged model, a file and a registered model beside the run.
  void fill(Things& things) {
    const std::string& who = things.owner == "others" ? std::string(kOwnerToken) : token;
    things.logged_model =
        post(who, "mlflow/logged-models",
             fmt::format(R"({{"experiment_id":"{}","name":"net","source_run_id":"{}"}})",
                         things.experiment, things.run))
            .at("/model/info/model_id");
    ASSERT_NE(things.logged_model, "") << things.owner;
    things.artifact = "ExperimentRun/dcid." + things.run + "/m/MLmodel";
    ASSERT_EQ(ask("PUT", path("mlflow-artifacts/artifacts/" + things.artifact), who).status, 200);
    things.model = "model-of-" + things.owner;
    ASSERT_EQ(
        post(who, "mlflow/registered-models/create", R"({"name":")" + things.model + "\"}").status,
        200);
    const Answer version =
        post(who, "mlflow/model-versions/create",
             fmt::format(R"({{"name":"{}","source":"runs:/{}/m"}})", things.model, things.run));
    ASSERT_EQ(version.status, 200) << version.body;
    post(kOwnerToken, "mlflow/registered-models/alias",
         R"({"name":")" + things.model + R"(","alias":"best","version":"1"})");
    post(who, "mlflow/registered-models/set-tag",
         R"({"name":")" + things.model + R"(","key":"k","value":"v"})");
  }

  void set_access(JobAccess access) {
    model::Workspace changed = *core::find_workspace(plane.state(), workspace);
    changed.job_access = access;
    ASSERT_TRUE(plane.workspaces.put(changed));
    settle();
  }

  /// One request that is about the things and has every field that any route wants.
  io::RequestHead head_for(const Route& route, const Things& things, std::string& body) const {
    std::string target = route.pattern;
    const auto replace = [&](const std::string& what, const std::string& by) {
      if (const auto at = target.find(what); at != target.npos) target.replace(at, what.size(), by);
    };
    replace("/W/", kW + "/");
    replace("{model_id}", things.logged_model);
    replace("{tag_key}", "k");
    replace("{path...}", things.artifact);
    const bool is_model = end_of(route).find("logged-models") != std::string::npos;
    const std::string fields[][2] = {
        {"run_id", things.run},
        {"experiment_id", things.experiment},
        {"experiment_name", things.experiment_name},
        {"name", things.model},
        {"version", "1"},
        {"key", "k"},
        {"value", "1"},
        {"timestamp", "1"},
        {"alias", "best"},
        {"stage", "Staging"},
        {"source", "runs:/" + things.run + "/m"},
        {"source_run_id", things.run},
        {"metric_key", "m"},
        {"new_name", "renamed-" + things.owner},
        {"path",
         is_in(route, {"mlflow-artifacts/artifacts"}) ? "ExperimentRun/dcid." + things.run : "m"},
        {"status", is_model ? "LOGGED_MODEL_READY" : "RUNNING"}};
    if (std::string_view(route.method) == "GET") {
      std::string query;
      for (const auto& [name, value] : fields) query += name + "=" + percent_encode(value) + "&";
      return head_of("GET", target + "?" + query, token);
    }
    boost::json::object object;
    for (const auto& [name, value] : fields) object[name] = value;
    object["timestamp"] = 1;
    object["experiment_ids"] = {things.experiment};
    object["model_json"] =
        R"({"run_id":"x","artifact_path":"m","utc_time_created":"t","model_uuid":"u","flavors":{}})";
    object["tags"] = {{{"key", "k"}, {"value", "v"}}};
    if (is_in(route, {"experiments/create", "registered-models/create"})) {
      object["name"] = "new-" + random_hex(4);
    }
    body = route.body == BodyKind::Json ? boost::json::serialize(object) : "";
    return head_of(route.method, target, token);
  }

  Answer try_out(const Route& route, const Things& things) {
    std::string body;
    const io::RequestHead head = head_for(route, things, body);
    const std::string target = head.path + (head.query.empty() ? "" : "?" + head.query);
    return ask(head.method, target, token, body);
  }

  model::JobKey key;
  std::string token;
  Things own, made, others;
};

TEST_F(JobReach, EveryRouteLetsAJobReachItsOwnAndWhatTheWorkspaceSays) {
  int reached = 0, refused = 0;
  for (const JobAccess access : {JobAccess::Own, JobAccess::Read, JobAccess::Write}) {
    set_access(access);
    for (const Route& route : application.table().routes()) {
      if (!route.permission.is_for_jobs) continue;
      ASSERT_NE(std::string_view(route.pattern).find("/mlflow/"), std::string_view::npos);
      for (const Things* things : {&own, &made, &others}) {
        const Answer answer = try_out(route, *things);
        const std::string what =
            fmt::format("{} {} of {} with access {}: {} {}", route.method, route.pattern,
                        things->owner, static_cast<int>(access), answer.status, answer.body);
        EXPECT_EQ(answer.status != 403, expected(route, *things, access)) << what;
        EXPECT_NE(answer.status, 401) << what;
        EXPECT_NE(answer.status, 500) << what;
        const bool hides = is_list(route) && access == JobAccess::Own && things == &others;
        if (hides) {
          for (const std::string& secret : {others.run, others.logged_model, others.model}) {
            EXPECT_EQ(answer.body.find("\"" + secret + "\""), std::string::npos) << what;
          }
        }
        ++(answer.status == 403 ? refused : reached);
      }
    }
  }
  EXPECT_GT(reached, 200);
  EXPECT_GT(refused, 50);
}

TEST_F(JobReach, CodeAndDataOfTheWorkspaceAreNotArtifacts) {
  const std::string code = "LocalUpload/secret/train.py";
  ASSERT_EQ(send({.method = "PUT",
                  .target = "/blob/" + workspace.text + "/azureml-blobstore/" + code,
                  .body = "secret",
                  .headers = {{"x-ms-blob-type", "BlockBlob"}}})
                .status,
            201);
  const std::string address =
      path("mlflow-artifacts/artifacts/datastores/workspaceblobstore/" + code);
  const std::string list =
      path("mlflow-artifacts/artifacts?path=datastores/workspaceblobstore/LocalUpload");

  for (const JobAccess access : {JobAccess::Own, JobAccess::Read}) {
    set_access(access);
    EXPECT_EQ(ask("GET", address, token).status, 403);
    EXPECT_EQ(ask("GET", list, token).status, 403);
    const Answer registered =
        post(token, "mlflow/model-versions/create",
             R"({"name":"model-of-made","source":"azureml://datastores/workspaceblobstore/paths/)" +
                 code + "\"}");
    EXPECT_EQ(registered.status, 403) << registered.body;
  }
  EXPECT_EQ(ask("GET", address, kOwnerToken).status, 200);
  set_access(JobAccess::Write);
  EXPECT_EQ(ask("GET", address, token).status, 200);
}

TEST_F(JobReach, AnArtifactIsWhoseRunItIsWhateverExperimentWasPutAroundIt) {
  // An experiment whose place is inside the artifacts of somebody else's run.
  const std::string trap =
      post(token, "mlflow/experiments/create",
           R"({"name":"trap","artifact_location":"mlflow-artifacts:/ExperimentRun/dcid.others"})")
          .at("/experiment_id");
  const Answer run = post(token, "mlflow/runs/create", R"({"experiment_id":")" + trap + "\"}");
  std::string inside = run.at("/run/info/artifact_uri");
  inside.replace(0, std::string("mlflow-artifacts:/").size(), "");
  ASSERT_TRUE(inside.starts_with("ExperimentRun/dcid.others/")) << inside;

  EXPECT_EQ(ask("PUT", path("mlflow-artifacts/artifacts/" + inside + "/x"), token).status, 403);
  EXPECT_EQ(ask("GET", path("mlflow-artifacts/artifacts?path="), token).status, 403);
  EXPECT_EQ(ask("GET", path("mlflow-artifacts/artifacts?path=ExperimentRun"), token).status, 403);
  EXPECT_EQ(ask("GET", path("mlflow-artifacts/artifacts?path=RegisteredModels"), token).status,
            403);
}

TEST_F(JobReach, AJobAddsNoModelToARunOfOthers) {
  const auto answer = post(token, "mlflow/logged-models",
                           R"({"experiment_id":"0","name":"net","source_run_id":"others"})");
  EXPECT_EQ(answer.status, 403) << answer.body;
  const auto metric = post(token, "mlflow/runs/log-batch",
                           R"({"run_id":"own","metrics":[{"key":"m","value":1,"timestamp":1,
                              "model_id":")" +
                               others.logged_model + "\"}]}");
  EXPECT_EQ(metric.status, 403) << metric.body;
}

TEST_F(JobReach, TheModelsAndDataThatAreItsInputsAreRead) {
  ASSERT_EQ(put("W/jobs/user", R"({"properties":{"jobType":"Command","command":"true","inputs":{
      "m":{"jobInputType":"custom_model","uri":"azureml:model-of-others@best"},
      "d":{"jobInputType":"uri_folder",
           "uri":"azureml://jobs/others/outputs/artifacts/paths/m"}}}})")
                .status,
            409);  // Of a job that is not over.
  const Answer submitted =
      put("W/jobs/user", R"({"properties":{"jobType":"Command","command":"true","inputs":{
      "m":{"jobInputType":"custom_model","uri":"azureml:model-of-others@best"},
      "d":{"jobInputType":"uri_folder",
           "uri":"azureml://datastores/workspaceartifactstore/paths/ExperimentRun/dcid.others/m"}}}})");
  ASSERT_EQ(submitted.status, 201) << submitted.body;
  finish(key, "");
  settle();
  const model::Job& user = plane.state().jobs.at(job("user"));
  ASSERT_TRUE(model::holds_nodes(user));
  const std::string theirs = signer.job_token(user.key, 1, user.fence);

  const Answer uri = ask("GET",
                         path("mlflow/model-versions/get-download-uri?name=model-of-others"
                              "&version=1"),
                         theirs);
  ASSERT_EQ(uri.status, 200) << uri.body;
  std::string place = uri.at("/artifact_uri");
  place.replace(0, std::string("mlflow-artifacts:/").size(), "");
  EXPECT_EQ(ask("GET", path("mlflow-artifacts/artifacts?path=" + place), theirs).status, 200);
  EXPECT_EQ(ask("GET", path("mlflow-artifacts/artifacts/" + place + "/MLmodel"), theirs).status,
            200);
  EXPECT_EQ(
      ask("GET", path("mlflow/registered-models/alias?name=model-of-others&alias=best"), theirs)
          .status,
      200);
  EXPECT_EQ(ask("GET", path("mlflow-artifacts/artifacts/" + others.artifact), theirs).status, 200);
  EXPECT_EQ(ask("PUT", path("mlflow-artifacts/artifacts/" + others.artifact), theirs).status, 403);
  EXPECT_EQ(
      ask("GET", path("mlflow/model-versions/get?name=model-of-own&version=1"), theirs).status,
      403);
  EXPECT_EQ(ask("GET", path("mlflow/runs/get?run_id=others"), theirs).status, 403);
}

TEST_F(JobReach, TheTokenOfAJobIsDeadWhenItsNameIsUsedAgain) {
  ASSERT_EQ(ask("GET", path("mlflow/runs/get?run_id=own"), token).status, 200);
  finish(key, "");
  ASSERT_EQ(send({.method = "DELETE", .target = "W/jobs/own"}).status / 100, 2);
  running("own");
  ASSERT_EQ(plane.state().jobs.at(key).attempt, 1);
  EXPECT_EQ(ask("GET", path("mlflow/runs/get?run_id=own"), token).status, 401);
}

}  // namespace
}  // namespace berth::server
