// SPDX-License-Identifier: Apache-2.0
// For tests of the control plane: all of it, before a store whose commits the test completes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/plane/control_plane.h"
#include "store/fake_store.h"

namespace berth::server {

/// Writes down what the control plane does to the world.
class Recorder final : public Effects {
 public:
  void launch(const model::Job& job, const model::Node&) override {
    launched.push_back(job.key.name);
  }
  void go(const model::Job& job, const model::NodeId&) override { gone.push_back(job.key.name); }
  void stop(const wire::node::AttemptRef& attempt, const model::NodeId&) override {
    stopped.push_back(attempt.job.name);
  }
  void forget(const wire::node::AttemptRef& attempt, const model::NodeId&) override {
    forgotten.push_back(attempt.job.name);
  }
  void start_node(const model::Node& node) override { started.push_back(node.id.text); }
  void dismiss_node(const model::NodeId& node) override { dismissed.push_back(node.text); }
  void attempt_taken(const model::JobKey& job, int) override { taken.push_back(job.name); }
  void job_changed(const model::JobKey&) override {}
  void resynchronise() override { ++resynchronised; }

  std::vector<std::string> launched, stopped, forgotten, started, dismissed, gone, taken;
  int resynchronised = 0;
};

using Names = std::vector<std::string>;

class PlaneTest : public testing::Test {
 protected:
  PlaneTest() {
    EXPECT_TRUE(plane.start());
    store.complete();
    workspace = plane.state().workspaces.begin()->first;
  }

  model::Job draft(const std::string& name) const {
    model::Job job{.key = {workspace, name}};
    command_of(job.spec.edit()).command = "true";
    return job;
  }

  Result<JobsDesk::Submitted> submit(const std::string& name) {
    return plane.jobs.submit(draft(name));
  }

  void join(const std::vector<NodesDesk::Held>& held = {}) {
    EXPECT_TRUE(plane.nodes.joined({"local"}, {.slots = 2, .work_root = "/work-root"}, held));
    store.complete();
  }

  /// A job on a connected node, launched.
  model::JobKey running(const std::string& name) {
    EXPECT_TRUE(submit(name));
    store.complete();
    join();
    plane.nodes.job_advanced({"local"}, {{workspace, name}, 1}, model::JobStatus::Running);
    store.complete();
    return {workspace, name};
  }

  model::JobStatus status(const std::string& name) {
    return plane.jobs.find({workspace, name})->status;
  }

  SimClock clock;
  store::FakeStore store;
  Recorder world;
  ControlPlane plane{
      store,
      world,
      clock,
      {.settings = {.local = model::local_compute(2)}, .node_idle = std::chrono::seconds(60)}};
  model::WorkspaceId workspace;
};

}  // namespace berth::server
