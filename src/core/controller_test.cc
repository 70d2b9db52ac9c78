// SPDX-License-Identifier: Apache-2.0
#include "core/controller.h"

#include <gtest/gtest.h>

#include <random>

#include "core/sample.h"
#include "core/schedule.h"

namespace berth::core {
namespace {

using model::JobStatus;
using sample::at;
using sample::key;

/// A world with an array and as many nodes as it needs; carry_out() does what the server does.
class ArrayTest : public testing::Test {
 protected:
  void submit(int first, int last, int at_once) {
    sample::submit(state, "p",
                   {.work = model::ArrayWork{.first = first, .last = last, .at_once = at_once}});
    settle();
  }

  /// Orders until there are none.
  void settle() {
    for (;;) {
      const auto found = state.jobs.find(key("p"));
      if (found == state.jobs.end()) return;
      const std::vector<Order> orders = step(state, found->second);
      for (const Order& order : orders) {
        std::visit([this](const auto& what) { carry_out(what); }, order);
      }
      check_invariants(state);
      if (orders.empty()) return;
    }
  }

  void end(const std::string& child, int exit_code = 0) {
    sample::join(state, "n-" + child, 1);
    sample::place(state, child, "n-" + child);
    touched = apply_event(state, JobEnded{.job = key(child),
                                          .attempt = 1,
                                          .node = {"n-" + child},
                                          .outcome = {.exit_code = exit_code},
                                          .at = at(9)});
    settle();
  }

  void cancel(const std::string& job) {
    apply_event(state, JobCancelRequested{key(job), at(5)});
    settle();
  }

  std::vector<std::string> going_on() const {
    std::vector<std::string> names;
    const auto children = state.children.find(key("p"));
    if (children == state.children.end()) return names;
    for (const model::JobKey& child : children->second) names.push_back(child.name);
    return names;
  }
  const model::Job& parent() const { return state.jobs.at(key("p")); }

  State state;
  Touched touched;
  int submits = 0;

 private:
  void carry_out(const SubmitChild& order) {
    model::Job child = order.child;
    child.sequence = 1'000'000 + ++submits;
    apply_event(state, JobSubmitted{child});
  }
  void carry_out(const CancelChild& order) {
    apply_event(state, JobCancelRequested{order.child, at(6)});
  }
  void carry_out(const SetParentStatus& order) {
    apply_event(state, ParentEnded{key("p"), order.status, order.error, at(10)});
  }
};

using Names = std::vector<std::string>;

TEST_F(ArrayTest, AsManyRunAtOnceAsWereAskedForUntilAllHaveRun) {
  submit(3, 6, 2);
  EXPECT_EQ(parent().status, JobStatus::Running);
  EXPECT_EQ(going_on(), (Names{"p_3", "p_4"}));

  end("p_4");
  EXPECT_EQ(going_on(), (Names{"p_3", "p_5"}));
  end("p_3");
  end("p_5");
  end("p_6");

  EXPECT_EQ(parent().status, JobStatus::Completed);
  EXPECT_EQ(parent().ended_at, at(10));
  EXPECT_EQ(submits, 4);
}

TEST_F(ArrayTest, WithoutALimitAllAreThereAtOnce) {
  submit(0, 9, 0);
  EXPECT_EQ(going_on().size(), 10u);
}

TEST_F(ArrayTest, AChildIsTheSameCommandWithAnIndex) {
  sample::submit(state, "p",
                 {.work = model::ArrayWork{.first = 7, .last = 7}, .experiment_name = "e"});
  settle();

  const model::JobSpec& child = state.jobs.at(key("p_7")).spec;
  EXPECT_EQ(model::kind_of(child.work), "Command");
  EXPECT_EQ(command_of(child).command, command_of(parent().spec).command);
  EXPECT_EQ(command_of(child).environment_variables.at(kArrayIndexVariable), "7");
  EXPECT_EQ(child.experiment_name, "e");
  EXPECT_EQ(child.parent_job_name, "p");
}

TEST_F(ArrayTest, OneThatFailsLetsTheOthersRunAndFailsTheParentInTheEnd) {
  submit(1, 3, 1);
  end("p_1", 3);
  EXPECT_EQ(parent().status, JobStatus::Running);
  end("p_2");
  end("p_3");

  EXPECT_EQ(parent().status, JobStatus::Failed);
  EXPECT_EQ(parent().error->code, "ChildrenFailed");
  EXPECT_EQ(parent().error->message, "of its 3 jobs 1 failed and 0 were canceled");
}

TEST_F(ArrayTest, ACancelEndsItsChildrenAndThenTheParent) {
  submit(1, 5, 2);
  sample::join(state, "n", 1);
  sample::place(state, "p_1", "n");

  cancel("p");

  EXPECT_EQ(parent().status, JobStatus::CancelRequested);
  EXPECT_EQ(going_on(), Names{"p_1"}) << "it holds a node; the other waited";
  EXPECT_EQ(explain(state, parent()), "waits for the end of 1 of its jobs");
  apply_event(state, JobEnded{.job = key("p_1"),
                              .attempt = 1,
                              .node = {"n"},
                              .outcome = {.ending = model::Ending::Stopped},
                              .at = at(7)});
  settle();
  EXPECT_EQ(parent().status, JobStatus::Canceled);
  EXPECT_EQ(submits, 2);
}

TEST_F(ArrayTest, WhatWasDoneBeforeTheCancelIsDone) {
  submit(1, 1, 0);
  sample::join(state, "n", 1);
  sample::place(state, "p_1", "n");
  cancel("p");
  apply_event(state, JobEnded{.job = key("p_1"), .attempt = 1, .node = {"n"}, .at = at(7)});
  settle();
  EXPECT_EQ(parent().status, JobStatus::Completed);
}

TEST_F(ArrayTest, AChildThatIsCancelledAloneIsMissed) {
  submit(1, 2, 0);
  cancel("p_1");
  end("p_2");
  EXPECT_EQ(parent().status, JobStatus::Failed);
  EXPECT_EQ(parent().error->message, "of its 2 jobs 0 failed and 1 were canceled");
}

TEST_F(ArrayTest, TheCountIsWrittenWithTheEndOfTheChild) {
  submit(1, 2, 0);
  end("p_1");
  EXPECT_TRUE(touched.of<model::Job>().contains(key("p")));
  EXPECT_TRUE(touched.of<model::Job>().contains(key("p_1")));
}

TEST_F(ArrayTest, ItsChildrenMayBeForgotten) {
  submit(1, 2, 1);
  end("p_1");
  forget_ended(state, sample::jobs({"p_1"}));
  check_invariants(state);
  end("p_2");
  EXPECT_EQ(parent().status, JobStatus::Completed);
}

TEST_F(ArrayTest, NamesAndParenthoodAreItsOwn) {
  submit(1, 2, 1);
  EXPECT_EQ(controlling_parent(state, {.key = key("p_2")}), &parent());
  EXPECT_EQ(
      controlling_parent(state, {.key = key("x"), .spec = model::JobSpec{.parent_job_name = "p"}}),
      &parent());
  EXPECT_EQ(controlling_parent(state, {.key = key("q_2")}), nullptr);
  EXPECT_EQ(controlling_parent(state, {.key = key("p_1_1")}), nullptr);
}

TEST_F(ArrayTest, OrdinaryJobsAndParentsThatAreOverOrderNothing) {
  sample::submit(state, "x");
  EXPECT_TRUE(step(state, state.jobs.at(key("x"))).empty());
  submit(1, 1, 0);
  end("p_1");
  EXPECT_TRUE(step(state, parent()).empty());
}

/// Random ends and cancels in any order: exactly the listed children, and an end for all.
TEST_F(ArrayTest, EveryHistoryEndsWithEveryChild) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int below) {
      return static_cast<int>(random() % static_cast<unsigned>(below));
    };
    SCOPED_TRACE(seed);
    state = {};
    submits = 0;
    const int length = 1 + pick(12);
    submit(1, length, pick(4));
    bool was_cancelled = false;
    while (!going_on().empty()) {
      const Names names = going_on();
      const std::string& child =
          names[static_cast<std::size_t>(pick(static_cast<int>(names.size())))];
      if (pick(40) == 0) {
        was_cancelled = true;
        cancel("p");
      } else if (pick(10) == 0) {
        cancel(child);
      } else {
        end(child, pick(6) == 0 ? 1 : 0);
      }
    }
    EXPECT_TRUE(is_terminal(parent().status));
    EXPECT_TRUE(submits == length || was_cancelled);
    EXPECT_LE(submits, length);
  }
}

}  // namespace
}  // namespace berth::core
