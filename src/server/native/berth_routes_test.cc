// SPDX-License-Identifier: Apache-2.0
// /berth/v1 and run history: what is told of a job while it runs and after.
#include "server/route_fixture.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;

class JobReadingTest : public RouteTest {
 protected:
  std::string log_path(const std::string& name, const std::string& query) const {
    return "/berth/v1" + kW + "/jobs/" + name + "/log?" + query;
  }
};

TEST_F(JobReadingTest, StatusCountsJobsAndShowsNodes) {
  running("a");
  for (const char* name : {"b", "c"}) {
    put(std::string("W/jobs/") + name, R"({"properties":{"jobType":"Command","command":"true"}})");
  }

  const Answer answer = get("/berth/v1/status");

  EXPECT_EQ(answer.at("/jobs/running"), "2");
  EXPECT_EQ(answer.at("/jobs/queued"), "1");
  EXPECT_EQ(answer.at("/port"), "8470");
  EXPECT_EQ(answer.at("/home"), home.path());
  EXPECT_EQ(answer.at("/pid"), std::to_string(::getpid()));
  EXPECT_EQ(answer.at("/nodes/0/status"), "Ready");
}

TEST_F(JobReadingTest, ALogIsReadWhileItGrows) {
  const model::JobKey key = running("a");
  ASSERT_TRUE(logs.append(key, 1, 0, "one\ntwo\n"));

  const Answer answer = get(log_path("a", "offset=4"));

  EXPECT_EQ(answer.body, "two\n");
  EXPECT_EQ(answer.header("Content-Type"), "application/octet-stream");
  EXPECT_EQ(answer.header("x-berth-log-offset"), "4");
  EXPECT_EQ(answer.header("x-berth-job-status"), "Running");
  EXPECT_EQ(answer.header("x-berth-log-end"), "false");
}

TEST_F(JobReadingTest, AReaderAtTheEndWaitsForMore) {
  const model::JobKey key = running("a");
  ASSERT_TRUE(logs.append(key, 1, 0, "one\n"));
  std::optional<Answer> answer;
  send_later({.target = log_path("a", "offset=4&wait=30")}, answer);
  waiters.wake(key);
  EXPECT_FALSE(answer);

  ASSERT_TRUE(logs.append(key, 1, 4, "two\n"));
  waiters.wake(key);

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "two\n");
  EXPECT_EQ(answer->header("x-berth-log-offset"), "4");
}

TEST_F(JobReadingTest, AReaderIsToldWhenTheJobIsOver) {
  const model::JobKey key = running("a");
  std::optional<Answer> answer;
  send_later({.target = log_path("a", "wait=30")}, answer);

  finish(key, "");
  waiters.wake(key);

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(answer->header("x-berth-job-status"), "Completed");
  EXPECT_EQ(answer->header("x-berth-log-end"), "true");
}

TEST_F(JobReadingTest, WaitingEnds) {
  running("a");
  std::optional<Answer> answer;
  send_later({.target = log_path("a", "wait=1000000")}, answer);

  clock.advance(30s - 1ms);
  waiters.expire(clock.now().mono);
  EXPECT_FALSE(answer);
  clock.advance(1ms);
  waiters.expire(clock.now().mono);

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->header("x-berth-log-end"), "false");
}

TEST_F(JobReadingTest, ALargeLogComesInParts) {
  const model::JobKey key = running("a");
  const std::string large(3 << 20, 'x');
  ASSERT_TRUE(logs.append(key, 1, 0, large));

  EXPECT_EQ(get(log_path("a", "")).body.size(), 1u << 20);
  EXPECT_EQ(get(log_path("a", "offset=3000000")).body.size(), large.size() - 3'000'000);
}

TEST_F(JobReadingTest, TheLogOfAJobThatIsOverIsItsBlob) {
  finish(running("a"), "the whole log");

  const Answer whole = get(log_path("a", "wait=30"));
  const Answer rest = get(log_path("a", "offset=10"));
  const Answer beyond = get(log_path("a", "offset=99&wait=30"));

  EXPECT_EQ(whole.body, "the whole log");
  EXPECT_EQ(whole.header("x-berth-log-end"), "true");
  EXPECT_EQ(rest.body, "log");
  EXPECT_EQ(beyond.body, "");
  EXPECT_EQ(beyond.header("x-berth-log-end"), "true");
}

TEST_F(JobReadingTest, LogsRefuseNonsense) {
  running("a");

  EXPECT_EQ(get(log_path("missing", "")).status, 404);
  EXPECT_EQ(get(log_path("a", "offset=-1")).status, 400);
  EXPECT_EQ(get(log_path("a", "wait=x")).status, 400);
}

TEST_F(JobReadingTest, ExplainsWhyAJobWaits) {
  put("W/jobs/a", R"({"properties":{"jobType":"Command","command":"true"}})");

  const Answer answer = get("/berth/v1" + kW + "/jobs/a/explain");

  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.at("/explanation"), "");
  EXPECT_EQ(get("/berth/v1" + kW + "/jobs/b/explain").status, 404);
}

// ---- Run history, as Python streams and downloads -----------------------------------------------

TEST_F(JobReadingTest, RunDetailsPointToALogAnybodyMayFetch) {
  const model::JobKey key = running("a");
  const std::string details = "/history/v1.0" + kW + "/runs/a/details";
  EXPECT_EQ(get(details).at("/logFiles"), "{}");
  ASSERT_TRUE(logs.append(key, 1, 0, "one\n"));

  const Answer answer = get(details);
  const std::string url = answer.at("/logFiles/user_logs~1std_log.txt");
  const auto fetch = [&] {
    return send({.target = url.substr(std::string("http://localhost:8470").size()),
                 .by = Principal::Kind::Nobody});
  };

  EXPECT_EQ(answer.at("/runId"), "a");
  EXPECT_EQ(answer.at("/status"), "Running");
  ASSERT_TRUE(url.starts_with("http://localhost:8470/blob/"));
  EXPECT_EQ(fetch().body, "one\n");
  finish(key, "one\ntwo\n");
  EXPECT_EQ(fetch().body, "one\ntwo\n");
  EXPECT_EQ(get(details).at("/status"), "Finalizing") << "for who streams and has not looked yet";
  clock.advance(std::chrono::minutes(1));
  EXPECT_EQ(get(details).at("/status"), "Completed");
  EXPECT_NE(get(details).at("/endTimeUtc"), "null");
}

TEST_F(JobReadingTest, RunDataDescribesTheRun) {
  finish(running("a"), "x");
  const std::string path = "/history/v1.0" + kW + "/rundata";

  const Answer answer = send({.method = "POST", .target = path, .body = R"({"runId":"a"})"});

  EXPECT_EQ(answer.at("/runMetadata/runId"), "a");
  EXPECT_EQ(answer.at("/runMetadata/status"), "Completed");
  EXPECT_EQ(answer.at("/runMetadata/outputs"), "{}");
  EXPECT_EQ(send({.method = "POST", .target = path, .body = R"({"runId":"b"})"}).status, 404);
  EXPECT_EQ(send({.method = "POST", .target = path, .body = R"({"runId":7})"}).status, 400);
}

}  // namespace
}  // namespace berth::server
