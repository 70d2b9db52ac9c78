// SPDX-License-Identifier: Apache-2.0
#include "target/slurm/settings.h"

#include <gtest/gtest.h>

namespace berth::target::slurm {
namespace {

using namespace std::chrono_literals;

TEST(SlurmSettings, WhatOperatorsWriteIsFine) {
  const model::SlurmSettings settings{
      .partition = "main,fast",
      .account = "team_a@lab",
      .qos = "normal",
      .time_limit = 90min,
      .options = {"--constraint=fast&big", "--exclusive", "--gres=gpu:a100:2", "--nodelist=n[1-4]",
                  "--mem-per-cpu=2G", "--reservation=course 1", "--container-image=a'b"},
      .bin_directory = "/opt/slurm/bin",
      .config = "/etc/slurm/slurm.conf",
      .work_directory = "/scratch/a b"};

  EXPECT_TRUE(check_settings({}));
  EXPECT_TRUE(check_settings(settings)) << check_settings(settings).error().message;
}

class BadName : public testing::TestWithParam<std::string> {};

TEST_P(BadName, IsRefusedWhereverItStands) {
  for (auto field : {&model::SlurmSettings::partition, &model::SlurmSettings::account,
                     &model::SlurmSettings::qos}) {
    model::SlurmSettings settings;
    settings.*field = GetParam();
    const Status checked = check_settings(settings);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Code::InvalidArgument);
    EXPECT_TRUE(checked.error().target.starts_with("slurm."));
  }
}

INSTANTIATE_TEST_SUITE_P(SlurmSettings, BadName,
                         testing::Values("-x", "--wrap=id", "a b", "a\nb", "a'b", "a\"b", "$(id)",
                                         "a;b", "a\\b", "ä", std::string("a\0b", 3),
                                         std::string(2000, 'a')));

class BadOption : public testing::TestWithParam<std::string> {};

TEST_P(BadOption, IsRefusedAndNamed) {
  const Status checked = check_settings({.options = {"--exclusive", GetParam()}});

  ASSERT_FALSE(checked) << GetParam();
  EXPECT_EQ(checked.error().code, Code::InvalidArgument);
  EXPECT_EQ(checked.error().target, "slurm.options");
}

INSTANTIATE_TEST_SUITE_P(
    SlurmSettings, BadOption,
    testing::Values("", "-", "--", "---", "-J", "-pmain", "script.sh", "--=x", "--a", "--Mem=1",
                    "--constraint fast", " --exclusive", "--constraint=a\n--wrap=id",
                    std::string("--constraint=a\0b", 16), "--wrap=id", "--wrap", "--wra=id",
                    "--job-name=x", "--job=x", "--comment=x", "--array=1-9", "--arr=1-9",
                    "--output=/x", "--error=/x", "--input=/x", "--chdir=/x", "--export=ALL",
                    "--dependency=after:1", "--requeue", "--clusters=b", "--cl=b", "--uid=0",
                    "--test-only", "--hold", "--wait", "--nodes=2", "--ntasks=2", "--mem=1G",
                    "--signal=USR1", "--parsable", "--quiet", "--verbose", "--help",
                    "--partition=x", "--time=1", "--ti=1", "--qos=x", "--account=x"));

TEST(SlurmSettings, TheMessageNamesTheOptionAndTheFieldToUse) {
  EXPECT_EQ(check_settings({.options = {"--wrap=id"}}).error().message,
            "the site's options hold '--wrap', which Berth sets itself or relies on");
  EXPECT_EQ(check_settings({.options = {"--time=5"}}).error().message,
            "the site's options hold '--time': the site has time_limit for that");
}

TEST(SlurmSettings, PathsAreAbsoluteAndPlain) {
  for (const std::string path : {"bin", "./x", "/a\nb", "/a%jb", "/a\\b", "-/x", "/a\x7f"}) {
    EXPECT_FALSE(check_settings({.bin_directory = path})) << path;
    EXPECT_FALSE(check_settings({.config = path})) << path;
    EXPECT_FALSE(check_settings({.work_directory = path})) << path;
  }
}

TEST(SlurmSettings, ATimeLimitIsBetweenAMinuteAndAYear) {
  EXPECT_FALSE(check_settings({.time_limit = 0min}));
  EXPECT_FALSE(check_settings({.time_limit = -5min}));
  EXPECT_FALSE(check_settings({.time_limit = 24h * 400}));
  EXPECT_TRUE(check_settings({.time_limit = 1min}));
}

}  // namespace
}  // namespace berth::target::slurm
