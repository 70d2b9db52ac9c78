// SPDX-License-Identifier: Apache-2.0
#include "io/process/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <limits>
#include <memory>

#include "base/text.h"

namespace berth::io {
namespace {

struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  std::uint64_t start_ticks = 0;

  bool is_alive() const { return state != 'Z' && state != 'X'; }
};

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  return std::from_chars(text.data(), end, number).ptr == end && !text.empty();
}

Result<ProcessStat> read_stat(pid_t pid) {
  const Result<std::string> text = read_file(fmt::format("/proc/{}/stat", pid), 64 * 1024);
  if (!text) return fail(Code::NotFound, fmt::format("no process {}", pid));
  // The name is in parentheses and may hold anything; fields are counted from behind it.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return fail(Code::Internal, "cannot read /proc/<pid>/stat");
  const auto fields = split(trim(std::string_view(*text).substr(name_end + 1)), ' ');
  constexpr std::size_t kState = 0;
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kStartTicks = 19;
  if (fields.size() <= kStartTicks) return fail(Code::Internal, "cannot read /proc/<pid>/stat");
  ProcessStat found;
  found.state = fields[kState].empty() ? '?' : fields[kState][0];
  read_number(fields[kParent], found.parent);
  read_number(fields[kStartTicks], found.start_ticks);
  return found;
}

/// posix_spawn's two objects, which want to be destroyed.
struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

void set_streams(posix_spawn_file_actions_t* actions, const SpawnOptions& options) {
  if (options.stdin_fd >= 0) {
    posix_spawn_file_actions_adddup2(actions, options.stdin_fd, STDIN_FILENO);
  } else {
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  if (options.stdout_fd >= 0) {
    posix_spawn_file_actions_adddup2(actions, options.stdout_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(actions, options.stderr_fd, STDERR_FILENO);
    return;
  }
  const bool has_file = !options.stdout_path.empty();
  const char* const target = has_file ? options.stdout_path.c_str() : "/dev/null";
  const int flags = O_WRONLY | (has_file ? O_CREAT | O_APPEND : 0);
  posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, target, flags, 0600);
  posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
}

void set_descriptors(SpawnSettings& settings, const SpawnOptions& options) {
  posix_spawn_file_actions_t* const actions = &settings.actions;
  set_streams(actions, options);
  int next = STDERR_FILENO + 1;
  std::vector<int> kept = options.inherit;
  std::ranges::sort(kept);
  for (const int fd : kept) {
    for (; next < fd; ++next) posix_spawn_file_actions_addclose(actions, next);
    // Onto itself: takes close-on-exec away, in the child only.
    posix_spawn_file_actions_adddup2(actions, fd, fd);
    next = std::max(next, fd + 1);
  }
  posix_spawn_file_actions_addclosefrom_np(actions, next);
  if (!options.working_directory.empty()) {
    posix_spawn_file_actions_addchdir_np(actions, options.working_directory.c_str());
  }
}

void set_attributes(SpawnSettings& settings, const SpawnOptions& options) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (options.new_session) flags |= POSIX_SPAWN_SETSID;
  posix_spawnattr_setflags(&settings.attributes, static_cast<short>(flags));
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<ProcessIdentity> identify(pid_t pid) {
  const ProcessStat found = TRY(read_stat(pid));
  return ProcessIdentity{pid, found.start_ticks};
}

bool is_alive(const ProcessIdentity& process) {
  const Result<ProcessStat> found = read_stat(process.pid);
  return found && found->start_ticks == process.start_ticks && found->is_alive();
}

std::vector<ProcessEntry> list_processes() {
  std::vector<ProcessEntry> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir("/proc"), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    pid_t pid = 0;
    if (!read_number(entry->d_name, pid)) continue;
    const Result<ProcessStat> seen = read_stat(pid);
    if (seen && seen->is_alive()) found.push_back({{pid, seen->start_ticks}, seen->parent});
  }
  return found;
}

Result<Descriptor> open_process(const ProcessIdentity& process) {
  Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  const int error_number = errno;
  if (!handle && error_number != ESRCH) {
    return fail(error_from_errno(error_number, fmt::format("open process {}", process.pid)));
  }
  // Checked after opening: from here on the descriptor cannot come to mean another process.
  if (!handle || !is_alive(process)) {
    return fail(Code::NotFound, fmt::format("process {} has ended", process.pid));
  }
  return handle;
}

Status send_signal(const ProcessIdentity& process, int signal) {
  const Result<Descriptor> handle = open_process(process);
  if (!handle && handle.error().code == Code::NotFound) return Done{};
  // Kernels before 5.3 have no pidfd: checked as late as can be.
  const long sent = handle ? ::syscall(SYS_pidfd_send_signal, handle->get(), signal, nullptr, 0)
                           : (is_alive(process) ? ::kill(process.pid, signal) : 0);
  if (sent == 0 || errno == ESRCH) return Done{};
  return fail(error_from_errno(errno, fmt::format("signal process {}", process.pid)));
}

bool wait_for_end(const ProcessIdentity& process, Duration at_most) {
  const Result<Descriptor> handle = open_process(process);
  if (handle) {
    pollfd ended{handle->get(), POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(at_most.count()));
  } else if (handle.error().code != Code::NotFound) {  // No pidfd in this kernel.
    constexpr Duration kPause(20);
    for (Duration waited(0); waited < at_most && is_alive(process); waited += kPause) {
      ::poll(nullptr, 0, static_cast<int>(kPause.count()));
    }
  }
  return !is_alive(process);
}

void reap(pid_t child) {
  while (::waitpid(child, nullptr, WNOHANG) < 0 && errno == EINTR) {
  }
}

Result<ProcessIdentity> spawn(const SpawnOptions& options) {
  if (options.command.empty()) return fail(Code::InvalidArgument, "no command to start");
  std::vector<std::string> words = options.command;
  std::vector<std::string> variables;
  for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(variables);
  SpawnSettings settings;
  set_descriptors(settings, options);
  set_attributes(settings, options);
  pid_t pid = 0;
  const int error_number = ::posix_spawnp(&pid, argv[0], &settings.actions, &settings.attributes,
                                          argv.data(), envp.data());
  if (error_number != 0) {
    return fail(error_from_errno(error_number, fmt::format("start '{}'", options.command[0])));
  }
  return identify(pid);
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<std::string> own_executable() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) return fail(error_from_errno(errno, "find this executable"));
  path.resize(static_cast<std::size_t>(length));
  return path;
}

void keep_memory_private() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void share_memory_again() { ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

int machine_cores() { return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

std::uint64_t machine_memory_mib() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return static_cast<std::uint64_t>(std::max(pages, 0L)) *
             static_cast<std::uint64_t>(std::max(page_bytes, 0L)) >>
         20;
}

std::uint64_t machine_process_limit() {
  constexpr std::uint64_t kUsual = 32'768;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const char* const file : {"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"}) {
    std::uint64_t limit = 0;
    const Result<std::string> text = read_file(file, 4096);
    if (text && read_number(trim(*text), limit) && limit > 0) least = std::min(least, limit);
  }
  return least == std::numeric_limits<std::uint64_t>::max() ? kUsual : least;
}

}  // namespace berth::io
