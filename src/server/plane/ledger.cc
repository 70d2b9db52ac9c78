// SPDX-License-Identifier: Apache-2.0
#include "server/plane/ledger.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "server/plane/rows.h"

namespace berth::server {
namespace {

/// So many changes may wait for the disk at once, unless it has been slow for no more than a
/// moment: a burst of them is nothing to turn anybody away for.
constexpr std::size_t kMostInFlight = 512;
constexpr Duration kMoment = std::chrono::seconds(1);

}  // namespace

/// One batch on its way to disk, and what waits for it.
struct Ledger::Turn {
  store::Batch batch;
  core::Touched touched;
  core::EntityKeys ended;  ///< The state drops them with the commit.
  std::vector<std::function<void()>> effects;
  std::vector<std::function<void(Status)>> waiters;
  TimePoint handed_over{};  ///< To the store.
};

Ledger::Ledger(store::Store& store, const Clock& clock, LedgerOwner& owner)
    : store_(store), clock_(clock), owner_(owner) {}

Ledger::~Ledger() = default;

Status Ledger::load() {
  reload();
  if (failure_) return fail(*failure_);
  return Done{};
}

Ledger::Turn& Ledger::turn() {
  if (!turn_) turn_ = std::make_shared<Turn>();
  return *turn_;
}

void Ledger::apply(const core::Event& event) {
  owner_.before(event);
  core::Touched touched = core::apply_event(state_, event);
  owner_.after(touched);
  Turn& open = turn();
  for (model::Usage& usage : touched.usage) {
    open.batch.push_back(store::AddUsage{std::move(usage)});
  }
  merge(open.touched, std::move(touched));
}

void Ledger::then(std::function<void()> effect) { turn().effects.push_back(std::move(effect)); }

void Ledger::add(store::Batch rows) {
  Turn& open = turn();
  for (store::Write& row : rows) open.batch.push_back(std::move(row));
}

void Ledger::write(store::Batch rows) {
  add(std::move(rows));
  flush();
}

void Ledger::flush() {
  if (!turn_ || open_batches_ > 0) return;
  std::shared_ptr<Turn> going = std::exchange(turn_, nullptr);
  if (failure_) {
    // It rests on changes that never happened. The state is loaded again as soon as the last of
    // those has come back, and under load more must not be added to them for ever.
    for (const auto& waiter : going->waiters) waiter(fail(*failure_));
    return;
  }
  add_rows(state_, going->touched, going->batch);
  going->ended = ended_among(state_, going->touched);
  going->handed_over = clock_.now().mono;
  in_flight_.push_back(going);
  store_.commit(std::move(going->batch),
                [this, going](const Status& status) { committed(going, status); });
}

void Ledger::committed(const std::shared_ptr<Turn>& turn, const Status& status) {
  CHECK(!in_flight_.empty() && in_flight_.front() == turn, "commits come back in order");
  in_flight_.pop_front();
  if (status) {
    core::forget_ended(state_, turn->ended);
    for (const auto& effect : turn->effects) effect();
    owner_.recorded(turn->touched);
  } else {
    failure_ = status.error();
    log::error("a change could not be recorded and was undone: {}", status.error().message);
  }
  if (failure_ && in_flight_.empty()) reload();
  for (const auto& waiter : turn->waiters) waiter(status);
}

/// The disk is right and memory may not be: take the disk's word. Nothing is decided here, because
/// with a full disk that would fail again at once; the next tick goes on.
void Ledger::reload() {
  Result<core::State> loaded = store_.load();
  if (!loaded) {
    log::error("the state could not be loaded: {}", loaded.error().message);
    failure_ = loaded.error();
    return;
  }
  const bool after_failure = failure_.has_value();
  failure_.reset();
  turn_.reset();
  state_ = std::move(*loaded);
  owner_.loaded(state_);
  store_.resume();
  if (after_failure) owner_.undone();
}

void Ledger::recover() {
  if (failure_ && in_flight_.empty()) reload();
}

bool Ledger::is_clogged() const {
  return in_flight_.size() >= kMostInFlight &&
         clock_.now().mono - in_flight_.front()->handed_over >= kMoment;
}

bool Ledger::is_ahead(const std::function<bool(const core::Touched&)>& concerns) const {
  const auto is_concerned = [&](const auto& turn) { return turn && concerns(turn->touched); };
  return failure_ || is_concerned(turn_) || std::ranges::any_of(in_flight_, is_concerned);
}

void Ledger::when_durable(std::function<void(Status)> done) {
  if (failure_) {
    done(fail(*failure_));
  } else if (turn_) {
    turn_->waiters.push_back(std::move(done));
    flush();
  } else if (!in_flight_.empty()) {
    in_flight_.back()->waiters.push_back(std::move(done));
  } else {
    done(Done{});
  }
}

void Ledger::end_batch() {
  --open_batches_;
  flush();
}

void Ledger::give_up_batch() {
  --open_batches_;
  const std::shared_ptr<Turn> undone = std::exchange(turn_, nullptr);
  if (!undone) return;
  failure_ = Error{Code::Unavailable, "a change was given up half way; try again"};
  log::error("what a request had changed when it failed was undone");
  if (open_batches_ == 0 && in_flight_.empty()) reload();
  for (const auto& waiter : undone->waiters) waiter(fail(Code::Unavailable, "it was undone"));
}

Together::Together(Ledger& ledger) : ledger_(ledger), faults_(std::uncaught_exceptions()) {
  ++ledger_.open_batches_;
}

Together::~Together() {
  if (std::uncaught_exceptions() > faults_) {
    ledger_.give_up_batch();
  } else {
    ledger_.end_batch();
  }
}

}  // namespace berth::server
