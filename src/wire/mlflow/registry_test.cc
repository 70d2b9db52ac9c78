// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/registry.h"

#include <gtest/gtest.h>

namespace berth::wire::mlflow {
namespace {

namespace json = boost::json;

TEST(Registry, AVersionSpeaksMlflowsWords) {
  const model::AssetContainer model{.name = "ranker", .labels = {{"champion", "2"}, {"old", "1"}}};
  model::Asset version{.name = "ranker", .version = "2", .description = "words"};
  version.body = {{"modelUri", "azureml://datastores/d/paths/p"}, {"jobName", "train-7"}};
  version.tags = {{"a", "b"}};
  version.created_at = version.modified_at = WallTime(std::chrono::milliseconds(1234));

  const json::object view = to_json(version, model);

  EXPECT_EQ(view.at("source").as_string(), "azureml://datastores/d/paths/p");
  EXPECT_EQ(view.at("run_id").as_string(), "train-7");
  EXPECT_EQ(view.at("creation_timestamp").as_int64(), 1234);
  EXPECT_EQ(view.at("current_stage").as_string(), "None");
  EXPECT_EQ(view.at("status").as_string(), "READY");
  EXPECT_EQ(view.at("aliases").as_array(), json::array{"champion"});
  EXPECT_EQ(view.at("tags").as_array(), (json::array{{{"key", "a"}, {"value", "b"}}}));
}

TEST(Registry, WhatWasRegisteredIsTheSource) {
  model::Asset version{.name = "ranker", .version = "2"};
  version.body = {{"modelUri", "azureml://datastores/d/paths/p"}};
  version.origin = {.source = "models:/m-1", .logged_model = "m-1", .user = "me"};

  const json::object view = to_json(version, model::AssetContainer());

  EXPECT_EQ(view.at("source").as_string(), "models:/m-1");
  EXPECT_EQ(view.at("model_id").as_string(), "m-1");
  EXPECT_EQ(view.at("user_id").as_string(), "me");
}

TEST(Registry, StagesAreMlflowsFour) {
  model::Asset version;
  EXPECT_EQ(stage_of(version), "None");
  set_stage(version, "Production");
  EXPECT_EQ(version.body.at("stage").as_string(), "Production");
  EXPECT_EQ(stage_of(version), "Production");
  set_stage(version, "None");
  EXPECT_FALSE(version.body.contains("stage"));
  version.body["stage"] = "Development";
  EXPECT_EQ(stage_of(version), "None");
  EXPECT_EQ(*stage_from("sTaging"), "Staging");
  EXPECT_EQ(stage_from("Live").error().code, Code::InvalidArgument);
}

TEST(Registry, NamesMustFitIntoAnAddress) {
  for (const char* good : {"ranker", "my.model-2", "_x", "7"}) {
    EXPECT_TRUE(check_registered_name(good)) << good;
  }
  for (const char* bad : {"", "my model", "a/b", "a:b", "größe", "..", "-x", "a%2f"}) {
    EXPECT_FALSE(check_registered_name(bad)) << bad;
  }
  EXPECT_EQ(check_registered_name("my model").error().target, "name");
}

TEST(Registry, AliasesThatMeanSomethingAreReserved) {
  for (const char* good : {"champion", "v1a", "a-b_c", "1"}) EXPECT_TRUE(check_alias(good)) << good;
  for (const char* bad : {"", "latest", "LATEST", "v1", "V23", "a b", "a/b", "a.b"}) {
    EXPECT_FALSE(check_alias(bad)) << bad;
  }
  EXPECT_FALSE(check_alias(std::string(256, 'a')));
}

}  // namespace
}  // namespace berth::wire::mlflow
