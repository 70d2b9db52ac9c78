// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/experiment_ids.h"

#include <gtest/gtest.h>

namespace berth::store {
namespace {

model::Job job_of(std::int64_t sequence, const std::string& experiment = "trees",
                  const std::string& workspace = "ws") {
  model::Job job;
  job.key = {{workspace}, "job-" + std::to_string(sequence)};
  job.sequence = sequence;
  job.spec.edit().experiment_name = experiment;
  return job;
}

Track renaming() { return {PutExperiment{{.workspace = {"ws"}, .id = "7", .name = "forests"}}}; }

TEST(ExperimentIdsTest, WhatOneJobIsToldTheNextOneIsTold) {
  ExperimentIds ids(10);
  ids.note({Put{job_of(11)}, Put{job_of(12)}});
  EXPECT_FALSE(ids.find(job_of(11)));

  ids.learn(job_of(11), "7");

  EXPECT_EQ(ids.find(job_of(12)), "7");
  EXPECT_FALSE(ids.find(job_of(12, "shrubs")));
  EXPECT_FALSE(ids.find(job_of(12, "trees", "other")));
}

TEST(ExperimentIdsTest, JobsFromBeforeTheServerBeganAreNoSource) {
  ExperimentIds ids(10);

  ids.learn(job_of(10), "7");
  EXPECT_FALSE(ids.find(job_of(11)));

  ids.learn(job_of(11), "8");
  EXPECT_FALSE(ids.find(job_of(10)));
}

TEST(ExperimentIdsTest, AJobFromBeforeARenameKeepsItsExperimentAndSaysNothingOfTheName) {
  ExperimentIds ids(0);
  ids.note({Put{job_of(1)}});
  ids.learn(job_of(1), "7");

  ids.note({renaming()});
  ids.learn(job_of(1), "7");  // Its run is read once more.

  EXPECT_FALSE(ids.find(job_of(1)));
  EXPECT_FALSE(ids.find(job_of(2)));
  ids.note({Put{job_of(2)}});
  ids.learn(job_of(2), "8");
  EXPECT_EQ(ids.find(job_of(3)), "8");
}

TEST(ExperimentIdsTest, AJobInTheSameBatchCountsByItsPlaceInIt) {
  ExperimentIds ids(0);
  ids.note({Put{job_of(1)}, renaming(), Put{job_of(2)}});

  ids.learn(job_of(1), "7");
  EXPECT_FALSE(ids.find(job_of(2)));

  ids.learn(job_of(2), "8");
  EXPECT_EQ(ids.find(job_of(2)), "8");
}

TEST(ExperimentIdsTest, AWorkspaceThatGoesTakesThemAlong) {
  ExperimentIds ids(0);
  ids.note({Put{job_of(1)}});
  ids.learn(job_of(1), "7");

  ids.note({Erase<model::Workspace>{{"ws"}}});

  EXPECT_FALSE(ids.find(job_of(2)));
}

TEST(ExperimentIdsTest, TheySpeakOfSoManyNamesAndNoMore) {
  ExperimentIds ids(0);
  for (int number = 1; number <= 1001; ++number) {
    ids.learn(job_of(number, "e" + std::to_string(number)), "7");
  }
  EXPECT_FALSE(ids.find(job_of(2000, "e1")));
  EXPECT_EQ(ids.find(job_of(2000, "e1001")), "7");
}

}  // namespace
}  // namespace berth::store
