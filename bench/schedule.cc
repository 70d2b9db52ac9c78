// SPDX-License-Identifier: Apache-2.0
// How long the solver takes, and how that grows: queued jobs are placed on the nodes of one
// cluster, end, and make way for the next, with a decision after every event, as in a server.
//
//   bench_schedule            a table
//   bench_schedule --json     one line for each size

#include "core/schedule.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>

#include "core/sample.h"

namespace berth::core {
namespace {

using Clock = std::chrono::steady_clock;

struct Size {
  int jobs;
  int nodes;
};

struct Figures {
  double first_plan_ms = 0;  ///< Everything waits, every node is idle.
  double decision_us = 0;    ///< One job ends: who is next?
  double explain_ms = 0;     ///< Of the last in line.
};

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

State loaded(const Size& size) {
  State state = sample::with_sites();
  state.sites["local"].capacity = {};
  sample::make_cluster(state, "c", {.min_nodes = size.nodes, .max_nodes = size.nodes});
  for (int i = 0; i < size.nodes; ++i) {
    model::Node node{.id = {"c-" + std::to_string(i)}, .sequence = i + 1};
    node.target = {sample::compute_key("c")};
    apply_event(state, NodeRequested{node});
    apply_event(state, NodeJoined{.node = node.id});
  }
  for (int i = 0; i < size.jobs; ++i) {
    sample::submit_to(state, "c", "j" + std::to_string(i), 1, 1 + i % 3);
  }
  return state;
}

Figures measure(const Size& size) {
  State state = loaded(size);
  Figures figures;
  const auto began = Clock::now();
  const Plan first = plan(state, sample::at(1));
  figures.first_plan_ms = ms_since(began);

  std::deque<JobPlaced> running;
  const auto take = [&](const Plan& next) {
    for (const JobPlaced& placed : next.place) {
      apply_event(state, placed);
      running.push_back(placed);
    }
  };
  take(first);
  const model::JobKey last = state.targets.at({sample::compute_key("c")}).line.rbegin()->second;
  const auto explained = Clock::now();
  const std::string why = explain(state, state.jobs.at(last));
  figures.explain_ms = ms_since(explained);

  int decisions = 0;
  double decision_ms = 0;
  while (!running.empty() && decisions < 20'000) {
    const JobPlaced done = running.front();
    running.pop_front();
    apply_event(state, JobEnded{done.job, 1, done.nodes.front(), {}, sample::at(2)});
    forget_ended(state, {done.job});
    const auto asked = Clock::now();
    const Plan next = plan(state, sample::at(2));
    decision_ms += ms_since(asked);
    take(next);
    ++decisions;
  }
  figures.decision_us = 1000 * decision_ms / decisions;
  return figures;
}

}  // namespace
}  // namespace berth::core

int main(int count, char** arguments) {
  using namespace berth::core;
  const bool as_json = count > 1 && std::strcmp(arguments[1], "--json") == 0;
  if (!as_json) {
    std::printf("%8s %8s %16s %18s %14s\n", "jobs", "nodes", "first plan, ms", "next decision, us",
                "explain, ms");
  }
  for (const Size size : {Size{1'000, 100}, Size{10'000, 1'000}, Size{100'000, 10'000}}) {
    const Figures figures = measure(size);
    std::printf(as_json ? "{\"jobs\":%d,\"nodes\":%d,\"first_plan_ms\":%.3f,\"decision_us\":%.3f,"
                          "\"explain_ms\":%.3f}\n"
                        : "%8d %8d %16.2f %18.2f %14.2f\n",
                size.jobs, size.nodes, figures.first_plan_ms, figures.decision_us,
                figures.explain_ms);
  }
  return 0;
}
