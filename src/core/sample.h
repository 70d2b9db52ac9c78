// SPDX-License-Identifier: Apache-2.0
// States for tests, built by the events that would have led to them.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "core/state.h"

namespace berth::core::sample {

inline const model::WorkspaceId kWorkspace{"w"};

inline model::JobKey key(const std::string& name) { return {kWorkspace, name}; }

inline WallTime at(int second) { return WallTime(std::chrono::seconds(second)); }

inline EntityKeys jobs(std::initializer_list<const char*> names) {
  EntityKeys keys;
  for (const char* name : names) keys.of<model::Job>().insert(key(name));
  return keys;
}

/// Submits a job as the next in the sequence.
inline void submit(State& state, const std::string& name, model::JobSpec spec = {}) {
  static std::int64_t sequence = 0;
  command_of(spec).command = "true";
  apply_event(state,
              JobSubmitted{{.key = key(name), .sequence = ++sequence, .spec = std::move(spec)}});
}

/// A node of the target 'local' that is connected.
inline void join(State& state, const std::string& node, int slots) {
  apply_event(state, NodeRequested{{.id = {node}, .slots = slots}});
  apply_event(state, NodeJoined{.node = {node}, .slots = slots, .work_root = "/work"});
}

inline void place(State& state, const std::string& job, const std::string& node, int second = 1) {
  apply_event(state, JobPlaced{.job = key(job), .nodes = {{node}}, .at = at(second)});
}

/// Sites, sizes and a machine of eight cores, as a server has them.
inline State with_sites() {
  State state;
  state.settings = {.local = model::local_compute(2),
                    .machine_cores = 8,
                    .machine_memory_mib = 64 * 1024,
                    .sizes = model::built_in_sizes()};
  apply_event(state, SiteMade{{.name = "local", .capacity = {.nodes = 8}}});
  return state;
}

inline model::ComputeKey compute_key(const std::string& name) { return {kWorkspace, name}; }

inline void make_cluster(State& state, const std::string& name, model::ScaleSettings scale,
                         model::Tier tier = model::Tier::Dedicated) {
  apply_event(state, ComputeMade{{.key = compute_key(name),
                                  .name = name,
                                  .site = "local",
                                  .kind = model::Cluster{
                                      .size = "Standard_DS3_v2", .tier = tier, .scale = scale}}});
}

/// A job for the cluster, on so many of its nodes at once.
inline void submit_to(State& state, const std::string& cluster, const std::string& name,
                      int nodes = 1, int priority = 2) {
  submit(state, name,
         {.work = model::CommandWork{.resources = {.instance_count = nodes}},
          .compute = cluster,
          .priority = priority});
}

}  // namespace berth::core::sample
