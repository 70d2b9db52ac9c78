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

template <typename T, typename IsOver>
static void collect_ended(const core::State& state, const core::Touched& touched,
                          const IsOver& is_over, core::EntityKeys& ended) {
  const auto& all = core::Entity<T>::map(state);
  for (const auto& key : touched.of<T>()) {
    const auto found = all.find(key);
    if (found != all.end() && is_over(found->second)) ended.of<T>().insert(key);
  }
}

core::EntityKeys ended_among(const core::State& state, const core::Touched& touched) {
  core::EntityKeys ended;
  collect_ended<model::Job>(
      state, touched, [](const model::Job& job) { return is_terminal(job.status); }, ended);
  collect_ended<model::TemplateDeployment>(
      state, touched,
      [](const model::TemplateDeployment& deployment) { return is_over(deployment.state); }, ended);
  return ended;
}

}  // namespace berth::server
