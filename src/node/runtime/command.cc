// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "io/files/file.h"

namespace berth::node {
namespace {

constexpr const char* kEntering = "enter the working directory";
constexpr const char* kRunning = "run the shell";

/// What the child says when it cannot become the command.
struct StartFailure {
  int error_number = 0;
  char doing[60] = {};
};

/// Memory that a child writes and we read, however it was forked (sanitizers turn vfork into fork).
StartFailure* shared_failure() {
  static void* const page = ::mmap(nullptr, sizeof(StartFailure), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : static_cast<StartFailure*>(page);
}

/// An invocation as execve() takes it.
class ExecArguments {
 public:
  explicit ExecArguments(const Invocation& invocation) : words_(invocation.words) {
    for (const auto& [name, value] : invocation.environment) {
      variables_.push_back(name + "=" + value);
    }
    point_at(words_, word_pointers_);
    point_at(variables_, variable_pointers_);
  }
  ExecArguments(const ExecArguments&) = delete;
  ExecArguments& operator=(const ExecArguments&) = delete;

  char* const* words() const { return word_pointers_.data(); }
  char* const* environment() const { return variable_pointers_.data(); }

 private:
  static void point_at(std::vector<std::string>& texts, std::vector<char*>& pointers) {
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
  }

  std::vector<std::string> words_;
  std::vector<std::string> variables_{};
  std::vector<char*> word_pointers_{};
  std::vector<char*> variable_pointers_{};
};

/// All that the child needs: it borrows our memory until it is the command, so it makes nothing.
struct Plan {
  const CommandSpec& spec;
  const io::Cgroup& cgroup;
  const char* working_directory = nullptr;
  char* const* words = nullptr;
  char* const* environment = nullptr;
  StartFailure* failure = nullptr;
};

[[noreturn]] void give_up(const Plan& plan, std::string_view doing) {
  plan.failure->error_number = errno;
  plan.failure->doing[doing.copy(plan.failure->doing, sizeof plan.failure->doing - 1)] = '\0';
  ::_exit(127);
}

/// Those that a shim ignores or blocks; all others it has left alone.
void reset_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGQUIT}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void set_streams(const Plan& plan) {
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) give_up(plan, "open '/dev/null'");
  ::dup2(input, STDIN_FILENO);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::dup2(plan.spec.output, stream) < 0) give_up(plan, "connect the log");
  }
  const auto first = static_cast<unsigned>(STDERR_FILENO + 1);
  if (::syscall(SYS_close_range, first, ~0u, 0) == 0) return;
  for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) ::close(fd);
}

[[noreturn]] void become_command(const Plan& plan) {
  ::setpgid(0, 0);
  plan.cgroup.enter();
  set_streams(plan);
  if (plan.spec.user && !become(*plan.spec.user)) give_up(plan, "become the job's user");
  if (::chdir(plan.working_directory) != 0) give_up(plan, kEntering);
  reset_signals();
  ::execve(plan.words[0], plan.words, plan.environment);
  give_up(plan, kRunning);
}

}  // namespace

Result<pid_t> start_command(const CommandSpec& spec, const Invocation& invocation,
                            const io::Cgroup& cgroup) {
  const ExecArguments arguments(invocation);
  const Plan plan{.spec = spec,
                  .cgroup = cgroup,
                  .working_directory = invocation.working_directory.c_str(),
                  .words = arguments.words(),
                  .environment = arguments.environment(),
                  .failure = shared_failure()};
  if (plan.failure == nullptr) return fail(io::error_from_errno(errno, "start a process"));
  plan.failure->error_number = 0;
  // It shares our memory and we wait until it has let go of it: nothing is copied.
  const pid_t child = ::vfork();
  if (child < 0) return fail(io::error_from_errno(errno, "start a process"));
  if (child == 0) become_command(plan);
  if (plan.failure->error_number == 0) return child;
  ::waitpid(child, nullptr, 0);
  return fail(io::error_from_errno(plan.failure->error_number, plan.failure->doing));
}

Error become(const Invocation& invocation) {
  if (::chdir(invocation.working_directory.c_str()) != 0) {
    return io::error_from_errno(errno, kEntering);
  }
  const ExecArguments arguments(invocation);
  ::execve(arguments.words()[0], arguments.words(), arguments.environment());
  return io::error_from_errno(errno, kRunning);
}

}  // namespace berth::node
