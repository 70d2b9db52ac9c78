// SPDX-License-Identifier: Apache-2.0
#include "core/rules/docker_limits.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

Result<DockerLimits> limits_of(const char* arguments, const char* shm_size = "") {
  return docker_limits({.shm_size = shm_size, .docker_args = arguments});
}

TEST(DockerLimits, EverySpellingIsRead) {
  for (const char* text : {"--memory 512m", "--memory=512m", "-m 512m", "-m=512m", "-m512m",
                           "--ipc=host   --memory\t512m", "--memory 1g --memory 0.5g"}) {
    const auto limits = limits_of(text);
    ASSERT_TRUE(limits) << text << ": " << limits.error().message;
    EXPECT_EQ(limits->memory, 512u << 20) << text;
  }
  EXPECT_EQ(limits_of("--pids-limit 64")->processes, 64u);
  EXPECT_EQ(limits_of("", "2g")->shared_memory, 2ull << 30);
  EXPECT_EQ(limits_of("--shm-size=1g", "2g")->shared_memory, 1ull << 30);
}

TEST(DockerLimits, NoLimitIsNone) {
  for (const char* text : {"", "--memory 0 --pids-limit 0 --shm-size 0", "--pids-limit -1",
                           "--memory-swap -1 --gpus all", "--memory-reservation x"}) {
    const auto limits = limits_of(text);
    ASSERT_TRUE(limits) << text << ": " << limits.error().message;
    EXPECT_FALSE(limits->memory || limits->processes || limits->shared_memory) << text;
  }
}

TEST(DockerLimits, WhatDoesNotFitOrIsNoneIsRefusedByItsFlag) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"--memory 17179869184g", "--memory"},
      {"-m 18446744073709551615k", "-m"},
      {"--shm-size=99999999999p", "--shm-size"},
      {"--pids-limit 99999999999999999999", "--pids-limit"},
      {"--pids-limit 9223372036854775808", "--pids-limit"},
      {"--pids-limit -5", "--pids-limit"},
      {"--memory much", "--memory"},
      {"--gpus all --memory", "--memory"},
  };
  for (const auto& [text, flag] : kWrong) {
    const auto limits = limits_of(text);
    ASSERT_FALSE(limits) << text;
    EXPECT_TRUE(limits.error().message.starts_with(flag)) << limits.error().message;
    EXPECT_EQ(limits.error().target, "resources.docker_args");
  }
  EXPECT_EQ(limits_of("", "17179869184g").error().target, "resources.shm_size");
}

}  // namespace
}  // namespace berth::core
