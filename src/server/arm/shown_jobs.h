// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>

#include "model/workspace.h"
#include "store/store.h"

namespace berth::server {

/// Jobs as lists of them show them, kept for the next list: most of a page is jobs that are over
/// and do not change, and to write one costs more than to read its row. Loop thread only.
class ShownJobs {
 public:
  /// What the text of a job depends on, but for the job.
  struct Manner {
    model::WorkspaceId workspace{};
    std::string base_url{};
    bool has_values = false;  ///< Of its variables.
    friend auto operator<=>(const Manner&, const Manner&) = default;
  };
  using Show = std::function<boost::json::object(const model::Job&)>;

  /// About so many bytes are kept.
  explicit ShownJobs(std::size_t most_bytes = 16u << 20) : most_bytes_(most_bytes) {}

  /// The JSON of these jobs, with commas between them.
  Result<std::string> list(const Manner& manner, std::span<const store::JobRow> rows,
                           const Show& show);

 private:
  struct Entry {
    std::string row{};  ///< Another one is another job, or the job has changed.
    std::string shown{};
  };
  using Shelf = std::unordered_map<std::int64_t, Entry>;  ///< By sequence.

  Result<const Entry*> find_or_show(const Manner& manner, Shelf& shelf, const store::JobRow& row,
                                    const Show& show);
  const Entry& keep(Shelf& shelf, std::int64_t sequence, Entry entry);
  void make_room();

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  ///< Of `recent_`.
  std::map<Manner, Shelf> recent_{};
  std::map<Manner, Shelf> older_{};  ///< Not asked for since `recent_` was begun.
};

}  // namespace berth::server
