// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "store/store.h"

namespace berth::store {

/// To which experiment the runs of new jobs belong, by the name that the jobs say. Each job that is
/// started is told the id, and most are told the same.
///
/// A name leads to another id when an experiment is renamed. Jobs submitted before that keep their
/// run where it is, so what is known here is of the jobs that came after the last such change.
class ExperimentIds {
 public:
  /// Jobs up to this sequence were submitted before anything was known here.
  explicit ExperimentIds(std::int64_t last_sequence) : last_sequence_(last_sequence) { forget(); }

  /// In the order in which they are committed.
  void note(const Batch& batch);

  std::optional<std::string> find(const model::Job& job) const;
  /// Read from what is committed, the job's run among it.
  void learn(const model::Job& job, const std::string& id);

 private:
  struct Name {
    model::WorkspaceId workspace{};
    std::string name{};
    friend auto operator<=>(const Name&, const Name&) = default;
  };

  static bool renames(const Write& write);
  bool speaks_of(const model::Job& job) const { return job.sequence > settled_; }
  void forget();

  std::int64_t last_sequence_;
  std::int64_t settled_ = 0;  ///< Jobs up to this one were submitted before the last change.
  std::map<Name, std::string> ids_{};
};

}  // namespace berth::store
