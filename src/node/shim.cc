// SPDX-License-Identifier: Apache-2.0
#include "node/shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/clock.h"
#include "base/digest.h"
#include "base/text.h"
#include "io/cgroup.h"
#include "node/attempt_files.h"
#include "node/command.h"
#include "node/process_tree.h"

namespace berth::node {
namespace {

using model::Ending;
using model::Outcome;
using wire::node::Launch;

constexpr Duration kForever = std::chrono::hours(24);  // Then it looks again, finds nothing, waits.
constexpr Duration kFirstPause(5);
constexpr Duration kLongestPause(500);

/// The node's own environment without what is ours, under what the job asked for.
std::map<std::string, std::string> job_environment(const Launch& launch) {
  std::map<std::string, std::string> variables = io::current_environment();
  std::erase_if(variables, [](const auto& each) { return each.first.starts_with("BERTH_"); });
  variables.try_emplace("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  for (const auto& [name, value] : launch.environment) variables[name] = value;
  variables[kMarkerVariable] = wire::node::attempt_directory(launch.attempt);
  return variables;
}

/// The command's process tree from its start until nothing of it is left.
///
///   Running ──(stop, time over, or the command ended and left processes)──> Terminating
///   Terminating ──(grace over)──> Killing          any ──(nothing left)──> over
class Supervision {
 public:
  Supervision(const Launch& launch, const io::Cgroup& cgroup) : launch_(launch), cgroup_(cgroup) {}

  Outcome run(pid_t command) {
    command_ = command;
    started_ = clock_.now().mono;
    reap();
    while (!is_over()) {
      advance(clock_.now().mono);
      wait(pause(clock_.now().mono));
      reap();
    }
    return outcome();
  }

 private:
  enum class Phase { Running, Terminating, Killing };

  void reap() {
    while (true) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, WNOHANG | __WALL);
      if (ended < 0 && errno == EINTR) continue;
      if (ended == command_) status_ = status;
      if (ended > 0) continue;
      has_children_ = ended == 0;
      return;
    }
  }

  bool is_over() const { return status_ && !has_children_ && cgroup_.is_empty(); }

  void advance(TimePoint now) {
    if (phase_ == Phase::Running) {
      if (status_) {
        terminate(now);
      } else if (stop_requested_) {
        cause_ = Ending::Stopped;
        terminate(now);
      } else if (launch_.timeout && now - started_ >= *launch_.timeout) {
        cause_ = Ending::TimedOut;
        terminate(now);
      }
    }
    if (phase_ == Phase::Terminating && now >= kill_at_) phase_ = Phase::Killing;
    if (phase_ == Phase::Killing) kill_all();
  }

  void terminate(TimePoint now) {
    phase_ = Phase::Terminating;
    kill_at_ = now + std::clamp(launch_.grace, Duration(0), kForever);
    for (const io::ProcessIdentity& process : tree()) {
      (void)io::send_signal(process, SIGTERM);
      (void)io::send_signal(process, SIGCONT);  // One that is stopped would not notice.
    }
  }

  void kill_all() const {
    cgroup_.kill();
    for (const io::ProcessIdentity& process : tree()) (void)io::send_signal(process, SIGKILL);
  }

  /// Descendants, and members of the group that somehow are not.
  std::vector<io::ProcessIdentity> tree() const {
    std::vector<io::ProcessIdentity> found = descendants_of(::getpid());
    for (const pid_t pid : cgroup_.members()) {
      const bool is_known =
          std::ranges::any_of(found, [&](const auto& each) { return each.pid == pid; });
      const auto member = io::identify(pid);
      if (!is_known && member) found.push_back(*member);
    }
    return found;
  }

  Duration pause(TimePoint now) {
    if (phase_ == Phase::Killing || !has_children_) {
      // Uninterruptible sleep, or a process of another user: try again, ever more slowly.
      return pause_ = std::min(pause_ * 2, kLongestPause);
    }
    if (phase_ == Phase::Terminating) return std::max(kill_at_ - now, Duration(1));
    if (!launch_.timeout) return kForever;
    return std::clamp(Duration(*launch_.timeout) - (now - started_), Duration(1), kForever);
  }

  void wait(Duration at_most) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    const timespec time{at_most.count() / 1000, at_most.count() % 1000 * 1'000'000};
    if (::sigtimedwait(&awaited, nullptr, &time) == SIGTERM) stop_requested_ = true;
  }

  Outcome outcome() const {
    Outcome outcome{.ending = Ending::Exited};
    if (WIFEXITED(*status_)) outcome.exit_code = WEXITSTATUS(*status_);
    if (WIFSIGNALED(*status_)) {
      outcome.ending = Ending::Signaled;
      outcome.signal = WTERMSIG(*status_);
    }
    if (cause_) {
      outcome.ending = *cause_;
      if (cause_ == Ending::TimedOut) {
        outcome.message =
            fmt::format("it ran longer than its limit of {} s", launch_.timeout->count());
      }
    } else {
      check_memory(outcome);
    }
    return outcome;
  }

  /// A shell reports a child's SIGKILL as 137.
  void check_memory(Outcome& outcome) const {
    const bool was_killed = outcome.signal == SIGKILL || outcome.exit_code == 128 + SIGKILL;
    if (!was_killed) return;
    const io::MemoryUse use = cgroup_.memory_use();
    if (use.out_of_memory_kills == 0) return;
    outcome.ending = Ending::OutOfMemory;
    outcome.message = launch_.memory_limit_bytes
                          ? fmt::format("it needed more memory than its limit of {}",
                                        human_bytes(*launch_.memory_limit_bytes))
                          : std::string("the machine ran out of memory");
    if (use.peak_bytes > 0)
      outcome.message += fmt::format(" (peak {})", human_bytes(use.peak_bytes));
  }

  const Launch& launch_;
  const io::Cgroup& cgroup_;
  SystemClock clock_{};
  pid_t command_ = 0;
  TimePoint started_{};
  std::optional<int> status_{};
  bool has_children_ = true;
  bool stop_requested_ = false;
  Phase phase_ = Phase::Running;
  TimePoint kill_at_{};
  Duration pause_ = kFirstPause;
  std::optional<Ending> cause_{};
};

io::Cgroup make_cgroup(const Launch& launch) {
  // Hashed: job names are longer and wider than what a directory of the kernel's may be called.
  const std::string name = to_hex(sha256(wire::node::attempt_directory(launch.attempt)));
  Result<io::Cgroup> made = io::Cgroup::make(name.substr(0, 24), launch.memory_limit_bytes);
  return made ? std::move(*made) : io::Cgroup();
}

Outcome not_started(const Error& why) {
  return {.ending = Ending::NotStarted, .message = why.message};
}

Outcome supervise(const AttemptPaths& paths, const Launch& launch, const io::Cgroup& cgroup) {
  const Result<pid_t> command =
      start_command({.command = launch.command,
                     .working_directory = paths.directory + "/" + launch.working_directory,
                     .environment = job_environment(launch),
                     .log = paths.log},
                    cgroup);
  if (!command) return not_started(command.error());
  return Supervision(launch, cgroup).run(*command);
}

/// Room for exit.json, taken before the command can fill the disk with its own files: those go only
/// once its end is known.
Result<io::TemporaryFile> reserve_exit(const AttemptPaths& paths) {
  constexpr off_t kEnough = 4096;
  io::TemporaryFile file = TRY(io::TemporaryFile::make(paths.directory));
  if (const int error_number = ::posix_fallocate(file.fd(), 0, kEnough); error_number != 0) {
    return fail(io::error_from_errno(error_number, "reserve room on the disk"));
  }
  return file;
}

Status write_exit(io::TemporaryFile& file, const AttemptPaths& paths, const std::string& text) {
  TRY(file.write(text));
  if (::ftruncate(file.fd(), static_cast<off_t>(text.size())) != 0) {
    return fail(io::error_from_errno(errno, "write exit.json"));
  }
  return file.persist(paths.exit);
}

/// The result must not be lost: it waits for room if it has to, unless there is no directory any
/// more.
void report(Result<io::TemporaryFile> reserved, const AttemptPaths& paths, const ExitRecord& exit) {
  const std::string text = record::json::serialize(record::encode(exit));
  if (reserved && write_exit(*reserved, paths, text)) return;
  while (true) {
    const Status written = replace_file(paths.exit, text);
    if (written || written.error().code == Code::NotFound) return;
    ::sleep(1);
  }
}

Outcome run_command(const AttemptPaths& paths, const Launch& launch) {
  const io::Cgroup cgroup = make_cgroup(launch);
  const Result<io::ProcessIdentity> self = io::identify(::getpid());
  const Status noted = self ? write_record(paths.shim, ShimRecord{*self, cgroup.directories()})
                            : Status(fail(self.error()));
  const Outcome outcome = noted ? supervise(paths, launch, cgroup) : not_started(noted.error());
  cgroup.remove();
  return outcome;
}

void run_attempt(const AttemptPaths& paths) {
  const Result<io::FileLock> lock = io::FileLock::try_lock(paths.lock);
  if (!lock || ::access(paths.shim.c_str(), F_OK) == 0 || ::access(paths.exit.c_str(), F_OK) == 0) {
    return;
  }
  const auto record = read_record<LaunchRecord>(paths.launch);
  if (!record) return;
  const SystemClock clock;
  Result<io::TemporaryFile> reserved = reserve_exit(paths);
  ExitRecord exit{.started_at = clock.now().wall};
  exit.outcome = reserved ? run_command(paths, record->launch) : not_started(reserved.error());
  exit.ended_at = clock.now().wall;
  report(std::move(reserved), paths, exit);
}

}  // namespace

void run_shim(const std::string& attempt_directory) {
  ::setsid();
  ::prctl(PR_SET_NAME, "berth-shim");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGQUIT}) ::signal(signal, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  run_attempt(AttemptPaths(attempt_directory));
  ::_exit(0);
}

}  // namespace berth::node
