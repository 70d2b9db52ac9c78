// SPDX-License-Identifier: Apache-2.0
#include "sim/disk.h"

namespace berth::sim {

using namespace std::chrono_literals;

void SimStore::commit(store::Batch batch, Committed done) {
  has_changes_ = true;
  waiting_.push_back({.batch = std::move(batch), .done = std::move(done)});
  write_soon();
}

void SimStore::resume() {
  has_changes_ = true;
  waiting_.push_back({.resumes = true});
  write_soon();
}

void SimStore::write_soon() {
  if (is_writing_) return;
  is_writing_ = true;
  Duration takes = stage_.random.between(1ms, 6ms);
  if (stage_.faults.disk_is_slow && stage_.random.chance(3)) {
    takes = stage_.random.between(100ms, 4s);
  }
  stage_.time.after(takes, [this, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) write_group();
  });
}

void SimStore::write_group() {
  is_writing_ = false;
  if (waiting_.front().resumes) {
    failure_.reset();
    waiting_.pop_front();
  } else {
    if (!failure_ && fails()) {
      stage_.note("a commit fails");
      failure_ = Error{Code::OutOfSpace, "the disk is full"};
    }
    std::vector<Committed> answered;
    while (!waiting_.empty() && !waiting_.front().resumes) {
      if (!failure_) {
        stage_.judge.committed(waiting_.front().batch);
        disk_.commit(std::move(waiting_.front().batch), [this](const Status& status) {
          if (status) return;
          failure_ = status.error();
          disk_.resume();
        });
        disk_.complete();
      }
      answered.push_back(std::move(waiting_.front().done));
      waiting_.pop_front();
    }
    answer(std::move(answered), failure_ ? Status(fail(*failure_)) : Status(Done{}));
  }
  if (!waiting_.empty()) write_soon();
}

/// A server that dies before this has recorded and not acted.
void SimStore::answer(std::vector<Committed> waiting, const Status& outcome) {
  last_answer_ = std::max(last_answer_, stage_.time.now() + stage_.random.between(0ms, 2ms));
  ++answers_;
  stage_.time.at(last_answer_,
                 [this, alive = std::weak_ptr<int>(alive_), waiting = std::move(waiting), outcome] {
                   if (alive.expired()) return;
                   --answers_;
                   for (const Committed& done : waiting) done(outcome);
                 });
}

bool SimStore::fails() { return stage_.faults.disk_fails && stage_.random.chance(2); }

Result<core::State> SimStore::load() {
  has_changes_ = true;
  if (failure_ && stage_.faults.disk_fails && stage_.random.chance(30)) {
    return fail(Code::Unavailable, "the disk cannot be read");
  }
  return disk_.load();
}

}  // namespace berth::sim
