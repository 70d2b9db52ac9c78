// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/git.h"

#include <gtest/gtest.h>

#include "cli/testing_folder.h"

namespace berth::cli {
namespace {

const std::string kCommit(40, 'a');

using Facts = std::map<std::string, std::string>;

TEST(Git, OutsideARepositoryThereAreNoFacts) {
  const TestingFolder folder;

  EXPECT_EQ(git_facts(folder.path(), {}), Facts{});
}

TEST(Git, ReadsBranchCommitAndAddress) {
  const TestingFolder folder;
  folder.write(".git/HEAD", "ref: refs/heads/topic/x\n");
  folder.write(".git/refs/heads/topic/x", kCommit + "\n");
  folder.write(".git/config",
               "[core]\n\turl = no\n[remote \"origin\"]\n\turl = git@example.com:a/b.git\n");
  folder.write("src/train.py", "");

  EXPECT_EQ(git_facts(folder.path() + "/src", {}),
            (Facts{{"mlflow.source.git.branch", "topic/x"},
                   {"mlflow.source.git.commit", kCommit},
                   {"mlflow.source.git.repoURL", "git@example.com:a/b.git"}}));
}

TEST(Git, FindsPackedAndDetachedCommits) {
  const TestingFolder folder;
  folder.write(".git/HEAD", "ref: refs/heads/main\n");
  folder.write(".git/packed-refs", "# pack-refs with: peeled\n" + kCommit + " refs/heads/main\n");
  EXPECT_EQ(git_facts(folder.path(), {}).at("mlflow.source.git.commit"), kCommit);

  folder.write(".git/HEAD", kCommit + "\n");
  EXPECT_EQ(git_facts(folder.path(), {}), (Facts{{"mlflow.source.git.commit", kCommit}}));
}

TEST(Git, FollowsAWorktreeToItsRepository) {
  const TestingFolder folder;
  folder.write("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
  folder.write("main/.git/worktrees/w/commondir", "../..\n");
  folder.write("main/.git/refs/heads/w", kCommit + "\n");
  folder.write("w/.git", "gitdir: ../main/.git/worktrees/w\n");

  EXPECT_EQ(git_facts(folder.path() + "/w", {}).at("mlflow.source.git.commit"), kCommit);
}

TEST(Git, NeverKeepsCredentials) {
  const TestingFolder folder;
  folder.write(".git/HEAD", kCommit);
  folder.write(".git/config",
               "[remote \"origin\"]\nurl = https://me:secret@example.com/a/b@c.git\n");

  EXPECT_EQ(git_facts(folder.path(), {}).at("mlflow.source.git.repoURL"),
            "https://example.com/a/b@c.git");
}

TEST(Git, VariablesWin) {
  const TestingFolder folder;
  folder.write(".git/HEAD", "ref: refs/heads/main\n");
  const Place place{
      .environment = {{"AZUREML_GIT_BRANCH", "release"}, {"AZUREML_GIT_DIRTY", "True"}}};

  EXPECT_EQ(git_facts(folder.path(), place),
            (Facts{{"azureml.git.dirty", "True"}, {"mlflow.source.git.branch", "release"}}));
}

}  // namespace
}  // namespace berth::cli
