// SPDX-License-Identifier: Apache-2.0
#include "node/shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <ctime>

#include "base/clock.h"
#include "base/own_variable.h"
#include "base/text.h"
#include "io/cgroup.h"
#include "node/attempt_files.h"
#include "node/command.h"
#include "node/lease.h"
#include "node/leftovers.h"
#include "node/process_tree.h"
#include "node/processes.h"

namespace berth::node {
namespace {

using model::Ending;
using model::Outcome;
using wire::node::Launch;

constexpr Duration kForever = std::chrono::hours(24);  // Then it looks again, finds nothing, waits.
constexpr Duration kFirstPause(5);
constexpr Duration kLongestPause(500);

/// The node's own environment without what is ours, under what the job asked for.
std::map<std::string, std::string> job_environment(const AttemptPaths& paths, const Launch& launch,
                                                   const std::optional<JobUser>& user) {
  static const auto base = [] {
    std::map<std::string, std::string> own = io::current_environment();
    std::erase_if(own, [](const auto& each) { return is_own_variable(each.first); });
    own.try_emplace("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    return own;
  }();
  std::map<std::string, std::string> variables = user ? environment_of(*user, base) : base;
  for (const auto& [name, value] : launch.environment) variables[name] = value;
  variables[kMarkerVariable] = marker_of(paths);
  return variables;
}

/// How the command comes into its control group: its supervisor is inside, or it moves.
enum class Entry { Born, Moves };

struct Quarters {
  const io::Cgroup& cgroup;
  Entry entry = Entry::Born;
  std::uint64_t earlier_kills = 0;  ///< For lack of memory, in this group, before the attempt.
};

/// The command's process tree from its start until nothing of it is left.
///
///   Running ──(stop, time over, or the command ended and left processes)──> Terminating
///   Terminating ──(grace over)──> Killing          any ──(nothing left)──> over
///   any ──(the node's lease lapsed)──> Killing
class Supervision {
 public:
  Supervision(const Launch& launch, const Quarters& quarters, LeaseWatch& lease)
      : launch_(launch),
        cgroup_(quarters.cgroup),
        entry_(quarters.entry),
        earlier_kills_(quarters.earlier_kills),
        lease_(lease) {}

  void add(pid_t command) { commands_.push_back(command); }

  /// Not all of them could be started: those that were are ended.
  void give_up(const Error& why) {
    cause_ = Ending::NotStarted;
    message_ = why.message;
  }

  Outcome run() {
    started_ = clock_.now().mono;
    reap();
    while (!is_over()) {
      advance(clock_.now().mono);
      wait(std::min(pause(clock_.now().mono), lease_.pause(since_boot())));
      reap();
    }
    return outcome();
  }

  bool has_killed() const { return phase_ == Phase::Killing; }

 private:
  enum class Phase { Running, Terminating, Killing };

  void reap() {
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

  /// The first to fail speaks for all.
  void note(pid_t ended, int status) {
    const bool is_ours = std::erase(commands_, ended) > 0;
    if (is_ours && !status_ && (status != 0 || commands_.empty())) status_ = status;
  }

  /// Who is born in our own group descends from us; one of the attempt's own may hold others.
  bool is_over() const {
    return status_ && !has_children_ && (entry_ == Entry::Born || cgroup_.is_empty());
  }

  void advance(TimePoint now) {
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
      outcome.message = message_;
      if (cause_ == Ending::TimedOut) {
        outcome.message =
            fmt::format("it ran longer than its limit of {} s", launch_.timeout->count());
      }
      if (cause_ == Ending::Lost) outcome.message = kLeaseLapsed;
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
    if (use.out_of_memory_kills == earlier_kills_) return;
    outcome.ending = Ending::OutOfMemory;
    outcome.message = launch_.memory_limit_bytes
                          ? fmt::format("it needed more memory than its limit of {}",
                                        human_bytes(*launch_.memory_limit_bytes))
                          : std::string("the machine ran out of memory");
    if (use.peak_bytes > 0 && launch_.memory_limit_bytes)  // Else of all the attempts so far.
      outcome.message += fmt::format(" (peak {})", human_bytes(use.peak_bytes));
  }

  const Launch& launch_;
  const io::Cgroup& cgroup_;
  const Entry entry_;
  const std::uint64_t earlier_kills_;
  LeaseWatch& lease_;
  SystemClock clock_{};
  std::vector<pid_t> commands_{};  ///< Those that have not ended.
  TimePoint started_{};
  std::optional<int> status_{};
  bool has_children_ = true;
  bool stop_requested_ = false;
  Phase phase_ = Phase::Running;
  TimePoint kill_at_{};
  Duration pause_ = kFirstPause;
  std::optional<Ending> cause_{};
  std::string message_{};
};

Outcome not_started(const Error& why) {
  return {.ending = Ending::NotStarted, .message = why.message};
}

/// Whom the job runs as, with its files given to him; nobody: as we do.
Result<std::optional<JobUser>> admit_user(const AttemptPaths& paths, const Launch& launch) {
  if (launch.run_as.empty()) return std::nullopt;
  if (::geteuid() != 0) {
    return fail(Code::Forbidden, fmt::format("it is to run as '{}', but this node does not run "
                                             "as root",
                                             launch.run_as));
  }
  if (launch.starter != wire::node::Starter::Shim) {
    return fail(Code::NotSupported, "mpi jobs cannot run as a user of their own yet");
  }
  JobUser user = TRY(find_job_user(launch.run_as));
  TRY(hand_over(paths, user));
  return user;
}

Outcome supervise(const AttemptPaths& paths, const Launch& launch, const Quarters& quarters) {
  LeaseWatch lease(paths.directory);
  if (lease.has_lapsed(since_boot())) return {.ending = Ending::Lost, .message = kLeaseLapsed};
  const auto user = admit_user(paths, launch);
  if (!user) return not_started(user.error());
  auto commands = commands_of(paths, launch, job_environment(paths, launch, *user));
  if (!commands) return not_started(commands.error());
  const bool moves = quarters.entry == Entry::Moves;
  Supervision supervision(launch, quarters, lease);
  for (CommandSpec& command : *commands) {
    command.user = *user;
    const Result<pid_t> started = start_command(command, moves ? quarters.cgroup : io::Cgroup());
    if (started) {
      supervision.add(*started);
    } else if (&command == &commands->front()) {
      return not_started(started.error());
    } else {
      supervision.give_up(started.error());
      break;
    }
  }
  const Outcome outcome = supervision.run();
  if (!moves && supervision.has_killed()) quarters.cgroup.enter();  // Killing leaves it.
  return outcome;
}

/// The result must not be lost: it waits for room if it has to, unless there is no directory any
/// more.
void report(const Result<io::Descriptor>& reserved, const AttemptPaths& paths,
            const ExitRecord& exit) {
  const std::string text = record::encode_text(exit);
  if (reserved && fill_reserved(*reserved, paths.exit, text)) return;
  while (true) {
    const Status written = replace_file(paths.exit, text);
    if (written || written.error().code == Code::NotFound) return;
    ::sleep(1);
  }
}

/// The agent that would be told of the end.
bool is_gone(int agent) {
  pollfd socket{agent, 0, 0};
  return ::poll(&socket, 1, 0) > 0 && (socket.revents & POLLHUP) != 0;
}

constexpr std::string_view kGroupPrefix = "shim-";

/// What one job may have unless it says otherwise: enough for any that is meant well, and a part of
/// what the machine can have, so that one that forks for ever leaves room for all others.
std::uint64_t default_process_limit() {
  constexpr std::uint64_t kLeast = 1024;
  return std::max(io::machine_process_limit() * 15 / 100, kLeast);
}

/// A shim that was killed while it had nothing to do could not remove its group, "shim-12-3456".
bool is_of_dead_shim(std::string_view group) {
  if (!group.starts_with(kGroupPrefix)) return false;
  const std::vector<std::string_view> parts = split(group.substr(kGroupPrefix.size()), '-');
  if (parts.size() != 2) return false;
  io::ProcessIdentity shim;
  std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), shim.pid);
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), shim.start_ticks);
  return shim.pid > 0 && !io::is_alive(shim);
}

/// What a shim keeps from one attempt to the next.
class Shim {
 public:
  explicit Shim(const io::ProcessIdentity& self) : self_(self) {
    io::remove_stale_groups(hierarchies_, is_of_dead_shim);
    own_ = make_cgroup(fmt::format("{}{}-{}", kGroupPrefix, self.pid, self.start_ticks), {});
    own_.enter();  // What it starts is then born inside: moving in is what costs.
    kills_.emplace(own_);
  }
  ~Shim() {
    own_.leave();
    own_.remove();
  }
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;

  void run_attempt(const AttemptPaths& paths, int agent) {
    const Result<io::FileLock> lock = io::FileLock::try_lock(paths.lock);
    const bool was_begun =
        ::access(paths.shim.c_str(), F_OK) == 0 || ::access(paths.exit.c_str(), F_OK) == 0;
    // A later agent may have found the lock free, and the attempt not begun.
    if (!lock || was_begun || is_gone(agent)) return;
    const auto record = read_record<LaunchRecord>(paths.launch);
    if (!record) return;
    const SystemClock clock;
    // Room for its end, taken before the command can fill the disk with its own files: those go
    // only once its end is known.
    const Result<io::Descriptor> reserved = reserve_file(paths.exit);
    ExitRecord exit{.started_at = clock.now().wall};
    exit.outcome = reserved ? run_command(paths, record->launch) : not_started(reserved.error());
    exit.ended_at = clock.now().wall;
    report(reserved, paths, exit);
  }

 private:
  io::Cgroup make_cgroup(const std::string& name, std::optional<std::uint64_t> limit) const {
    Result<io::Cgroup> made = io::Cgroup::make(hierarchies_, name, limit);
    return made ? std::move(*made) : io::Cgroup();
  }

  /// Limits need a group of the attempt's own, which costs as much as a short command; what is as
  /// large as the machine is no limit.
  Outcome run_command(const AttemptPaths& paths, const Launch& launch) {
    const bool limits_memory =
        launch.memory_limit_bytes && *launch.memory_limit_bytes >> 20 < io::machine_memory_mib();
    const bool limits_cpu = launch.cpu_limit && *launch.cpu_limit < io::machine_cores();
    const std::uint64_t processes = launch.process_limit.value_or(process_limit_);
    limit_own_group(processes + 1);  // It is one of them itself.
    if (!limits_memory && !limits_cpu) return run_command(paths, launch, own_quarters());
    const std::string name = group_name(paths);
    io::Cgroup group = make_cgroup(name, launch.memory_limit_bytes);
    if (limits_cpu) group.limit_cpu(name, *launch.cpu_limit);
    group.limit_processes(processes);
    if (group.directories().empty()) return run_command(paths, launch, own_quarters());
    const Outcome outcome = run_command(paths, launch, {group, Entry::Moves});
    group.remove();
    return outcome;
  }

  void limit_own_group(std::uint64_t processes) {
    if (std::exchange(own_limit_, processes) != processes) own_.limit_processes(processes);
  }

  Quarters own_quarters() const { return {own_, Entry::Born, kills_->read()}; }

  Outcome run_command(const AttemptPaths& paths, const Launch& launch,
                      const Quarters& quarters) const {
    const ShimRecord record{self_, quarters.cgroup.directories()};
    const Status noted = write_record(paths.shim, record);
    return noted ? supervise(paths, launch, quarters) : not_started(noted.error());
  }

  io::ProcessIdentity self_;
  std::vector<io::CgroupHierarchy> hierarchies_ = io::own_hierarchies();
  std::uint64_t process_limit_ = default_process_limit();
  std::uint64_t own_limit_ = 0;  ///< Of `own_`, as it is now.
  io::Cgroup own_{};
  std::optional<io::KillCounter> kills_{};
};

/// Empty when the agent is gone.
std::string next_attempt(int socket) {
  char directory[PATH_MAX];
  ssize_t count = 0;
  do {
    count = ::recv(socket, directory, sizeof directory, 0);
  } while (count < 0 && errno == EINTR);
  return std::string(directory, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
}

void run_attempts(int socket) {
  const Result<io::ProcessIdentity> self = io::identify(::getpid());
  if (!self) return;
  Shim shim(*self);
  for (std::string next = next_attempt(socket); !next.empty(); next = next_attempt(socket)) {
    shim.run_attempt(AttemptPaths(next), socket);
    const char over = 'x';
    ::send(socket, &over, 1, MSG_NOSIGNAL);
  }
}

}  // namespace

void run_shim(int socket) {
  ::setsid();
  ::prctl(PR_SET_NAME, "berth-shim");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGQUIT}) ::signal(signal, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  io::share_memory_again();  // mpirun starts us once more by our name in /proc.
  run_attempts(socket);
  ::_exit(0);
}

}  // namespace berth::node
