// SPDX-License-Identifier: Apache-2.0
#include "node/shim/supervision.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/back_off.h"
#include "base/text.h"
#include "node/files/disk_room.h"
#include "node/shim/process_tree.h"

namespace berth::node {

using model::Ending;
using model::Outcome;

namespace {

constexpr Duration kForever = std::chrono::hours(24);  // Then it looks again, finds nothing, waits.
/// Until processes that do not die are killed again.
constexpr BackOff kBackOff{.first = Duration(10), .longest = Duration(500)};
constexpr Duration kTryAgain(100);

}  // namespace

void Supervision::give_up(const Error& why) {
  cause_ = Ending::NotStarted;
  message_ = why.message;
}

Outcome Supervision::run() {
  started_ = clock_.now().mono;
  reap();
  while (!is_over()) {
    advance(clock_.now().mono);
    const TimePoint now = clock_.now().mono;
    wait(std::min({pause(now), lease_.pause(since_boot()), output_.pause(now)}));
    reap();
  }
  finish_output();
  return outcome();
}

void Supervision::reap() {
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG | __WALL);
    if (ended < 0 && errno == EINTR) continue;
    if (ended > 0) note(ended, status);
    if (ended > 0) continue;
    has_children_ = ended == 0;
    return;
  }
}

void Supervision::note(pid_t ended, int status) {
  const bool is_ours = std::erase(commands_, ended) > 0;
  if (is_ours && !status_ && (status != 0 || commands_.empty())) status_ = status;
}

bool Supervision::is_over() const {
  return status_ && !has_children_ && (entry_ == Entry::Born || cgroup_.is_empty());
}

void Supervision::advance(TimePoint now) {
  if (phase_ != Phase::Killing && lease_.has_lapsed(since_boot())) {
    // At once: from here on somebody else may do the same work.
    if (!status_) cause_ = Ending::Lost;
    phase_ = Phase::Killing;
  }
  if (phase_ == Phase::Running) {
    if (status_ || cause_) {
      terminate(now);
    } else if (stop_requested_) {
      cause_ = Ending::Stopped;
      terminate(now);
    } else if (launch_.timeout && now - started_ >= *launch_.timeout) {
      cause_ = Ending::TimedOut;
      terminate(now);
    } else if (output_.has_waited_enough(now)) {
      note_stuck_output("it was ended because its log could not be written");
      terminate(now);
    }
  }
  if (phase_ == Phase::Terminating && now >= kill_at_) phase_ = Phase::Killing;
  if (phase_ == Phase::Killing) kill_all();
}

void Supervision::note_stuck_output(std::string message) {
  if (output_.is_for_lack_of_room()) {
    disk_full_ = name_of_disk(output_.directory());
  } else if (!cause_) {
    cause_ = Ending::Undelivered;
    message += ": " + output_.trouble();
  }
  message_ = std::move(message);
}

void Supervision::finish_output() {
  while (const std::uint64_t left = output_.drain()) {
    const bool is_enough =
        has_stuck_output() || stop_requested_ || output_.has_waited_enough(clock_.now().mono);
    if (is_enough) {
      if (!has_stuck_output()) {
        note_stuck_output(
            fmt::format("the last {} of its log could not be written", human_bytes(left)));
      }
      return;
    }
    wait(kTryAgain);
  }
}

void Supervision::terminate(TimePoint now) {
  phase_ = Phase::Terminating;
  kill_at_ = now + std::clamp(grace_, Duration(0), kForever);
  for (const io::ProcessIdentity& process : tree()) {
    (void)io::send_signal(process, SIGTERM);
    (void)io::send_signal(process, SIGCONT);  // One that is stopped would not notice.
  }
}

void Supervision::kill_all() const {
  cgroup_.kill();
  for (const io::ProcessIdentity& process : tree()) (void)io::send_signal(process, SIGKILL);
}

std::vector<io::ProcessIdentity> Supervision::tree() const {
  std::vector<io::ProcessIdentity> found = descendants_of(::getpid());
  for (const pid_t pid : cgroup_.members()) {
    const bool is_known =
        std::ranges::any_of(found, [&](const auto& each) { return each.pid == pid; });
    const auto member = io::identify(pid);
    if (!is_known && member) found.push_back(*member);
  }
  return found;
}

Duration Supervision::pause(TimePoint now) {
  if (phase_ == Phase::Killing || !has_children_) {
    // Uninterruptible sleep, or a process of another user: try again, ever more slowly.
    return kBackOff.pause_after(++vain_kills_);
  }
  if (phase_ == Phase::Terminating) return std::max(kill_at_ - now, Duration(1));
  if (!launch_.timeout) return kForever;
  return std::clamp(Duration(*launch_.timeout) - (now - started_), Duration(1), kForever);
}

void Supervision::wait(Duration at_most) {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  const timespec time{at_most.count() / 1000, at_most.count() % 1000 * 1'000'000};
  if (::sigtimedwait(&awaited, nullptr, &time) == SIGTERM) stop_requested_ = true;
}

Outcome Supervision::outcome() const {
  Outcome outcome{.ending = Ending::Exited};
  if (WIFEXITED(*status_)) outcome.exit_code = WEXITSTATUS(*status_);
  if (WIFSIGNALED(*status_)) {
    outcome.ending = Ending::Signaled;
    outcome.signal = WTERMSIG(*status_);
  }
  if (cause_) {
    outcome.ending = *cause_;
    outcome.message = message_;
    if (cause_ == Ending::TimedOut) {
      outcome.message =
          fmt::format("it ran longer than its limit of {} s", launch_.timeout->count());
    }
    if (cause_ == Ending::Lost) outcome.message = kLeaseLapsed;
  } else {
    check_memory(outcome);
  }
  check_disk(outcome);
  return outcome;
}

void Supervision::check_disk(Outcome& outcome) const {
  const bool has_failed = !cause_ && outcome.ending != Ending::OutOfMemory && !went_well(outcome);
  outcome.disk_full =
      has_failed && disk_full_.empty() ? full_disk(output_.directory()) : disk_full_;
  if (!disk_full_.empty() && outcome.message.empty()) outcome.message = message_;
}

void Supervision::check_memory(Outcome& outcome) const {
  const bool was_killed = outcome.signal == SIGKILL || outcome.exit_code == 128 + SIGKILL;
  if (!was_killed) return;
  const io::MemoryUse use = cgroup_.memory_use();
  if (use.out_of_memory_kills == earlier_kills_) return;
  outcome.ending = Ending::OutOfMemory;
  outcome.message = launch_.memory_limit_bytes
                        ? fmt::format("it needed more memory than its limit of {}",
                                      human_bytes(*launch_.memory_limit_bytes))
                        : std::string("the machine ran out of memory");
  if (use.peak_bytes > 0 && launch_.memory_limit_bytes)  // Else of all the attempts so far.
    outcome.message += fmt::format(" (peak {})", human_bytes(use.peak_bytes));
}

}  // namespace berth::node
