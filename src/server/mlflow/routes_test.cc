// SPDX-License-Identifier: Apache-2.0
// What MLflow's clients cannot be made to do, or two of them at once. tests/clients/mlflow has the
// rest.
#include <gtest/gtest.h>

#include "server/application_fixture.h"

namespace berth::server {
namespace {

class MlflowRoutes : public ApplicationTest {
 protected:
  static std::string api(const std::string& below) {
    return "/mlflow/v1.0" + kW + "/api/2.0/mlflow/" + below;
  }
  Answer post(const std::string& below, const std::string& body,
              const std::string& token = kOwnerToken) {
    return ask("POST", api(below), token, body);
  }
  std::string new_run() { return post("runs/create", "{}").at("/run/info/run_id"); }

  /// On a thread of its own: the answer comes when that is done.
  Answer search_runs(const std::string& token) {
    std::optional<Answer> answer;
    const std::string body =
        fmt::format(R"({{"experiment_ids": ["0"], "page_token": "{}"}})", token);
    perform({.head = head_of("POST", api("runs/search"), kOwnerToken), .body = body},
            [&](const io::Reply& reply) {
              answer = Answer{reply.status, reply.headers, reply.body, {}};
              loop.stop();
            });
    const auto timer = loop.after(std::chrono::minutes(1), [this] { loop.stop(); });
    if (!answer) loop.run();
    loop.cancel(timer);
    return answer.value_or(Answer{});
  }

  /// Both are under way before either is on disk.
  std::pair<Answer, Answer> at_once(const std::string& below, const std::string& one,
                                    const std::string& other) {
    std::optional<Answer> answers[2];
    const std::string* bodies[] = {&one, &other};
    for (int i = 0; i < 2; ++i) {
      perform({.head = head_of("POST", api(below), kOwnerToken), .body = *bodies[i]},
              [&answers, i](const io::Reply& reply) {
                answers[i] = Answer{reply.status, reply.headers, reply.body, {}};
              });
    }
    settle();
    return {answers[0].value(), answers[1].value()};
  }
};

TEST_F(MlflowRoutes, TwoWhoMakeTheSameExperimentAtOnceMakeOne) {
  const auto [one, other] =
      at_once("experiments/create", R"({"name": "harbour"})", R"({"name": "harbour"})");
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(other.at("/error_code"), "RESOURCE_ALREADY_EXISTS");
  EXPECT_EQ(ask("GET", api("experiments/get-by-name?experiment_name=harbour"), kOwnerToken)
                .at("/experiment/experiment_id"),
            one.at("/experiment_id"));
}

TEST_F(MlflowRoutes, TwoWhoSetTheSameParameterAtOnceAgreeOrOneIsTold) {
  const std::string run = new_run();
  const auto body = [&](const char* value) {
    return fmt::format(R"({{"run_id": "{}", "key": "depth", "value": "{}"}})", run, value);
  };
  const auto [one, other] = at_once("runs/log-parameter", body("3"), body("4"));
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(other.at("/error_code"), "INVALID_PARAMETER_VALUE");
  const auto [again, still] = at_once("runs/log-parameter", body("3"), body("3"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(still.status, 200);
}

TEST_F(MlflowRoutes, AJobsExperimentIsNotMadeTwice) {
  std::optional<Answer> submitted;
  perform(
      {.head = head_of("PUT", "W/jobs/train", kOwnerToken),
       .body =
           R"({"properties":{"jobType":"Command","command":"true","experimentName":"harbour"}})"},
      [&](const io::Reply& reply) {
        submitted = Answer{reply.status, reply.headers, "", {}};
      });
  EXPECT_EQ(post("experiments/create", R"({"name": "harbour"})").at("/error_code"),
            "RESOURCE_ALREADY_EXISTS");
  EXPECT_EQ(submitted->status, 201);
  EXPECT_EQ(ask("GET", api("runs/get?run_id=train"), kOwnerToken).at("/run/info/status"),
            "SCHEDULED");
}

TEST_F(MlflowRoutes, TheRunOfALiveJobSaysWhatTheJobDoes) {
  const model::JobKey key = running("own");
  const std::string token = signer.job_token(key, 1);
  const Answer ended =
      post("runs/update",
           R"({"run_id": "own", "status": "FINISHED", "end_time": 5, "run_name": "me"})", token);
  EXPECT_EQ(ended.at("/run_info/status"), "RUNNING");
  EXPECT_EQ(ended.at("/run_info/run_name"), "me");
  EXPECT_EQ(plane.jobs.find(key)->display_name, "me");
  finish(key, "");
  EXPECT_EQ(ask("GET", api("runs/get?run_id=own"), kOwnerToken).at("/run/info/status"), "FINISHED");
  // Dead with the attempt.
  EXPECT_EQ(post("runs/update", R"({"run_id": "own"})", token).at("/error_code"),
            "UNAUTHENTICATED");
}

TEST_F(MlflowRoutes, LoggingIsNotAuditedAndDeletingIs) {
  const auto lines = [&] { return rows->audit({})->size(); };
  const std::string run = new_run();
  const std::size_t before = lines();
  EXPECT_EQ(post("runs/log-metric",
                 fmt::format(R"({{"run_id":"{}","key":"m","value":1,"timestamp":1}})", run))
                .status,
            200);
  EXPECT_EQ(lines(), before);
  EXPECT_EQ(post("runs/delete", fmt::format(R"({{"run_id":"{}"}})", run)).status, 200);
  EXPECT_EQ(lines(), before + 1);
}

TEST_F(MlflowRoutes, ABatchThatIsRefusedLeavesNothing) {
  const std::string run = new_run();
  const Answer refused =
      post("runs/log-batch",
           fmt::format(R"({{"run_id": "{}", "metrics": [{{"key":"m","value":1,"timestamp":1}}],
                       "params": [{{"key":"p","value":"1"}}], "tags": [{{"key":"","value":"1"}}]}})",
                       run));
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("tags[0].key"), std::string::npos) << refused.body;
  const Answer shown = ask("GET", api("runs/get?run_id=" + run), kOwnerToken);
  EXPECT_EQ(shown.at("/run/data/metrics"), "[]");
  EXPECT_EQ(shown.at("/run/data/params"), "[]");
}

TEST_F(MlflowRoutes, WorkspacesDoNotSeeEachOthersRuns) {
  ASSERT_TRUE(plane.workspaces.put({.name = "other"}));
  const std::string run = new_run();
  std::string elsewhere = api("runs/get?run_id=" + run);
  elsewhere.replace(elsewhere.find("workspaces/default"), 18, "workspaces/other");
  EXPECT_EQ(ask("GET", elsewhere, kOwnerToken).at("/error_code"), "RESOURCE_DOES_NOT_EXIST");
}

// ---- How much there may be of it ---------------------------------------------------------------

TEST_F(MlflowRoutes, TheListOfLoggedModelsHasAnEnd) {
  const std::string run = new_run();
  const std::string flavors(60'000, 'f');
  const std::string model = fmt::format(
      R"({{"run_id": "{}", "artifact_path": "m", "utc_time_created": "t", "model_uuid": "u", "flavors": {{"a": "{}"}}}})",
      run, flavors);
  const std::string body =
      boost::json::serialize(boost::json::object{{"run_id", run}, {"model_json", model}});
  for (int i = 0; i < 4; ++i) ASSERT_EQ(post("runs/log-model", body).status, 200);

  const Answer refused = post("runs/log-model", body);

  EXPECT_EQ(refused.at("/error_code"), "INVALID_PARAMETER_VALUE");
  EXPECT_NE(refused.at("/message").find("mlflow.log-model.history"), std::string::npos);
  EXPECT_NE(refused.at("/message").find("256 KiB"), std::string::npos);
}

TEST_F(MlflowRoutes, TheTagsOfAJobHaveAnEndAndSmallerOnesAreStillTaken) {
  ASSERT_EQ(ask("PUT", "W/jobs/train", kOwnerToken,
                R"({"properties":{"jobType":"Command","command":"true"}})")
                .status,
            201);
  const auto tag = [&](int number, std::size_t length) {
    return post("runs/set-tag", fmt::format(R"({{"run_id": "train", "key": "t{}", "value": "{}"}})",
                                            number, std::string(length, 'x')));
  };
  int taken = 0;
  while (taken < 100 && tag(taken, 8000).status == 200) ++taken;

  EXPECT_EQ(taken, 32);
  EXPECT_EQ(tag(0, 10).status, 200) << "a shorter value makes room";
  EXPECT_EQ(tag(100, 5000).status, 200);
}

TEST_F(MlflowRoutes, ARunHasRoomForMuchButNotForEverything) {
  const std::string run = new_run();
  const auto log = [&](int batch) {
    boost::json::array params;
    for (int i = 0; i < 100; ++i) {
      params.push_back(
          {{"key", fmt::format("p{}-{}", batch, i)}, {"value", std::string(6000, 'x')}});
    }
    return post("runs/log-batch", boost::json::serialize(boost::json::object{
                                      {"run_id", run}, {"params", std::move(params)}}));
  };
  int taken = 0;
  Answer last;
  while (taken < 100 && (last = log(taken)).status == 200) ++taken;

  EXPECT_EQ(taken, 13) << "8 MiB";
  EXPECT_NE(last.at("/message").find("8 MiB"), std::string::npos);
  EXPECT_EQ(post("runs/log-metric",
                 fmt::format(R"({{"run_id": "{}", "key": "m", "value": 1, "timestamp": 1}})", run))
                .status,
            200);
}

TEST_F(MlflowRoutes, ALongListOfLargeRunsComesInPages) {
  for (int number = 0; number < 8; ++number) {
    boost::json::array params;
    const std::string run = new_run();
    for (int i = 0; i < 100; ++i) {
      params.push_back({{"key", fmt::format("p{}", i)}, {"value", std::string(6000, 'x')}});
    }
    ASSERT_EQ(post("runs/log-batch",
                   boost::json::serialize(boost::json::object{{"run_id", run}, {"params", params}}))
                  .status,
              200);
  }
  std::size_t seen = 0;
  std::string token;
  int pages = 0;
  do {
    const Answer page = search_runs(token);
    ASSERT_EQ(page.status, 200);
    EXPECT_LT(page.body.size(), 6u << 20);
    seen += page.json().at("runs").as_array().size();
    token = page.at("/next_page_token");
    ++pages;
  } while (!token.empty() && pages < 20);
  EXPECT_EQ(seen, 8u);
  EXPECT_GT(pages, 1);
}

}  // namespace
}  // namespace berth::server
