// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.h"

#include "cli/scope.h"
#include "cli/testing_command_line.h"

namespace berth::cli {
namespace {

class Settings : public CliTest {
 protected:
  Settings() { environment = {{"BERTH_CONFIG_DIR", folder.path() + "/config"}}; }

  Place place(const std::string& below = "") const {
    return {.environment = environment,
            .directory = folder.path() + below,
            .user_home = "/nonexistent"};
  }
  std::string workspace(const std::string& below = "") const {
    const auto found = setting(place(below), "defaults.workspace");
    return found ? *found : "error: " + found.error().message;
  }
};

TEST_F(Settings, TheNearestOneCounts) {
  std::filesystem::create_directories(folder.path() + "/project/below");
  ASSERT_TRUE(change_settings(place(), Scope::Global, {{"defaults.workspace", "mine"}}));
  ASSERT_TRUE(change_settings(place("/project"), Scope::Local, {{"defaults.workspace", "its"}}));

  EXPECT_EQ(workspace(), "mine");
  EXPECT_EQ(workspace("/project"), "its");
  EXPECT_EQ(workspace("/project/below"), "its");
  environment["AZURE_DEFAULTS_WORKSPACE"] = "told";
  EXPECT_EQ(workspace("/project"), "told");
}

TEST_F(Settings, AreChangedOneByOneAndTakenAwayByAnEmptyValue) {
  ASSERT_TRUE(change_settings(place(), Scope::Global,
                              {{"defaults.workspace", "w"}, {"core.output", "table"}}));
  ASSERT_TRUE(change_settings(place(), Scope::Global,
                              {{"defaults.group", "g"}, {"defaults.workspace", ""}}));

  EXPECT_EQ(folder.read("config/config"), "[core]\noutput = table\n\n[defaults]\ngroup = g\n");
}

TEST_F(Settings, WhatBerthEnvSetsCountsBeforeFilesAndWhatAzureHasSetDoesNot) {
  ASSERT_TRUE(change_settings(place(), Scope::Global, {{"defaults.group", "kept"}}));
  const auto group = [&] { return scope_of({}, place())->resource_group; };

  environment["AZURE_RESOURCE_GROUP"] = "shell";
  EXPECT_EQ(group(), "kept");
  environment["AZUREML_CURRENT_CLOUD"] = "Berth";
  EXPECT_EQ(group(), "shell");
  environment["AZURE_DEFAULTS_GROUP"] = "told";
  EXPECT_EQ(group(), "told");
  EXPECT_EQ(scope_of({.values = {{"resource-group", {"flag"}}}}, place())->resource_group, "flag");
  EXPECT_EQ(berth({"configure", "--defaults", "group=other"}), 0);
  EXPECT_NE(err().find("AZURE_DEFAULTS_GROUP=told is set"), std::string::npos) << err();
}

TEST_F(Settings, AFileThatIsNoneNamesItsLine) {
  folder.write("config/config", "# mine\n[defaults]\nworkspace = w\nnonsense\n");

  EXPECT_NE(workspace().find("config:4: neither"), std::string::npos) << workspace();
  EXPECT_EQ(berth({"job", "list"}), 2);
}

TEST_F(Settings, AValueHasOneLine) {
  EXPECT_FALSE(change_settings(place(), Scope::Global, {{"defaults.workspace", "a\n[core]"}}));
}

TEST_F(Settings, ConfigureTakesWhatAzTakes) {
  EXPECT_EQ(berth({"configure", "--defaults", "workspace=w", "group=g"}), 0) << err();
  EXPECT_EQ(berth({"configure", "-d", "group="}), 0) << err();
  EXPECT_EQ(berth({"configure", "--list-defaults", "--query", "[].[name, value]", "-o", "tsv"}), 0);
  EXPECT_EQ(out(), "workspace\tw\n");
  EXPECT_EQ(berth({"configure", "-l", "true", "--query", "length(@)"}), 0);
  EXPECT_EQ(out(), "1\n");
  EXPECT_EQ(berth({"configure"}), 2);
  EXPECT_EQ(berth({"configure", "--defaults", "workspace"}), 2);
  EXPECT_EQ(berth({"configure", "--scope", "here"}), 2);
  EXPECT_EQ(berth({"config", "set", "nonsense=1"}), 2);
  EXPECT_EQ(berth({"config", "get", "defaults.none"}), 1);
}

}  // namespace
}  // namespace berth::cli
