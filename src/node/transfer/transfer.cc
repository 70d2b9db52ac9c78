// SPDX-License-Identifier: Apache-2.0
#include "node/transfer/transfer.h"

#include <fmt/format.h>

#include "base/back_off.h"

namespace berth::node {
namespace {

constexpr int kMostUnderWay = 12;
constexpr int kMostTries = 4;
constexpr BackOff kBackOff{.first = Duration(100), .longest = std::chrono::seconds(3)};

}  // namespace

Transfer::Transfer(io::Loop& loop, io::Offload& threads, std::string directory,
                   TransferOptions options)
    : loop_(loop),
      threads_(threads),
      directory_(std::move(directory)),
      options_(std::move(options)) {}

void Transfer::start(std::vector<TransferStep> steps, OnDone done) {
  done_ = std::move(done);
  waiting_.assign(std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
  pump();
}

void Transfer::resume(const wire::node::Launch& launch) {
  launch_ = std::make_shared<const wire::node::Launch>(launch);
  is_paused_ = false;
  pump();
}

void Transfer::abort() {
  is_aborted_->store(true);
  waiting_.clear();
  done_ = nullptr;
}

void Transfer::pump() {
  while (!is_paused_ && under_way_ < kMostUnderWay && !waiting_.empty()) {
    TransferStep next = std::move(waiting_.front());
    waiting_.pop_front();
    run(std::move(next));
  }
  settle();
}

void Transfer::run(TransferStep step) {
  ++under_way_;
  const TransferView view{launch_, directory_, is_aborted_, options_.authority};
  threads_.run(
      [self = shared_from_this(), step = std::move(step), view]() -> io::Offload::Continuation {
        Result<std::vector<TransferStep>> outcome = step.run(view);
        return [self, step, outcome = std::move(outcome)]() mutable {
          self->finished(std::move(step), std::move(outcome));
        };
      });
}

void Transfer::finished(TransferStep step, Result<std::vector<TransferStep>> outcome) {
  --under_way_;
  if (is_aborted_->load()) return;
  if (!outcome) {
    failed(std::move(step), std::move(outcome).error());
  } else {
    went_well(*std::move(outcome));
  }
  pump();
}

void Transfer::went_well(std::vector<TransferStep> more) {
  ++progress_;
  lacks_room_ = false;
  was_refreshed_ = false;
  for (TransferStep& step : more) {
    if (step.run) {
      waiting_.push_back(std::move(step));
    } else {
      notes_.push_back(std::move(step.what));
    }
  }
}

bool Transfer::may_repeat(const TransferStep& step, const Error& error) const {
  if (is_paused_) return true;  // The server went away meanwhile; that says nothing of the step.
  const bool may_pass =
      error.code == Code::Unavailable || (options_.is_patient && error.code == Code::OutOfSpace);
  if (may_pass && options_.is_patient) return true;
  return (may_pass || error.code == Code::Internal) && step.tries < kMostTries;
}

void Transfer::failed(TransferStep step, Error error) {
  lacks_room_ = error.code == Code::OutOfSpace;
  if (error.code == Code::Forbidden && refresh_ && (is_paused_ || !was_refreshed_)) {
    waiting_.push_back(std::move(step));
    if (is_paused_) return;
    was_refreshed_ = true;
    is_paused_ = true;
    refresh_();
    return;
  }
  if (may_repeat(step, error)) {
    ++sleeping_;
    const Duration pause = kBackOff.pause_after(++step.tries);
    loop_.after(pause, [self = shared_from_this(), step]() mutable {
      --self->sleeping_;
      if (self->is_aborted_->load()) return;
      self->waiting_.push_back(std::move(step));
      self->pump();
    });
    return;
  }
  error.message = fmt::format("{}: {}", step.what, error.message);
  errors_.push_back(std::move(error));
  if (options_.stop_at_first_error) {
    is_aborted_->store(true);
    waiting_.clear();
  }
}

void Transfer::settle() {
  const auto self = shared_from_this();  // `done` may let go of us.
  const bool is_over = waiting_.empty() && under_way_ == 0 && sleeping_ == 0;
  const bool has_failed = options_.stop_at_first_error && !errors_.empty();
  if (!done_ || !(is_over || has_failed)) return;
  const OnDone done = std::exchange(done_, nullptr);
  done(std::move(errors_));
}

}  // namespace berth::node
