// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <gtest/gtest.h>

#include <set>

namespace berth::cli {
namespace {

constexpr Flag kFlags[] = {
    {"-n,--name,NAME", Takes::Value, "NAME", ""}, {"-s,--stream", Takes::Nothing, "", ""},
    {"--set", Takes::Several, "a=b", ""},         {"--env", Takes::EachTime, "A=B", ""},
    {"--list", Takes::Maybe, "BOOL", ""},
};
constexpr Command kShow{.words = "job show",
                        .summary = "",
                        .details = "",
                        .examples = "",
                        .flags = kFlags,
                        .run = nullptr};
constexpr Flag kRunFlags[] = {{"--env", Takes::EachTime, "A=B", ""},
                              {"--name", Takes::Value, "N", ""}};
constexpr Command kRun{.words = "run",
                       .summary = "",
                       .details = "",
                       .examples = "",
                       .flags = kRunFlags,
                       .run = nullptr,
                       .takes_rest = true};

using Words = std::vector<std::string>;

Arguments parsed(const Command& command, const Words& words) {
  const auto arguments = parse(command, words);
  EXPECT_TRUE(arguments) << (arguments ? "" : arguments.error().message);
  return arguments ? *arguments : Arguments{};
}

std::string error_of(const Command& command, const Words& words) {
  const auto arguments = parse(command, words);
  return arguments ? "" : arguments.error().message;
}

TEST(Parse, ANameMayStandAloneOrBehindItsFlag) {
  EXPECT_EQ(parsed(kShow, {"-n", "x"}).get("name"), "x");
  EXPECT_EQ(parsed(kShow, {"--name=x"}).get("name"), "x");
  EXPECT_EQ(parsed(kShow, {"x", "-o", "json"}).get("name"), "x");
  EXPECT_EQ(parsed(kShow, {"-n", "a", "-n", "b"}).get("name"), "b");
}

TEST(Parse, TheBeginningOfAFlagIsEnoughWhenOnlyOneBeginsSo) {
  EXPECT_EQ(parsed(kShow, {"--nam", "x"}).get("name"), "x");
  EXPECT_EQ(parsed(kShow, {"--na=x"}).get("name"), "x");
  EXPECT_EQ(error_of(kShow, {"--s"}), "'--s' could be --stream or --set or --subscription");
  EXPECT_EQ(parsed(kRun, {"ls", "--env"}).rest, (Words{"ls", "--env"}));
}

TEST(Parse, AValueMayBeLeftOut) {
  EXPECT_EQ(parsed(kShow, {"--list"}).get("list"), "true");
  EXPECT_EQ(parsed(kShow, {"--list", "false"}).get("list"), "false");
  EXPECT_EQ(parsed(kShow, {"--list", "-n", "x"}).get("list"), "true");
  EXPECT_FALSE(parsed(kShow, {"-n", "x"}).has("list"));
}

TEST(Parse, SwitchesAreThereOrNot) {
  EXPECT_TRUE(parsed(kShow, {"--stream"}).has("stream"));
  EXPECT_FALSE(parsed(kShow, {"x"}).has("stream"));
}

TEST(Parse, TakesSeveralValuesUpToTheNextFlag) {
  const Arguments arguments = parsed(kShow, {"--set", "a=1", "b=2", "-s", "--set", "c=-3"});

  EXPECT_EQ(arguments.all("set"), (Words{"a=1", "b=2", "c=-3"}));
  EXPECT_TRUE(arguments.has("stream"));
}

TEST(Parse, SuggestsTheNearestFlag) {
  EXPECT_EQ(error_of(kShow, {"--streem"}),
            "'--streem' is not a flag of 'job show'; did you mean '--stream'?");
  EXPECT_EQ(error_of(kShow, {"a", "b"}), "'job show' takes no word 'b'");
  EXPECT_NE(error_of(kShow, {"-n"}), "");
}

TEST(Parse, WordsBehindTwoDashesAreNotOurs) {
  const Arguments arguments =
      parsed(kRun, {"--env", "A=1", "--env", "B=2", "--", "ls", "--env", "--"});

  EXPECT_EQ(arguments.rest, (Words{"ls", "--env", "--"}));
  EXPECT_EQ(arguments.all("env"), (Words{"A=1", "B=2"}));
}

TEST(Parse, ACommandMayBeginWithoutDashes) {
  const Arguments arguments = parsed(kRun, {"--env", "A=1", "python3", "x.py", "--name", "y"});

  EXPECT_EQ(arguments.rest, (Words{"python3", "x.py", "--name", "y"}));
  EXPECT_FALSE(arguments.has("name"));
}

TEST(Parse, AnUnknownFlagIsNotTakenForACommand) {
  EXPECT_NE(error_of(kRun, {"--bogus", "ls"}), "");
  EXPECT_NE(error_of(kRun, {"--bogus", "--", "ls"}), "");
  EXPECT_NE(error_of(kRun, {"stray", "--", "ls"}), "");
}

TEST(Parse, NoTwoCommandsHaveTheSameWords) {
  std::set<std::string_view> known;
  const std::vector<Command> commands = all_commands();
  for (const Command& command : commands) {
    EXPECT_TRUE(known.insert(command.words).second)
        << command.words << ": what is there now is not in absent_commands.cc any more";
  }
}

TEST(Parse, EveryCommandHasHelpAndFlagsThatDoNotClash) {
  for (const Command& command : all_commands()) {
    EXPECT_FALSE(command.summary.empty()) << command.words;
    EXPECT_TRUE(parsed(command, {"--help"}).has("help")) << command.words;
  }
}

}  // namespace
}  // namespace berth::cli
