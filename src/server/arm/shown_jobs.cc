// SPDX-License-Identifier: Apache-2.0
#include "server/arm/shown_jobs.h"

#include <utility>

#include "base/record.h"

namespace berth::server {

Result<std::string> ShownJobs::list(const Manner& manner, std::span<const store::JobRow> rows,
                                    const Show& show) {
  make_room();
  Shelf& shelf = recent_[manner];
  std::string text;
  for (const store::JobRow& row : rows) {
    if (!text.empty()) text += ',';
    text += TRY(find_or_show(manner, shelf, row, show))->shown;
  }
  return text;
}

Result<const ShownJobs::Entry*> ShownJobs::find_or_show(const Manner& manner, Shelf& shelf,
                                                        const store::JobRow& row,
                                                        const Show& show) {
  const auto found = shelf.find(row.sequence);
  if (found != shelf.end() && found->second.row == row.text) return &found->second;
  if (const auto old_shelf = older_.find(manner); old_shelf != older_.end()) {
    const auto older = old_shelf->second.find(row.sequence);
    if (older != old_shelf->second.end() && older->second.row == row.text) {
      return &keep(shelf, row.sequence, std::move(older->second));
    }
  }
  const model::Job job = TRY(store::job_of(row));
  return &keep(shelf, row.sequence, {row.text, boost::json::serialize(show(job))});
}

const ShownJobs::Entry& ShownJobs::keep(Shelf& shelf, std::int64_t sequence, Entry entry) {
  Entry& place = shelf[sequence];
  bytes_ -= place.row.size() + place.shown.size();
  place = std::move(entry);
  bytes_ += place.row.size() + place.shown.size();
  return place;
}

/// Half of the room is for what was asked for of late, half for what was before that.
void ShownJobs::make_room() {
  if (bytes_ < most_bytes_ / 2) return;
  older_ = std::exchange(recent_, {});
  bytes_ = 0;
}

}  // namespace berth::server
