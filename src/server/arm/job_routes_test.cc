// SPDX-License-Identifier: Apache-2.0
#include "server/route_fixture.h"

namespace berth::server {
namespace {

using Names = std::vector<std::string>;

class JobTest : public RouteTest {
 protected:
  Answer submit(const std::string& name, const std::string& more = "") {
    return put("W/jobs/" + name,
               R"({"properties":{"jobType":"Command","command":"echo hi")" + more + "}}");
  }
  Answer cancel(const std::string& name) {
    return send({.method = "POST", .target = "W/jobs/" + name + "/cancel"});
  }

  Names names(const Answer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    Names found;
    const boost::json::value body = answer.json();
    for (const auto& job : body.at("value").as_array())
      found.emplace_back(job.at("name").as_string());
    return found;
  }
};

TEST_F(JobTest, IsAcceptedAndShown) {
  const Answer made = submit("a");
  const Answer shown = get("W/jobs/a");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/name"), "a");
  EXPECT_EQ(made.at("/id"), kW + "/jobs/a");
  EXPECT_EQ(shown.at("/properties/command"), "echo hi");
  EXPECT_NE(shown.at("/properties/services/Studio"), "");
  EXPECT_EQ(shown.at("/systemData/createdBy"), "owner");
  EXPECT_EQ(get("W/jobs/b").status, 404);
}

TEST_F(JobTest, TheSameNameIsTheSameJobOrAConflict) {
  submit("a");

  EXPECT_EQ(submit("a").status, 200);
  EXPECT_EQ(submit("a", R"(,"tags":{"k":"v"})").at("/properties/tags/k"), "v");
  const Answer other = put("W/jobs/a", R"({"properties":{"jobType":"Command","command":"other"}})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.at("/error/code"), "Conflict");
}

TEST_F(JobTest, ABadBodyNamesTheField) {
  const Answer answer = put("W/jobs/a", R"({"properties":{"jobType":"Command","command":7}})");

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.at("/error/target"), "properties.command");
  EXPECT_EQ(put("W/jobs/a", "").status, 400);
  EXPECT_EQ(put("W/jobs/a", "{").status, 400);
  EXPECT_EQ(put("W/jobs/a", "[]").status, 400);
  EXPECT_EQ(get("W/jobs/a").status, 404);
}

TEST_F(JobTest, ListsAreNewestFirstAndComeInPages) {
  for (const char* name : {"a", "b", "c", "d", "e"}) submit(name);

  EXPECT_EQ(names(get("W/jobs")), (Names{"e", "d", "c", "b", "a"}));

  const Answer first = get("W/jobs?api-version=2024-01-01&$top=2");
  EXPECT_EQ(names(first), (Names{"e", "d"}));
  std::string next = first.at("/nextLink");
  EXPECT_TRUE(
      next.starts_with("http://localhost:8470" + kW + "/jobs?api-version=2024-01-01&$top=2&"))
      << next;
  const Answer second = get(next.substr(std::string("http://localhost:8470").size()));
  EXPECT_EQ(names(second), (Names{"c", "b"}));
  next = second.at("/nextLink");
  EXPECT_EQ(next.find("skip="), next.rfind("skip="));
  const Answer third = get(next.substr(std::string("http://localhost:8470").size()));
  EXPECT_EQ(names(third), Names{"a"});
  EXPECT_EQ(third.at("/nextLink"), "");
}

TEST_F(JobTest, APageThatIsJustFullIsTheLast) {
  submit("a");
  submit("b");

  EXPECT_EQ(get("W/jobs?maxResults=2").at("/nextLink"), "");
}

TEST_F(JobTest, ListsAreFiltered) {
  submit("a", R"(,"tags":{"k":"v"})");
  submit("b", R"(,"tags":{"k":"w"},"isArchived":true)");
  submit("c");

  EXPECT_EQ(names(get("W/jobs")), (Names{"c", "a"}));
  EXPECT_EQ(names(get("W/jobs?listViewType=ArchivedOnly")), Names{"b"});
  EXPECT_EQ(names(get("W/jobs?listviewtype=all")), (Names{"c", "b", "a"}));
  EXPECT_EQ(names(get("W/jobs?listViewType=All&tag=k")), (Names{"b", "a"}));
  EXPECT_EQ(names(get("W/jobs?listViewType=All&tag=k%3Dv")), Names{"a"});
  EXPECT_EQ(names(get("W/jobs?jobType=command")), (Names{"c", "a"}));
  EXPECT_EQ(names(get("W/jobs?jobType=Sweep")), Names{});
}

TEST_F(JobTest, ListsRefuseNonsense) {
  for (const char* query : {"$top=0", "$top=x", "$top=-1", "$skip=x", "$skip=-1", "$skip=3",
                            "$skipToken=3", "listViewType=Some"}) {
    EXPECT_EQ(get(std::string("W/jobs?") + query).status, 400) << query;
  }
}

TEST_F(JobTest, AContinuationIsGoodForItsOwnListAndPlaceOnly) {
  for (const char* name : {"a", "b", "c"}) submit(name);
  const std::string next = get("W/jobs?$top=1").at("/nextLink");
  const std::string token = next.substr(next.rfind('=') + 1);

  EXPECT_EQ(names(get("W/jobs?$skip=" + token)), (Names{"b", "a"}));
  EXPECT_EQ(names(get("W/JOBS?$skiptoken=" + token)), (Names{"b", "a"}));
  EXPECT_EQ(get("W/data?$skip=" + token).at("/error/target"), "$skip");
  EXPECT_EQ(get("W/jobs?$skip=1" + token).status, 400);
}

TEST_F(JobTest, CancelIsALongRunningOperationThatIsOverAtOnce) {
  submit("a");

  const Answer answer = cancel("a");
  const std::string status = answer.header("Azure-AsyncOperation");

  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.header("Location"), status);
  EXPECT_EQ(answer.header("Retry-After"), "1");
  ASSERT_TRUE(status.starts_with("http://localhost:8470/"));
  const Answer polled = get(status.substr(std::string("http://localhost:8470").size()));
  EXPECT_EQ(polled.status, 200);
  EXPECT_EQ(polled.at("/status"), "Succeeded");
  EXPECT_EQ(get("W/jobs/a").at("/properties/status"), "Canceled");
}

TEST_F(JobTest, CancellingWhatIsOverOrMissing) {
  submit("a");
  cancel("a");

  EXPECT_EQ(cancel("a").status, 202);
  EXPECT_EQ(cancel("missing").status, 404);
}

TEST_F(JobTest, IsDeletedOnlyWhenItIsOver) {
  submit("a");

  EXPECT_EQ(send({.method = "DELETE", .target = "W/jobs/a"}).status, 409);
  cancel("a");
  EXPECT_EQ(send({.method = "DELETE", .target = "W/jobs/a"}).status, 204);
  EXPECT_EQ(get("W/jobs/a").status, 404);
  EXPECT_EQ(send({.method = "DELETE", .target = "W/jobs/a"}).status, 204);
}

}  // namespace
}  // namespace berth::server
