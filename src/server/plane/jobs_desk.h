// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/rules/expression.h"
#include "model/job.h"
#include "server/plane/desk.h"

namespace berth::server {

/// Jobs, as users ask for them, live or finished. See desk.h.
class JobsDesk {
 public:
  explicit JobsDesk(const DeskParts& parts) : parts_(parts), state_(parts.ledger.state()) {}

  /// As LedgerOwner.
  void loaded() { deleting_.clear(); }

  /// Live or finished.
  Result<model::Job> find(const model::JobKey& key) const;
  /// The same as the disk has it: a change that is still on its way there is not seen yet.
  Result<model::Job> find_recorded(const model::JobKey& key) const;
  /// Why it waits, in a sentence.
  Result<std::string> explain(const model::JobKey& key) const;

  struct Submitted {
    model::Job job{};
    bool made = false;  ///< False: the name was there already, with the same spec.
  };
  /// Accepts the job, or, when the name exists with the same spec, updates what may change. Another
  /// spec under the same name is a Conflict.
  Result<Submitted> submit(model::Job draft);
  /// What people call it, and its tags, over or not: those in `lost` go, those in `tags` are set.
  Status rename(const model::JobKey& key, const std::string& display_name);
  Status tag(const model::JobKey& key, const std::map<std::string, std::string>& tags,
             const std::vector<std::string>& lost);
  /// Ends it as soon as may be; of a job that is over, does nothing.
  Result<model::Job> cancel(const model::JobKey& key);

  /// Only of a job that is over, and whose files no live job reads.
  Status remove(const model::JobKey& key);
  /// Whether remove() would refuse it, and why.
  Status check_removable(const model::JobKey& key) const;
  /// The same for a job that may have left very much: takes the first part of it away. Nobody can
  /// refer to the job or use its name until remove() or abandon_removal().
  Status begin_removal(const model::JobKey& key);
  void abandon_removal(const model::JobKey& key) { going_.erase(key); }
  bool is_going(const model::JobKey& key) const { return going_.contains(key); }

 private:
  Status check_family(const model::Job& draft) const;
  std::vector<core::ComputeChoice> choices(const model::WorkspaceId& workspace) const;
  Result<Submitted> resubmit(const model::Job& existing, const model::Job& draft);
  void relabel(const model::Job& job, const core::JobRelabelled& labels);

  DeskParts parts_;
  const core::State& state_;
  std::set<model::JobKey> going_;          ///< Their removal has begun.
  std::multiset<model::JobKey> deleting_;  ///< Removed, and the disk does not know it yet.
};

}  // namespace berth::server
