// SPDX-License-Identifier: Apache-2.0
#include "server/plane/access_desk.h"

#include <gtest/gtest.h>

#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

using model::JobStatus;

class AccessDeskTest : public PlaneTest {
 protected:
  AccessDeskTest() {
    EXPECT_TRUE(plane.access.put_user("ana", "", "owner"));
    model::Job job = draft("a");
    job.created_by = "ana";
    EXPECT_TRUE(plane.jobs.submit(job));
    store.complete();
  }
};

TEST_F(AccessDeskTest, AUserAndTheCancelsOfTheirJobsAreOneCommit) {
  ASSERT_TRUE(plane.access.delete_user("ana", AccessDesk::UsersJobs::Cancel));
  ASSERT_EQ(store.waiting(), 1u);

  store.complete();

  EXPECT_TRUE(store.load()->access.users.empty());
  EXPECT_EQ(status("a"), JobStatus::Canceled);
}

TEST_F(AccessDeskTest, AUserWithWorkIsKeptUnlessItIsSaidWhatBecomesOfIt) {
  EXPECT_EQ(plane.access.delete_user("ana").error().code, Code::Conflict);
  EXPECT_EQ(store.waiting(), 0u);

  ASSERT_TRUE(plane.access.delete_user("ana", AccessDesk::UsersJobs::Keep));
  store.complete();
  EXPECT_FALSE(model::is_terminal(status("a")));
}

}  // namespace
}  // namespace berth::server
