// SPDX-License-Identifier: Apache-2.0
#include "node/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
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

[[noreturn]] void give_up(int report, std::string_view doing) {
  StartFailure failure{errno, {}};
  doing.copy(failure.doing, sizeof failure.doing - 1);
  (void)io::write_all(report, {reinterpret_cast<const char*>(&failure), sizeof failure});
  ::_exit(127);
}

const char* find_shell() { return ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh"; }

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void set_streams(const std::string& log, int report) {
  const int input = ::open("/dev/null", O_RDONLY);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (input < 0) give_up(report, "open '/dev/null'");
  if (output < 0) give_up(report, "open the log file");
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  // Marked rather than closed: the report must last until exec has worked.
  const auto first = static_cast<unsigned>(STDERR_FILENO + 1);
  if (::syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void become_command(const CommandSpec& spec, const io::Cgroup& cgroup, int report) {
  ::setpgid(0, 0);
  cgroup.enter();
  set_streams(spec.log, report);
  if (::chdir(spec.working_directory.c_str()) != 0) give_up(report, "enter the working directory");
  std::vector<std::string> variables;
  for (const auto& [name, value] : spec.environment) variables.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const char* const shell = find_shell();
  const char* const words[] = {shell, "-c", spec.command.c_str(), nullptr};
  reset_signals();
  ::execve(shell, const_cast<char* const*>(words), environment.data());
  give_up(report, "run the shell");
}

}  // namespace

Result<pid_t> start_command(const CommandSpec& spec, const io::Cgroup& cgroup) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(io::error_from_errno(errno, "make a pipe"));
  const io::Descriptor reader(ends[0]);
  io::Descriptor writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(io::error_from_errno(errno, "start a process"));
  if (child == 0) become_command(spec, cgroup, writer.get());
  writer.reset();
  StartFailure failure;
  ssize_t count = 0;
  do {
    count = ::read(reader.get(), &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return child;
  ::waitpid(child, nullptr, 0);
  return fail(io::error_from_errno(failure.error_number, failure.doing));
}

}  // namespace berth::node
