// SPDX-License-Identifier: Apache-2.0
#include "server/keys/signer.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;

class SignerTest : public testing::Test {
 protected:
  Result<Grant> check(const std::string& text) const {
    return signer.check({"ws"}, "azureml", text, now);
  }

  /// The signed query with one value replaced.
  std::string with(std::string_view name, const std::string& value) const {
    std::string changed;
    for (const std::string_view pair : split(query, '&')) {
      if (!changed.empty()) changed += '&';
      changed += pair.starts_with(std::string(name) + "=") ? std::string(name) + "=" + value
                                                           : std::string(pair);
    }
    return changed;
  }

  Signer signer{"a key"};
  WallTime now{1'700'000'000'000ms};
  Grant grant{.workspace = {"ws"},
              .container = "azureml",
              .prefix = "runs/ä & b",
              .permissions = "rl",
              .expires_at = now + 1h};
  std::string query = signer.sign(grant);
};

TEST_F(SignerTest, WhatItSignsItAccepts) {
  const auto checked = check(query);

  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->prefix, grant.prefix);
  EXPECT_EQ(checked->permissions, "rl");
  EXPECT_EQ(checked->expires_at, grant.expires_at);
}

TEST_F(SignerTest, OtherParametersDoNotMatter) {
  EXPECT_TRUE(check("comp=list&" + query + "&prefix=x"));
}

// azure-storage-blob drops parameters it does not know, and takes a token that has one for a key.
TEST_F(SignerTest, UsesOnlyParametersThatStorageClientsCarryAlong) {
  const std::set<std::string_view> known = {"sv", "sr", "sp", "se", "spr", "si", "sig"};
  for (const std::string_view pair : split(query, '&')) {
    EXPECT_TRUE(known.contains(pair.substr(0, pair.find('=')))) << pair;
  }
}

TEST_F(SignerTest, RefusesAnythingThatWasChanged) {
  const std::string changes[] = {
      with("sp", "rwdl"),
      with("sp", ""),
      with("se", "2099-01-01T00%3A00%3A00.000Z"),
      with("si", "runs"),
      with("si", ""),
      with("sv", "2020-01-01"),
      with("sr", "b"),
      with("spr", "https"),
      with("sig", "AAAA"),
      with("sig", ""),
      with("sig", "%%%"),
      query + "&sp=rwdl",
      query + "&si=",
      query.substr(0, query.find("&si=")) + query.substr(query.find("&sig=")),
      "",
  };
  for (const std::string& changed : changes) {
    const auto checked = check(changed);
    ASSERT_FALSE(checked) << changed;
    EXPECT_EQ(checked.error().code, Code::Forbidden) << changed;
  }
}

TEST_F(SignerTest, IsForOneWorkspaceContainerAndKey) {
  EXPECT_FALSE(signer.check({"other"}, "azureml", query, now));
  EXPECT_FALSE(signer.check({"ws"}, "azureml-blobstore", query, now));
  EXPECT_FALSE(Signer("another key").check({"ws"}, "azureml", query, now));
}

TEST_F(SignerTest, FieldsCannotFlowIntoEachOther) {
  const std::string shifted = signer.sign(
      {.workspace = {"wsa"}, .container = "zureml", .permissions = "r", .expires_at = now + 1h});

  EXPECT_FALSE(check(shifted));
}

TEST_F(SignerTest, Expires) {
  EXPECT_TRUE(signer.check({"ws"}, "azureml", query, now + 1h - 1ms));
  EXPECT_FALSE(signer.check({"ws"}, "azureml", query, now + 1h));
}

TEST_F(SignerTest, APrefixCoversItselfAndWhatLiesBelow) {
  const auto covered = [](std::string prefix, std::string_view path) {
    return covers({.prefix = std::move(prefix)}, path);
  };
  EXPECT_TRUE(covered("", "anything"));
  EXPECT_TRUE(covered("runs/a", "runs/a"));
  EXPECT_TRUE(covered("runs/a", "runs/a/x"));
  EXPECT_TRUE(covered("runs/a/", "runs/a/x"));
  EXPECT_FALSE(covered("runs/a", "runs/ab"));
  EXPECT_FALSE(covered("runs/a/", "runs/a"));
  EXPECT_FALSE(covered("runs/a", "runs"));
  EXPECT_FALSE(covered("runs/a", ""));
}

TEST_F(SignerTest, JobTokensTellWhoTheyAreFor) {
  const std::string token = signer.job_token({{"ws"}, "a.job.with.dots"}, 12);

  const auto checked = signer.check_job_token(token);

  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->job.workspace.text, "ws");
  EXPECT_EQ(checked->job.name, "a.job.with.dots");
  EXPECT_EQ(checked->attempt, 12);
}

TEST_F(SignerTest, RefusesBrokenJobTokens) {
  const std::string token = signer.job_token({{"ws"}, "job"}, 1);
  std::string other_attempt = token;
  other_attempt[std::string_view("berth-job.ws.").size()] = '2';
  std::string other_end = token;
  other_end.back() = other_end.back() == '0' ? '1' : '0';
  for (const std::string& broken :
       {other_attempt, other_end, token + "0", token.substr(0, token.size() - 1), std::string(),
        std::string("berth-job."), std::string("berth-job.."), std::string("berth-job...."),
        signer.node_token({"ws.1.job"})}) {
    EXPECT_FALSE(signer.check_job_token(broken)) << broken;
  }
  EXPECT_FALSE(Signer("another key").check_job_token(token));
}

TEST_F(SignerTest, NodeTokensAreForOneNode) {
  const std::string token = signer.node_token({"local.1"});

  EXPECT_EQ(signer.check_node_token(token)->text, "local.1");
  EXPECT_FALSE(signer.check_node_token("berth-node.local.2" + token.substr(token.rfind('.'))));
  EXPECT_FALSE(signer.check_node_token("berth-node."));
  EXPECT_FALSE(signer.check_node_token(signer.job_token({{"ws"}, "job"}, 1)));
}

}  // namespace
}  // namespace berth::server
