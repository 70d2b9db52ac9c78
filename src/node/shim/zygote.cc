// SPDX-License-Identifier: Apache-2.0
#include "node/shim/zygote.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/log.h"

namespace berth::node {
namespace {

constexpr int kSocket = 3;
constexpr std::size_t kMostIdle = 64;
constexpr Duration kLeaving = std::chrono::seconds(2);

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

/// Sends the answer, and with it the agent's end of the shim's socket.
void send_answer(const Answer& answer, int descriptor) {
  iovec bytes{const_cast<Answer*>(&answer), sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ::sendmsg(kSocket, &message, MSG_NOSIGNAL);
}

/// No descriptor when the zygote is gone or could not make one.
io::Descriptor receive_answer(int socket, Answer& answer) {
  iovec bytes{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof answer) answer.error_number = EPIPE;
  const cmsghdr* const header = count == sizeof answer ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return io::Descriptor(descriptor);
}

void fork_and_answer(const ShimSettings& settings) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return send_answer({.error_number = errno}, -1);
  }
  const io::Descriptor ours(ends[0]);
  const io::Descriptor shims(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(kSocket);
    ::close(ours.get());
    run_shim(shims.get(), settings);
  }
  if (child < 0) return send_answer({.error_number = errno}, -1);
  const Result<io::ProcessIdentity> shim = io::identify(child);
  send_answer({.pid = child, .start_ticks = shim ? shim->start_ticks : 0}, ours.get());
}

[[noreturn]] void run_zygote(int socket, const ShimSettings& settings) {
  drop_descriptors(socket);
  set_signals();
  ::prctl(PR_SET_NAME, "berth-zygote");
  char byte = 0;
  while (receive(kSocket, &byte, 1) > 0) fork_and_answer(settings);
  ::_exit(0);
}

}  // namespace

Result<Zygote> Zygote::start(const ShimSettings& settings) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(io::error_from_errno(errno, "make a socket pair"));
  }
  Zygote zygote;
  zygote.socket_ = io::Descriptor(ends[0]);
  const io::Descriptor other(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(io::error_from_errno(errno, "fork"));
  if (child == 0) run_zygote(other.get(), settings);
  return zygote;
}

Result<Supervisor> Zygote::fork_shim() const {
  const char request = 'f';
  Answer answer;
  io::Descriptor socket;
  if (::send(socket_.get(), &request, 1, MSG_NOSIGNAL) == 1) {
    socket = receive_answer(socket_.get(), answer);
  } else {
    answer.error_number = EPIPE;
  }
  if (answer.error_number == EPIPE) {
    return fail(Code::Unavailable, "the process that starts jobs is gone");
  }
  if (!socket) return fail(io::error_from_errno(answer.error_number, "start a process"));
  return Supervisor({answer.pid, answer.start_ticks}, std::move(socket));
}

Result<Supervisor> Zygote::launch(const Handover& attempt) {
  const std::string message = encode(attempt);
  if (message.size() > kLongestHandover) {
    return fail(Code::TooLarge, "its secrets are too large to be handed over");
  }
  while (!idle_.empty()) {
    Supervisor next = std::move(idle_.back());
    idle_.pop_back();
    if (next.hand(message)) return next;  // Else somebody has killed it.
  }
  Supervisor made = TRY(fork_shim());
  // One that is killed before it gets this is noticed like one that is killed later.
  (void)made.hand(message);
  return made;
}

void Zygote::keep(Supervisor supervisor) {
  // The signal may reach it only now, and must not hit the next attempt.
  if (supervisor.was_stopped_) return;
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(supervisor));
}

void Zygote::dismiss_idle() {
  std::vector<io::ProcessIdentity> leaving;
  for (const Supervisor& supervisor : idle_) leaving.push_back(supervisor.process());
  idle_.clear();
  for (const io::ProcessIdentity& shim : leaving) (void)io::wait_for_end(shim, kLeaving);
}

bool Supervisor::hand(std::string_view message) const {
  const ssize_t sent = ::send(fd(), message.data(), message.size(), MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(message.size());
}

bool Supervisor::is_idle_again() {
  char byte = 0;
  return receive(fd(), &byte, 1) == 1;
}

void Supervisor::stop() {
  was_stopped_ = true;
  const Status sent = io::send_signal(process_, SIGTERM);
  if (!sent) log::warning("{}", sent.error().message);
}

}  // namespace berth::node
