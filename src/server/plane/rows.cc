// SPDX-License-Identifier: Apache-2.0
#include "server/plane/rows.h"

namespace berth::server {

template <typename Put, typename Delete, typename Keys, typename Map>
static void add_rows_of(const Keys& keys, const Map& map, store::Batch& batch) {
  for (const auto& key : keys) {
    const auto found = map.find(key);
    if (found == map.end()) {
      batch.push_back(Delete{key});
    } else {
      batch.push_back(Put{found->second});
    }
  }
}

void merge(core::Touched& all, core::Touched&& more) {
  all.workspaces.merge(more.workspaces);
  all.sites.merge(more.sites);
  all.computes.merge(more.computes);
  all.jobs.merge(more.jobs);
  all.nodes.merge(more.nodes);
  all.users.merge(more.users);
  all.tokens.merge(more.tokens);
  all.assignments.merge(more.assignments);
}

void add_rows(const core::State& state, const core::Touched& touched, store::Batch& batch) {
  add_rows_of<store::PutWorkspace, store::DeleteWorkspace>(touched.workspaces, state.workspaces,
                                                           batch);
  add_rows_of<store::PutSite, store::DeleteSite>(touched.sites, state.sites, batch);
  add_rows_of<store::PutCompute, store::DeleteCompute>(touched.computes, state.computes, batch);
  add_rows_of<store::PutJob, store::DeleteJob>(touched.jobs, state.jobs, batch);
  add_rows_of<store::PutNode, store::DeleteNode>(touched.nodes, state.nodes, batch);
  add_rows_of<store::PutUser, store::DeleteUser>(touched.users, state.access.users, batch);
  add_rows_of<store::PutToken, store::DeleteToken>(touched.tokens, state.access.tokens, batch);
  add_rows_of<store::PutRoleAssignment, store::DeleteRoleAssignment>(
      touched.assignments, state.access.assignments, batch);
}

std::set<model::JobKey> ended_among(const core::State& state, const core::Touched& touched) {
  std::set<model::JobKey> ended;
  for (const model::JobKey& key : touched.jobs) {
    const auto found = state.jobs.find(key);
    if (found != state.jobs.end() && model::is_terminal(found->second.status)) ended.insert(key);
  }
  return ended;
}

}  // namespace berth::server
