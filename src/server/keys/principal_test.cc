// SPDX-License-Identifier: Apache-2.0
#include "server/keys/principal.h"

#include <gtest/gtest.h>

namespace berth::server {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kIssued(1'000'000s);
constexpr WallTime kNow = kIssued + 60s;

class IsCurrentTest : public testing::Test {
 protected:
  IsCurrentTest() {
    state.access.tokens[bearer.token] = {
        .id = bearer.token, .user = bearer.user, .created_at = kIssued, .expires_at = kIssued + 1h};
  }

  model::Token& token() { return state.access.tokens.at(bearer.token); }

  core::State state;
  Principal bearer{
      .kind = Principal::Kind::User, .user = {"ana"}, .token = {"t1"}, .issued_at = kIssued};
};

TEST_F(IsCurrentTest, ATokenIsGoodUntilItExpires) {
  EXPECT_TRUE(is_current(state, bearer, kNow));
  EXPECT_TRUE(is_current(state, bearer, kIssued + 1h - 1ms));
  EXPECT_FALSE(is_current(state, bearer, kIssued + 1h));
}

TEST_F(IsCurrentTest, ARevokedOneIsNot) {
  state.access.tokens.clear();
  EXPECT_FALSE(is_current(state, bearer, kNow));
}

TEST_F(IsCurrentTest, WhatWasGivenForTheOldSecretEndsWithIt) {
  token().created_at = kIssued + 1s;
  EXPECT_FALSE(is_current(state, bearer, kNow));
}

TEST_F(IsCurrentTest, OneThatIsSomebodyElsesNowIsNot) {
  token().user = {"bob"};
  EXPECT_FALSE(is_current(state, bearer, kNow));
}

TEST_F(IsCurrentTest, AJobIsWhileItsAttemptHoldsNodes) {
  const Principal job{
      .kind = Principal::Kind::Job, .job = {.workspace = {"ws"}, .name = "j"}, .attempt = 2};
  EXPECT_FALSE(is_current(state, job, kNow)) << "there is none";

  model::Job& live = state.jobs[job.job];
  live.attempt = 2;
  live.holding = model::Members{{{.node = {"n1"}}}};
  EXPECT_TRUE(is_current(state, job, kNow));

  live.attempt = 3;
  EXPECT_FALSE(is_current(state, job, kNow)) << "an earlier attempt";
  live.attempt = 2;
  live.holding = model::None{};
  EXPECT_FALSE(is_current(state, job, kNow)) << "taken from its node";
}

}  // namespace
}  // namespace berth::server
