// SPDX-License-Identifier: Apache-2.0
#include "node/shim/shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "base/environment.h"
#include "base/text.h"
#include "io/process/cgroup.h"
#include "node/files/attempt_files.h"
#include "node/runtime/command.h"
#include "node/runtime/host_runtime.h"
#include "node/shim/handover.h"
#include "node/shim/lease.h"
#include "node/shim/leftovers.h"
#include "node/shim/output.h"
#include "node/shim/process_tree.h"
#include "node/shim/processes.h"
#include "node/shim/supervision.h"

namespace berth::node {
namespace {

using model::Ending;
using model::Outcome;
using wire::node::Launch;

/// What of the node's environment is for jobs, under what the job asked for and its secrets.
std::map<std::string, std::string> job_environment(const AttemptPaths& paths, const Launch& launch,
                                                   const std::optional<JobUser>& user) {
  static const EnvironmentMap base = job_base_environment(io::current_environment());
  std::map<std::string, std::string> variables = user ? environment_of(*user, base) : base;
  for (const auto& [name, value] : launch.environment) variables[name] = value;
  for (const auto& [name, value] : launch.secrets) variables[name] = value;
  variables[kMarkerVariable] = marker_of(paths);
  return variables;
}

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

/// Starts what an attempt's runtime makes of a command.
class CommandStarter {
 public:
  CommandStarter(const ShimSettings& settings, const LaunchRecord& record, const Quarters& quarters)
      : record_(record), quarters_(quarters) {
    // What starts MPI's ranks is the node's own; each rank is wrapped as it starts.
    const bool is_the_jobs = record.launch.starter == wire::node::Starter::Shim;
    runtime_ = is_the_jobs ? &settings.runtime_of(record.launch) : &host_runtime();
  }

  Result<pid_t> start(CommandSpec& command, Output& output) const {
    TRY(output.connect(command));
    const Invocation invocation = TRY(runtime_->wrap(record_.runtime, command.command));
    const bool moves = quarters_.entry == Entry::Moves;
    return start_command(command, invocation, moves ? quarters_.cgroup : io::Cgroup());
  }

 private:
  const LaunchRecord& record_;
  const Quarters& quarters_;
  const Runtime* runtime_ = nullptr;
};

Outcome supervise(const AttemptPaths& paths, const LaunchRecord& record, const Quarters& quarters,
                  io::PipePump& pump, const ShimSettings& settings) {
  const Launch& launch = record.launch;
  LeaseWatch lease(paths.directory);
  if (lease.has_lapsed(since_boot())) return {.ending = Ending::Lost, .message = kLeaseLapsed};
  const auto user = admit_user(paths, launch);
  if (!user) return not_started(user.error());
  auto commands = commands_of(paths, launch, job_environment(paths, launch, *user));
  if (!commands) return not_started(commands.error());
  const CommandStarter starter(settings, record, quarters);
  Output output(pump, paths.directory);
  Supervision supervision(launch, settings.grace, quarters, lease, output);
  for (CommandSpec& command : *commands) {
    command.user = *user;
    const Result<pid_t> started = starter.start(command, output);
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
  const bool has_left = quarters.entry == Entry::Born && supervision.has_killed();
  if (has_left) quarters.cgroup.enter();
  return outcome;
}

/// The result of what has run must not be lost: it waits for room if it has to, unless there is no
/// directory any more. Of what could not begin the agent sees that for itself.
void report(const Result<io::Descriptor>& reserved, const AttemptPaths& paths,
            const ExitRecord& exit) {
  const std::string text = record::encode_text(exit);
  if (reserved && fill_reserved(*reserved, paths.exit, text)) return;
  if (!reserved) return (void)replace_file(paths.exit, text);
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
  Shim(const io::ProcessIdentity& self, const ShimSettings& settings)
      : self_(self), settings_(settings) {
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

  void run_attempt(Handover handed, int agent) {
    const AttemptPaths paths(handed.directory);
    const Result<io::FileLock> lock = io::FileLock::try_lock(paths.lock);
    const bool was_begun =
        ::access(paths.shim.c_str(), F_OK) == 0 || ::access(paths.exit.c_str(), F_OK) == 0;
    // A later agent may have found the lock free, and the attempt not begun.
    if (!lock || was_begun || is_gone(agent)) return;
    auto record = read_record<LaunchRecord>(paths.launch);
    if (!record) return;
    record->launch.secrets = std::move(handed.secrets);
    const SystemClock clock;
    // Room for its end, taken before the command can fill the disk with its own files: those go
    // only once its end is known.
    const Result<io::Descriptor> reserved = reserve_file(paths.exit);
    ExitRecord exit{.started_at = clock.now().wall};
    exit.outcome = reserved ? run_command(paths, *record) : not_started(reserved.error());
    const Status cleaned = settings_.runtime_of(record->launch).clean_up(paths);
    if (!cleaned) {
      exit.outcome.notes.push_back("what it ran in is not removed: " + cleaned.error().message);
    }
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
  Outcome run_command(const AttemptPaths& paths, const LaunchRecord& record) {
    const Launch& launch = record.launch;
    const bool limits_memory =
        launch.memory_limit_bytes && *launch.memory_limit_bytes >> 20 < io::machine_memory_mib();
    const bool limits_cpu = launch.cpu_limit && *launch.cpu_limit < io::machine_cores();
    const std::uint64_t processes = launch.process_limit.value_or(process_limit_);
    limit_own_group(processes + 2);  // It is one of them itself, and has one thread more.
    if (!limits_memory && !limits_cpu) return run_command(paths, record, own_quarters());
    const std::string name = group_name(paths);
    io::Cgroup group = make_cgroup(name, launch.memory_limit_bytes);
    if (limits_cpu) group.limit_cpu(name, *launch.cpu_limit);
    group.limit_processes(processes);
    if (group.directories().empty()) return run_command(paths, record, own_quarters());
    const Outcome outcome = run_command(paths, record, {group, Entry::Moves});
    group.remove();
    return outcome;
  }

  void limit_own_group(std::uint64_t processes) {
    if (std::exchange(own_limit_, processes) != processes) own_.limit_processes(processes);
  }

  Quarters own_quarters() const { return {own_, Entry::Born, kills_->read()}; }

  Outcome run_command(const AttemptPaths& paths, const LaunchRecord& record,
                      const Quarters& quarters) {
    const Status noted = write_record(paths.shim, ShimRecord{self_, quarters.cgroup.directories()});
    if (!noted) return not_started(noted.error());
    return supervise(paths, record, quarters, pump_, settings_);
  }

  io::ProcessIdentity self_;
  const ShimSettings& settings_;
  std::vector<io::CgroupHierarchy> hierarchies_ = io::own_hierarchies();
  std::uint64_t process_limit_ = default_process_limit();
  std::uint64_t own_limit_ = 0;  ///< Of `own_`, as it is now.
  io::Cgroup own_{};
  std::optional<io::KillCounter> kills_{};
  io::PipePump pump_{[] { ::kill(::getpid(), SIGCHLD); }};  ///< Ends a wait: there is news.
};

/// With an empty directory when the agent is gone.
Handover next_attempt(int socket, std::string& buffer) {
  ssize_t count = 0;
  do {
    count = ::recv(socket, buffer.data(), buffer.size(), 0);
  } while (count < 0 && errno == EINTR);
  const auto size = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  Handover handed = decode_handover(std::string_view(buffer).substr(0, size));
  ::explicit_bzero(buffer.data(), size);  // What one job may know is not left for the next.
  return handed;
}

void run_attempts(int socket, const ShimSettings& settings) {
  const Result<io::ProcessIdentity> self = io::identify(::getpid());
  if (!self) return;
  Shim shim(*self, settings);
  std::string buffer(kLongestHandover, '\0');
  for (Handover next = next_attempt(socket, buffer); !next.directory.empty();
       next = next_attempt(socket, buffer)) {
    shim.run_attempt(std::move(next), socket);
    const char over = 'x';
    ::send(socket, &over, 1, MSG_NOSIGNAL);
  }
}

}  // namespace

void run_shim(int socket, const ShimSettings& settings) {
  ::setsid();
  ::prctl(PR_SET_NAME, "berth-shim");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGQUIT}) ::signal(signal, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  io::share_memory_again();  // mpirun starts us once more by our name in /proc.
  run_attempts(socket, settings);
  ::_exit(0);
}

}  // namespace berth::node
