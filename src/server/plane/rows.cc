// SPDX-License-Identifier: Apache-2.0
#include "server/plane/rows.h"

namespace berth::server {

void merge(core::Touched& all, core::Touched&& more) {
  core::for_each_entity([&]<typename T>() { all.of<T>().merge(more.of<T>()); });
}

template <typename T>
static void add_rows_of(const core::State& state, const core::Touched& touched,
                        store::Batch& batch) {
  const auto& all = core::Entity<T>::map(state);
  for (const auto& key : touched.of<T>()) {
    const auto found = all.find(key);
    if (found == all.end()) {
      batch.push_back(store::Erase<T>{key});
    } else {
      batch.push_back(store::Put<T>{found->second});
    }
  }
}

void add_rows(const core::State& state, const core::Touched& touched, store::Batch& batch) {
  core::for_each_entity([&]<typename T>() { add_rows_of<T>(state, touched, batch); });
}

std::set<model::JobKey> ended_among(const core::State& state, const core::Touched& touched) {
  std::set<model::JobKey> ended;
  for (const model::JobKey& key : touched.of<model::Job>()) {
    const auto found = state.jobs.find(key);
    if (found != state.jobs.end() && model::is_terminal(found->second.status)) ended.insert(key);
  }
  return ended;
}

}  // namespace berth::server
