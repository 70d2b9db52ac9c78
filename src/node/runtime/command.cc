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

#include "io/file.h"

namespace berth::node {
namespace {

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

/// All that the child needs: it borrows our memory until it is the command, so it makes nothing.
struct Plan {
  const CommandSpec& spec;
  const io::Cgroup& cgroup;
  const char* shell = nullptr;
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
  if (::chdir(plan.spec.working_directory.c_str()) != 0) {
    give_up(plan, "enter the working directory");
  }
  const char* const words[] = {plan.shell, "-c", plan.spec.command.c_str(), nullptr};
  reset_signals();
  ::execve(plan.shell, const_cast<char* const*>(words), plan.environment);
  give_up(plan, "run the shell");
}

}  // namespace

const char* find_shell() { return ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh"; }

Result<pid_t> start_command(const CommandSpec& spec, const io::Cgroup& cgroup) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : spec.environment) variables.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const Plan plan{.spec = spec,
                  .cgroup = cgroup,
                  .shell = find_shell(),
                  .environment = environment.data(),
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

}  // namespace berth::node
