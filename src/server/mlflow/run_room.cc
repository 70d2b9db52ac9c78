// SPDX-License-Identifier: Apache-2.0
#include "server/mlflow/run_room.h"

#include "model/labels.h"

namespace berth::server {
namespace {

constexpr std::size_t kMostRuns = 4096;  // More are forgotten, and looked at again.
constexpr Duration kBetweenLooks = std::chrono::seconds(1);

}  // namespace

std::size_t bytes_of(const store::LogToRun& change) {
  std::size_t bytes = model::bytes_of(change.params) + model::bytes_of(change.tags);
  for (const model::Metric& metric : change.metrics) bytes += metric.key.size() + 80;
  for (const model::Dataset& dataset : change.datasets) {
    bytes += 100 + dataset.name.size() + dataset.source.size() + dataset.schema.size() +
             dataset.profile.size() + model::bytes_of(dataset.tags);
  }
  for (const std::string& model : change.model_inputs) bytes += model.size() + 40;
  for (const model::ModelOutput& output : change.model_outputs) {
    bytes += output.model_id.size() + 40;
  }
  return bytes;
}

Status RunRoom::take(store::Tracking& tracking, const model::RunKey& run, std::size_t bytes,
                     TimePoint now) {
  auto found = runs_.find(run);
  if (found == runs_.end()) {
    if (runs_.size() >= kMostRuns) runs_.clear();
    found = runs_.emplace(run, Seen{TRY(tracking.shown_bytes(run)), now}).first;
  }
  Seen& seen = found->second;
  if (seen.bytes + bytes > kMostBytes && now - seen.looked_at >= kBetweenLooks) {
    seen = {TRY(tracking.shown_bytes(run)), now};
  }
  if (seen.bytes + bytes > kMostBytes) {
    return fail(Code::InvalidArgument,
                fmt::format("run '{}' has no room for this: at most {} MiB of tags, parameters, "
                            "names of metrics and datasets are kept of one run; files of any size "
                            "can be logged as artifacts",
                            run.name, kMostBytes >> 20));
  }
  seen.bytes += bytes;
  return Done{};
}

}  // namespace berth::server
