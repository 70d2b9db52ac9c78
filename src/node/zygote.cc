// SPDX-License-Identifier: Apache-2.0
#include "node/zygote.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>

#include "node/shim.h"

namespace berth::node {
namespace {

constexpr int kSocket = 3;

/// What the zygote answers. The identity is taken by it, since the child is its own.
struct Answer {
  int error_number = 0;
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
};

ssize_t receive(int socket, void* buffer, std::size_t size) {
  ssize_t count = 0;
  do {
    count = ::recv(socket, buffer, size, 0);
  } while (count < 0 && errno == EINTR);
  return count;
}

/// Leaves the three standard streams, on /dev/null, and the socket as descriptor 3.
void drop_descriptors(int socket) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  if (socket != kSocket) ::dup2(socket, kSocket);
  ::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  if (::syscall(SYS_close_range, static_cast<unsigned>(kSocket + 1), ~0u, 0) == 0) return;
  for (int fd = kSocket + 1; fd < 1024; ++fd) ::close(fd);
}

/// SIGTERM is blocked so that a stop cannot hit a shim before it listens.
void set_signals() {
  ::signal(SIGCHLD, SIG_IGN);  // Shims leave no zombies.
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGQUIT}) ::signal(signal, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

Answer fork_shim(const std::string& attempt_directory) {
  const pid_t child = ::fork();
  if (child < 0) return {.error_number = errno};
  if (child == 0) {
    ::close(kSocket);
    run_shim(attempt_directory);
  }
  // One that is over already has left no trace but its exit.json.
  const Result<io::ProcessIdentity> shim = io::identify(child);
  return {.pid = child, .start_ticks = shim ? shim->start_ticks : 0};
}

[[noreturn]] void run_zygote(int socket) {
  drop_descriptors(socket);
  set_signals();
  ::prctl(PR_SET_NAME, "berth-zygote");
  char directory[PATH_MAX];
  while (true) {
    const ssize_t count = receive(kSocket, directory, sizeof directory);
    if (count <= 0) ::_exit(0);
    const Answer answer = fork_shim(std::string(directory, static_cast<std::size_t>(count)));
    ::send(kSocket, &answer, sizeof answer, MSG_NOSIGNAL);
  }
}

}  // namespace

Result<Zygote> Zygote::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(io::error_from_errno(errno, "make a socket pair"));
  }
  Zygote zygote;
  zygote.socket_ = io::Descriptor(ends[0]);
  const io::Descriptor other(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(io::error_from_errno(errno, "fork"));
  if (child == 0) run_zygote(other.get());
  return zygote;
}

Result<io::ProcessIdentity> Zygote::launch(const std::string& attempt_directory) {
  const auto gone = [] { return fail(Code::Unavailable, "the process that starts jobs is gone"); };
  if (::send(socket_.get(), attempt_directory.data(), attempt_directory.size(), MSG_NOSIGNAL) < 0) {
    return gone();
  }
  Answer answer;
  if (receive(socket_.get(), &answer, sizeof answer) != sizeof answer) return gone();
  if (answer.error_number != 0) {
    return fail(io::error_from_errno(answer.error_number, "start a process"));
  }
  return io::ProcessIdentity{answer.pid, answer.start_ticks};
}

}  // namespace berth::node
