// SPDX-License-Identifier: Apache-2.0
#include "server/arm/shown_jobs.h"

#include <gtest/gtest.h>

#include "base/record.h"

namespace berth::server {
namespace {

class ShownJobsTest : public testing::Test {
 protected:
  static store::JobRow row(std::int64_t sequence, const std::string& title = "a title") {
    model::Job job;
    job.key = {{"ws"}, "job-" + std::to_string(sequence)};
    job.sequence = sequence;
    job.display_name = title;
    return {sequence, record::encode_text(job)};
  }

  std::string list(const std::vector<store::JobRow>& rows, const ShownJobs::Manner& manner = {}) {
    const auto listed = shown.list(manner, rows, [&](const model::Job& job) {
      ++written;
      return boost::json::object{{"name", job.key.name}, {"title", job.display_name}};
    });
    EXPECT_TRUE(listed);
    return listed.value_or("");
  }

  ShownJobs shown{1 << 20};
  int written = 0;
};

TEST_F(ShownJobsTest, WhatHasNotChangedIsNotWrittenAgain) {
  const std::string first = list({row(2), row(1)});
  EXPECT_EQ(first, R"({"name":"job-2","title":"a title"},{"name":"job-1","title":"a title"})");

  EXPECT_EQ(list({row(3), row(2), row(1)}), R"({"name":"job-3","title":"a title"},)" + first);

  EXPECT_EQ(written, 3);
  EXPECT_EQ(list({}), "");
}

TEST_F(ShownJobsTest, AJobThatHasChangedIsShownAsItIs) {
  list({row(1)});
  EXPECT_EQ(list({row(1, "another")}), R"({"name":"job-1","title":"another"})");
  EXPECT_EQ(list({row(1)}), R"({"name":"job-1","title":"a title"})");
  EXPECT_EQ(written, 3);
}

TEST_F(ShownJobsTest, WhoSeesItOtherwiseIsShownItOtherwise) {
  const ShownJobs::Manner manners[] = {
      {.workspace = {"ws"}, .base_url = "http://a"},
      {.workspace = {"ws"}, .base_url = "http://b"},
      {.workspace = {"other"}, .base_url = "http://a"},
      {.workspace = {"ws"}, .base_url = "http://a", .has_values = true}};
  for (const ShownJobs::Manner& manner : manners) list({row(1)}, manner);
  EXPECT_EQ(written, 4);
  for (const ShownJobs::Manner& manner : manners) list({row(1)}, manner);
  EXPECT_EQ(written, 4);
}

TEST_F(ShownJobsTest, WhatNobodyAsksForGoesAndWhatIsAskedForStays) {
  const std::string title(10'000, 'x');
  list({row(1)});
  for (int number = 2; number < 500; ++number) list({row(1), row(number, title)});
  EXPECT_EQ(written, 499) << "the first was asked for all the time";

  list({row(2, title)});
  EXPECT_EQ(written, 500) << "nobody had asked for it for long";
}

TEST_F(ShownJobsTest, ARowThatCannotBeReadIsAnError) {
  const std::vector<store::JobRow> rows = {row(1), {2, "{"}};
  EXPECT_FALSE(shown.list({.base_url = "http://a"}, rows,
                          [](const model::Job&) { return boost::json::object(); }));
  EXPECT_EQ(list({row(1)}), R"({"name":"job-1","title":"a title"})");
}

}  // namespace
}  // namespace berth::server
