// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/superseded.h"

#include <gtest/gtest.h>

#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

class Superseded : public StoreFixture {
 protected:
  static Put<model::Node> node(const std::string& id) { return {model::Node{.id = {id}}}; }

  static std::vector<bool> worth(const Batch& changes) {
    std::vector<const Write*> all;
    for (const Write& change : changes) all.push_back(&change);
    return worth_writing(all);
  }
};

using Flags = std::vector<bool>;

TEST_F(Superseded, OnlyTheLastRowOfAJobOrNodeIsWritten) {
  EXPECT_EQ(worth({Put<model::Job>{job(1, "a")}, node("n"), Put<model::Job>{job(2, "b")},
                   AddUsage{}, AddAudit{}, PutBlob{}, node("n"), Put<model::Job>{job(1, "a")}}),
            (Flags{false, false, true, true, true, true, true, true}));
}

TEST_F(Superseded, AChangeThatMayLookAtRowsFindsThem) {
  for (const Write& between :
       Batch{Track{}, Erase<model::Job>{}, Erase<model::Workspace>{}, Put<model::Workspace>{},
             DropMetrics{}, DropJobFiles{}, DropCode{}}) {
    EXPECT_EQ(worth({Put<model::Job>{job(1, "a")}, node("n"), between, node("n"),
                     Put<model::Job>{job(1, "a")}}),
              (Flags{true, true, true, true, true}));
  }
}

/// What follows from a row, and not only the row, is as if each had been written.
TEST_F(Superseded, WhatFollowsFromARowIsThere) {
  model::Job first = job(1, "j");
  first.tags = {{"kept", "1"}, {"dropped", "1"}};
  model::Job last = job(1, "j", model::JobStatus::Completed);
  last.tags = {{"kept", "1"}, {"added", "1"}};
  commit({Put<model::Job>{first}, Put<model::Job>{job(1, "j", model::JobStatus::Running)},
          AddUsage{}, Put<model::Job>{last}});

  EXPECT_TRUE(store->load()->jobs.empty());
  EXPECT_EQ(store->last_sequence().value(), 1);
  for (const auto& [tag, count] : {std::pair{"kept", 1u}, {"added", 1u}, {"dropped", 0u}}) {
    EXPECT_EQ(store->jobs({.workspace = {"w"}, .tag_key = tag})->size(), count) << tag;
  }
}

}  // namespace
}  // namespace berth::store
