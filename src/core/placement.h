// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <vector>

#include "core/state.h"

namespace berth::core {

/// One walk along the line of one target. The scheduler takes what it places; explain() asks the
/// same walk where a job stands.
class Placement {
 public:
  Placement(const State& state, const model::TargetId& target, WallTime now);

  /// Walks on until no node is left, and returns what is placed.
  std::vector<JobPlaced> run();

  /// Ready nodes that are too short-lived for anything that waits for one.
  std::vector<model::NodeId> short_lived() const;

 private:
  bool place(const model::Job& job);
  bool may_ever_run(const model::Job& job) const;

  struct Vacancy {
    const model::Node* node = nullptr;
    int room = 0;             ///< For so many jobs.
    bool is_to_wait = false;  ///< It is busy, and will be for a moment only.
    bool was_refused = false;
  };

  /// The vacancies that are still to be had, up to `nodes` that outlive the job.
  std::vector<Vacancy*> fitting(const model::Job& job, std::size_t nodes);
  bool load_next(bool may_wait);
  bool load_room_to_wait();

  const State& state_;
  model::TargetId target_;
  WallTime now_;
  const TargetIndex& index_;
  std::set<model::NodeId>::const_iterator next_vacant_{};
  std::set<model::NodeId>::const_iterator next_roomy_{};
  std::vector<const model::Node*> filled_{};  ///< They were vacant; more may wait there.
  std::size_t next_filled_ = 0;
  bool is_kept_free_ = false;    ///< For a gang: nobody may wait at a busy node.
  std::vector<Vacancy> open_{};  ///< Looked at, neither taken nor reserved.
  std::vector<JobPlaced> placed_{};
};

}  // namespace berth::core
