// SPDX-License-Identifier: Apache-2.0
#include "node/mpi/host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>

#include "io/process/process.h"
#include "node/mpi/relay.h"

namespace berth::node {
namespace {

constexpr std::size_t kMostCallers = 16;  // At once; the others wait in the backlog.
constexpr int kServed = 0;
constexpr int kRefused = 1;

struct Pipe {
  io::Descriptor reader{};
  io::Descriptor writer{};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(io::error_from_errno(errno, "make a pipe"));
  return Pipe{io::Descriptor(ends[0]), io::Descriptor(ends[1])};
}

/// Readable when a child has ended.
Result<io::Descriptor> watch_children() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  io::Descriptor watch(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!watch) return fail(io::error_from_errno(errno, "watch processes"));
  return watch;
}

struct Streams {
  Pipe input{}, output{}, error{};
};

[[noreturn]] void become_remote_command(const std::string& command, const Streams& streams) {
  ::dup2(streams.input.reader.get(), STDIN_FILENO);
  ::dup2(streams.output.writer.get(), STDOUT_FILENO);
  ::dup2(streams.error.writer.get(), STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Status serve(int link) {
  const std::string command = TRY(receive_mpi_command(link));
  Streams streams;
  for (Pipe* pipe : {&streams.input, &streams.output, &streams.error}) *pipe = TRY(make_pipe());
  const io::Descriptor end = TRY(watch_children());
  const pid_t child = ::fork();
  if (child < 0) return fail(io::error_from_errno(errno, "start a process"));
  if (child == 0) become_remote_command(command, streams);
  streams.input.reader.reset();
  streams.output.writer.reset();
  streams.error.writer.reset();
  MpiRelay relay(link);
  relay.receive_to(streams.input.writer.get(), MpiRelay::kInput);
  relay.send_from(streams.output.reader.get(), MpiRelay::kOutput);
  relay.send_from(streams.error.reader.get(), MpiRelay::kError);
  relay.end_with(end.get());
  TRY(relay.run());
  return relay.send_exit(status_of(child));
}

/// In a process of its own, so that one caller who says nothing cannot keep others waiting.
[[noreturn]] void meet_caller(int link, const MpiHostOptions& options) {
  // Not longer than the host: what it leaves, its supervisor ends.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.patience);
  ::alarm(static_cast<unsigned>(std::max<std::int64_t>(seconds.count(), 1)));
  const Status proved = prove_as_host(link, options.secret);
  ::alarm(0);
  if (!proved) {
    std::fprintf(stderr, "berth mpi-host: refused a caller: %s\n", proved.error().message.c_str());
    ::_exit(kRefused);
  }
  const Status served = serve(link);
  // mpirun that is done does not always wait for its daemons: that a caller hangs up is no news.
  if (!served && served.error().code != Code::Unavailable) {
    std::fprintf(stderr, "berth mpi-host: %s\n", served.error().message.c_str());
  }
  ::_exit(kServed);
}

class Callers {
 public:
  explicit Callers(const MpiHostOptions& options) : options_(options) {}

  bool has_room() const { return children_.size() < kMostCallers; }

  void take(int listener) {
    const io::Descriptor link(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!link) return;
    const pid_t child = ::fork();
    if (child == 0) meet_caller(link.get(), options_);
    if (child > 0) children_.push_back(child);
  }

  /// Whether one of them was served.
  bool reap() {
    bool was_served = false;
    std::erase_if(children_, [&](pid_t child) {
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) != child) return false;
      was_served = was_served || (WIFEXITED(status) && WEXITSTATUS(status) == kServed);
      return true;
    });
    return was_served;
  }

 private:
  const MpiHostOptions& options_;
  std::vector<pid_t> children_{};
};

Result<MpiHostOptions> options_from(std::map<std::string, std::string> environment) {
  MpiHostOptions options{.secret = environment[kMpiSecretVariable]};
  const std::vector<MpiPeer> peers = TRY(parse_mpi_hosts(environment[kMpiHostsVariable]));
  const std::string& text = environment[kNodeRankVariable];
  std::size_t rank = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (failed != std::errc() || end != text.data() + text.size() || rank >= peers.size()) {
    return fail(Code::InvalidArgument, fmt::format("{} is no rank", kNodeRankVariable));
  }
  options.place = peers[rank];
  return options;
}

}  // namespace

Status run_mpi_host(const MpiHostOptions& options) {
  const io::Descriptor listener = TRY(listen_at(options.place));
  const io::Descriptor children = TRY(watch_children());
  Callers callers(options);
  while (true) {
    pollfd waiting[] = {{children.get(), POLLIN, 0},
                        {callers.has_room() ? listener.get() : -1, POLLIN, 0}};
    if (::poll(waiting, std::size(waiting), -1) < 0 && errno != EINTR) {
      return fail(io::error_from_errno(errno, "wait for callers"));
    }
    signalfd_siginfo noted;
    while (::read(children.get(), &noted, sizeof noted) > 0) {
    }
    if (callers.reap()) return Done{};
    if ((waiting[1].revents & POLLIN) != 0) callers.take(listener.get());
  }
}

int mpi_host_main() {
  ::signal(SIGPIPE, SIG_IGN);
  const Result<MpiHostOptions> options = options_from(io::current_environment());
  const Status ended = options ? run_mpi_host(*options) : Status(fail(options.error()));
  if (ended) return 0;
  std::fprintf(stderr, "berth mpi-host: %s\n", ended.error().message.c_str());
  return 1;
}

}  // namespace berth::node
