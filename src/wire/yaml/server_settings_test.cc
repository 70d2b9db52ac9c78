// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/server_settings.h"

#include <gtest/gtest.h>

namespace berth::wire::yaml {
namespace {

Result<ServerSettings> read(const std::string& text) {
  const Result<Node> root = parse(text, "server.yml");
  if (!root) return fail(root.error());
  return server_settings_from(*root);
}

std::string change(const std::string& text, const ServerSettings& changes) {
  const Result<std::string> changed = edited(text, "server.yml", changes);
  return changed ? *changed : "error: " + changed.error().message;
}

TEST(ServerSettings, EveryFlagHasItsKey) {
  for (const ServerSetting& setting : server_settings()) {
    EXPECT_TRUE(setting.flag.starts_with("--"));
    EXPECT_EQ(find_server_setting(key_of(setting)), &setting);
  }
  EXPECT_EQ(find_server_setting("home"), nullptr);
}

TEST(ServerSettings, AreReadBackAsTheyWereWritten) {
  const ServerSettings settings = {{"port", {"0"}},
                                   {"bind", {"10.0.0.5", "yes", "::1"}},
                                   {"job_users", {"/etc/a: \"b\" # c.yml"}},
                                   {"start", {"manual"}},
                                   {"start_command", {"systemctl start berth"}}};
  const auto again = read(to_yaml_text(settings));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, settings);
}

TEST(ServerSettings, NothingIsSetByAnEmptyFileOrAnEmptyValue) {
  EXPECT_EQ(read("").value(), ServerSettings());
  EXPECT_EQ(read("# nothing\n").value(), ServerSettings());
  EXPECT_EQ(read("port:\n").value(), ServerSettings());
  EXPECT_EQ(load_server_settings("/nowhere/server.yml").value(), ServerSettings());
}

TEST(ServerSettings, OneAddressNeedsNoList) {
  EXPECT_EQ(read("bind: 10.0.0.5\n")->at("bind"), std::vector<std::string>{"10.0.0.5"});
}

TEST(ServerSettings, NumbersThatDoNotFitAreRefused) {
  for (const char* text : {"port: 65536\n", "port: -1\n", "port: 99999999999999999999\n",
                           "port: 1.5\n", "lease: 0\n", "port: [1]\n", "port: '1 '\n"}) {
    const auto settings = read(text);
    ASSERT_FALSE(settings) << text;
    EXPECT_TRUE(settings.error().message.starts_with("server.yml:1:")) << settings.error().message;
  }
}

TEST(ServerSettings, TextIsOneLine) {
  EXPECT_FALSE(read("start_command: \"a\\nb\"\n"));
  EXPECT_FALSE(read("start_command: \"a\\e[2Jb\"\n"));
  EXPECT_FALSE(read("start_command: ''\n"));
  EXPECT_FALSE(read("start_command: " + std::string(2000, 'x') + "\n"));
}

TEST(ServerSettings, AnEditChangesOnlyItsOwnLines) {
  const std::string text =
      "# top\nport: 0 # any\n\nbind:\n  # first\n  - 10.0.0.5\n  - 10.0.0.6\n# last\nlease: 5\n";
  EXPECT_EQ(change(text, {{"lease", {"7"}}}),
            "# top\nport: 0 # any\n\nbind:\n  # first\n  - 10.0.0.5\n  - 10.0.0.6\n# last\nlease: "
            "7\n");
  EXPECT_EQ(change(text, {{"bind", {}}}), "# top\nport: 0 # any\n\n# last\nlease: 5\n");
  EXPECT_EQ(change(text, {{"port", {"1"}}, {"slots", {"2"}}, {"bind", {"a"}}}),
            "# top\nport: 1\n\nbind: [\"a\"]\n# last\nlease: 5\nslots: 2\n");
  EXPECT_EQ(change("", {{"slots", {"2"}}, {"bind", {}}}), "slots: 2\n");
  EXPECT_EQ(change("port: 1", {{"slots", {"2"}}}), "port: 1\nslots: 2\n");
}

TEST(ServerSettings, AFileOfAnotherShapeIsWrittenAnew) {
  EXPECT_EQ(change("{port: 1, slots: 2}\n", {{"slots", {"3"}}}), "port: 1\nslots: 3\n");
  EXPECT_EQ(change("{port: 1,\n slots: 2}\n", {{"slots", {}}}), "port: 1\n");
  EXPECT_EQ(change("port: 1\rslots: 2\rlease: 5\r", {{"slots", {}}}), "lease: 5\nport: 1\n");
  EXPECT_EQ(change("--- {port: 1}\n", {{"port", {"2"}}}), "port: 2\n");
  EXPECT_EQ(change("---\nport: 1\n...\n", {{"slots", {"2"}}}), "port: 1\nslots: 2\n");
}

TEST(ServerSettings, AWrongFileIsNotEdited) {
  EXPECT_NE(change("prot: 1\n", {{"slots", {"3"}}}).find("did you mean 'port'?"),
            std::string::npos);
}

TEST(ServerSettings, TheLastStartCountsBeforeTheFile) {
  const HomeSettings home{.configured = {{"lease", {"1"}}, {"slots", {"2"}}},
                          .last_start = {{"lease", {"3"}}}};
  EXPECT_EQ(value_of(home.repeated(), "lease"), "3");
  EXPECT_EQ(value_of(home.repeated(), "slots"), "2");
  EXPECT_EQ(value_of(home.repeated(), "port"), "");
}

TEST(ServerSettings, OnlyAnAutomaticServerIsStartedByACommand) {
  EXPECT_TRUE(check_automatic_start("/home", {}));
  EXPECT_TRUE(check_automatic_start("/home", {{"start", {"automatic"}}}));
  const auto manual =
      check_automatic_start("/home", {{"start", {"manual"}}, {"start_command", {"sv up berth"}}});
  ASSERT_FALSE(manual);
  EXPECT_EQ(manual.error().code, Code::Unavailable);
  EXPECT_NE(manual.error().message.find("'sv up berth'"), std::string::npos);
}

}  // namespace
}  // namespace berth::wire::yaml
