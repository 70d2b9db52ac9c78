// SPDX-License-Identifier: Apache-2.0
// What becomes of an attempt whose command runs no more: its log and outputs go to the server, or
// are given up, and its end is told.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "node/attempt.h"
#include "node/deliver.h"
#include "node/disk_room.h"

namespace berth::node {

using model::Ending;
using model::Outcome;
using wire::node::Phase;

namespace {

using namespace std::chrono_literals;

constexpr Duration kLook = 1s;
/// For how long nothing may move. There is no use in waiting for room on a disk that the attempt
/// itself keeps full; for room elsewhere somebody may yet care.
constexpr Duration kPatienceWithoutRoom = 10s;
constexpr Duration kLongestPatience = 10min;
/// Of one that was stopped: a file that is on its way may arrive.
constexpr Duration kPatienceWhenStopped = 3s;
constexpr Duration kPatienceWithAFile = 30s;
constexpr std::size_t kMostNotes = 20;

void add_notes(const std::vector<std::string>& notes, std::vector<std::string>& to) {
  to.insert(to.end(), notes.begin(), notes.begin() + std::min(notes.size(), kMostNotes));
  if (notes.size() > kMostNotes) {
    to.push_back(fmt::format("{} more files are not kept, or under another name",
                             notes.size() - kMostNotes));
  }
}

}  // namespace

/// An ending that no shim wrote down.
void Attempt::settle(Outcome outcome) {
  const WallTime now = context_.clock.now().wall;
  const Status written = write_record(paths_.exit, ExitRecord{outcome, now, now});
  if (!written) log::warning("{}", written.error().message);
  finalize(outcome);
}

bool Attempt::is_at_work() const { return phase_ == Phase::Preparing || phase_ == Phase::Running; }

void Attempt::finalize(const Outcome& outcome) {
  held_ports_.reset();
  outcome_ = outcome;
  if (!withdrawn_.empty() && !went_well(outcome)) {
    outcome_ = {.ending = Ending::Lost, .message = withdrawn_};
  }
  if (fetching_) fetching_->abort();
  advance(Phase::Finalizing);
  context_.on_over(ran_);
  is_log_stored_ = !launch_.ships_log;
  if (launch_.ships_log) {
    log_.finish([this] {
      is_log_stored_ = true;
      report_when_done();
    });
  }
  if (is_disowned_) return report_when_done();
  deliver();
  progress_at_ = context_.clock.now().mono;
  if (!full_disk(paths_.directory).empty()) free_scratch();
  watch_finalizing();
}

/// An agent before us had sent back all that it could.
void Attempt::take_up_end(const ExitRecord& exit) {
  outcome_ = exit.outcome;
  delivery_errors_ = exit.delivery_errors;
  is_delivered_ = is_log_stored_ = has_freed_results_ = true;
  log_.give_up();
  phase_ = Phase::Finalizing;
  context_.on_over(ran_);
  report_when_done();
}

void Attempt::deliver() {
  is_delivered_ = !has_deliveries(launch_, went_well(outcome_), paths_.directory);
  if (is_delivered_) return report_when_done();
  delivering_ = std::make_shared<Transfer>(
      context_.loop, context_.threads, paths_.directory,
      TransferOptions{.is_patient = true, .authority = context_.authority});
  delivering_->on_refused([this] { renew(); });
  delivering_->start(deliver_steps(launch_, went_well(outcome_)),
                     [this](const std::vector<Error>& errors) { delivered(errors); });
  if (is_confirmed_) delivering_->resume(launch_);
}

void Attempt::delivered(const std::vector<Error>& errors) {
  for (const Error& error : errors) delivery_errors_.push_back(error.message);
  add_notes(delivering_->notes(), outcome_.notes);
  is_delivered_ = true;
  report_when_done();
}

// ---- When it takes long

void Attempt::watch_finalizing() {
  context_.loop.after(kLook, [this, still = std::weak_ptr<int>(alive_)] {
    if (still.expired() || is_forgotten_) return;
    look_at_finalizing();
    watch_finalizing();
  });
}

void Attempt::look_at_finalizing() {
  if (phase_ == Phase::Ended) {
    // The server may be waiting for room to write its end down, on the disk that it fills.
    if (!full_disk(paths_.directory).empty()) free_results([] {});
    return;
  }
  const TimePoint now = context_.clock.now().mono;
  const std::uint64_t progress =
      log_.stored_size() + (delivering_ ? delivering_->progress() : std::uint64_t{0});
  const bool is_sending = !is_stopping_ && context_.outbox.queued_bytes() > 0;
  if (std::exchange(progress_, progress) != progress || is_sending || !is_confirmed_) {
    progress_at_ = now;
    return;
  }
  if (now - progress_at_ >= kLook) free_scratch();
  if (has_waited_enough(now - progress_at_)) give_up_sending();
}

/// Nothing has moved for so long.
bool Attempt::has_waited_enough(Duration waited) {
  const bool has_file = !is_delivered_ && delivering_->is_busy();
  if (is_stopping_) return waited >= (has_file ? kPatienceWithAFile : kPatienceWhenStopped);
  const bool is_waiting_for_server = !is_delivered_ && !delivering_->lacks_room();
  if (has_file || is_waiting_for_server || waited < kPatienceWithoutRoom) return false;
  return waited >= kLongestPatience || is_in_the_way();
}

/// Whether what it waits for may be the room that it takes itself: on this machine the server may
/// have no other disk.
bool Attempt::is_in_the_way() {
  if (!full_disk(paths_.directory).empty()) return true;
  const bool is_with_server = !context_.may_be_taken;
  if (!holds_much_) holds_much_ = is_with_server && holds_much_of_its_disk(paths_.directory);
  return *holds_much_;
}

void Attempt::give_up_sending() {
  std::vector<std::string> lost;
  if (!is_log_stored_) {
    const std::uint64_t size = log_.size();
    lost.push_back(
        fmt::format("{} of its log", human_bytes(size - std::min(size, log_.stored_size()))));
  }
  if (!is_delivered_) {
    lost.emplace_back("some of its outputs");
    add_notes(delivering_->notes(), outcome_.notes);
    delivering_->abort();
  }
  const std::string trouble = fmt::format("{} could not be kept", fmt::join(lost, " and "));
  log::warning("'{}': {}", wire::node::attempt_directory(ref()), trouble);
  const std::string own_disk = full_disk(paths_.directory);
  if (is_stopping_) outcome_.ending = Ending::Stopped;
  if (!own_disk.empty()) outcome_.disk_full = own_disk;
  if (outcome_.disk_full.empty()) outcome_.disk_full = "the disk of the server";
  outcome_.message += (outcome_.message.empty() ? "" : "; ") + trouble;
  is_delivered_ = is_log_stored_ = true;
  log_.give_up();
  // First: the server needs room for what it has.
  free_results([this] { report_when_done(); });
}

/// The server may be waiting for room on the very disk that the job has filled.
void Attempt::free_scratch() {
  if (std::exchange(has_freed_scratch_, true)) return;
  std::vector<std::string> kept;
  for (const wire::node::Deliver& delivery : launch_.deliveries) kept.push_back(delivery.source);
  remove_on_thread([paths = paths_, kept] { remove_scratch(paths, kept); }, [] {});
}

/// Nothing of it is needed here any more, but for its end. Another agent must know that first.
void Attempt::free_results(std::function<void()> then) {
  if (std::exchange(has_freed_results_, true)) return then();
  const WallTime now = context_.clock.now().wall;
  const ExitRecord exit{outcome_, started_at_.value_or(now), now, true, delivery_errors_};
  const Status noted = overwrite_file(paths_.exit, record::encode_text(exit));
  if (!noted) {
    log::warning("{}", noted.error().message);
    return then();
  }
  log_.close();
  remove_on_thread([paths = paths_] { remove_results(paths); }, std::move(then));
}

void Attempt::remove_on_thread(std::function<void()> blocking, std::function<void()> then) {
  ++freeing_;
  context_.threads.run([this, still = std::weak_ptr<int>(alive_), blocking = std::move(blocking),
                        then = std::move(then)]() -> io::Offload::Continuation {
    blocking();
    return [this, still, then] {
      if (still.expired()) return;
      --freeing_;
      then();
    };
  });
}

// ---- Its end

void Attempt::report_when_done() {
  const bool is_done = is_disowned_ || (is_delivered_ && is_log_stored_);
  if (phase_ != Phase::Finalizing || !is_done) return;
  if (delivering_) delivering_->abort();
  phase_ = Phase::Ended;
  say_nothing_more();
  report();
}

void Attempt::report() {
  if (is_forgotten_) return remove();
  const std::uint64_t log_size = launch_.ships_log ? log_.size() : 0;
  wire::node::Ended ended{ref(), outcome_, log_size, delivery_errors_, {}};
  if (started_at_) {
    ended.since_start = std::max(context_.clock.now().wall - *started_at_, Duration(0));
  }
  context_.outbox.send(ended);
}

}  // namespace berth::node
