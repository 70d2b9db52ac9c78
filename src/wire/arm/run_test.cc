// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/run.h"

#include <gtest/gtest.h>

namespace berth::wire::arm {
namespace {

model::Job job_with_outputs() {
  model::Job job{.key = {{"w"}, "train"}};
  job.spec.edit().outputs = {{"rows", {.type = model::DataType::UriFile}},
                             {"net", {.type = model::DataType::CustomModel}}};
  return job;
}

std::string type_of(const json::object& run, const char* output) {
  return std::string(run.at("outputs").at(output).at("type").as_string());
}

TEST(RunJson, OutputsAreNamedByWhereTheyComeFrom) {
  const json::object run = run_json(job_with_outputs());
  EXPECT_EQ(run.at("outputs").at("net").at("assetId").as_string(),
            "azureml://jobs/train/outputs/net");
  EXPECT_EQ(type_of(run, "rows"), "UriFile");
  EXPECT_EQ(type_of(run, "net"), "UriFolder") << "models go as folders";
}

TEST(RunJson, EachReleaseOfThePythonClientFindsTheWordsItLooksFor) {
  EXPECT_EQ(type_of(run_json(job_with_outputs(), RunSpelling::Arm), "rows"), "uri_file");
  EXPECT_EQ(spelling_for("azure-ai-ml/1.20.0 azsdk-python-mgmt/0.1.0"), RunSpelling::History);
  EXPECT_EQ(spelling_for("azure-ai-ml/1.34.1 x"), RunSpelling::History);
  EXPECT_EQ(spelling_for("azure-ai-ml/1.35.2 x"), RunSpelling::Arm);
  EXPECT_EQ(spelling_for("notebook/1.0 azure-ai-ml/1.40.0"), RunSpelling::Arm);
  for (const char* other : {"", "curl/8", "azure-ai-ml/1.", "azure-ai-ml/1.x"}) {
    EXPECT_EQ(spelling_for(other), RunSpelling::History) << other;
  }
}

TEST(RunChanges, OnlyWhatIsMentionedChanges) {
  const auto changes = run_changes_from_json(
      {{"displayName", "New"}, {"tags", {{"a", "1"}}}, {"description", nullptr}});
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->display_name, "New");
  EXPECT_FALSE(changes->description);
  EXPECT_FALSE(changes->is_archived);
  EXPECT_EQ(changes->tags.at("a"), "1");
}

TEST(RunChanges, TimesThatWeAddToEveryAnswerAreNotTheClients) {
  const auto changes = run_changes_from_json(
      {{"properties", {{"StartTimeUtc", "x"}, {"EndTimeUtc", "y"}, {"mine", "z"}}}});
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->properties, (std::map<std::string, std::string>{{"mine", "z"}}));
}

TEST(RunChanges, WhatRanIsNotChanged) {
  for (const char* key : {"status", "startTimeUtc", "endTimeUtc", "parentRunId"}) {
    const auto changes = run_changes_from_json(json::object{{key, "x"}});
    ASSERT_FALSE(changes) << key;
    EXPECT_EQ(changes.error().target, key);
  }
}

}  // namespace
}  // namespace berth::wire::arm
