// SPDX-License-Identifier: Apache-2.0
#include "io/process/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::io {
namespace {

/// What the command prints on one stream, read without ever waiting for it.
struct Stream {
  Descriptor reader{};
  Descriptor writer{};
  std::string text{};
  bool is_open = true;
};

Result<Stream> open_stream() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(error_from_errno(errno, "make a pipe"));
  Stream stream{.reader = Descriptor(ends[0]), .writer = Descriptor(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return stream;
}

void drain(Stream& stream, std::size_t limit) {
  char piece[64 * 1024];
  while (stream.is_open && stream.text.size() <= limit) {
    const ssize_t count = ::read(stream.reader.get(), piece, sizeof piece);
    if (count > 0) {
      stream.text.append(piece, static_cast<std::size_t>(count));
    } else if (count == 0) {
      stream.is_open = false;
    } else if (errno != EINTR) {
      return;
    }
  }
}

/// In memory: what a command is told may be secret.
Result<Descriptor> open_input(const std::string& text) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) return fail(error_from_errno(errno, "make a file in memory"));
  TRY(write_all(file.get(), text));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// One command from its start to its end. Whatever happens, it is not left behind.
class Run {
 public:
  explicit Run(const CommandRequest& request) : request_(request) {}
  ~Run() {
    if (process_.pid > 0) end();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<CommandOutput> finish() {
    TRY(start());
    const TimePoint deadline = clock_.now().mono + request_.time_limit;
    while (true) {
      const bool has_ended = !is_alive(process_);  // Before draining: nothing it wrote is missed.
      drain(out_, request_.output_limit);
      drain(error_, request_.output_limit);
      if (std::max(out_.text.size(), error_.text.size()) > request_.output_limit) {
        return fail(Code::TooLarge, fmt::format("'{}' prints too much", name()));
      }
      if (has_ended) return output();
      const Duration left = deadline - clock_.now().mono;
      if (left <= Duration(0)) {
        return fail(Code::Unavailable, fmt::format("'{}' did not answer within {} ms", name(),
                                                   request_.time_limit.count()));
      }
      wait(left);
    }
  }

 private:
  const std::string& name() const { return request_.command.front(); }

  Status start() {
    if (request_.command.empty()) return fail(Code::InvalidArgument, "no command to run");
    const Descriptor input = TRY(open_input(request_.input));
    out_ = TRY(open_stream());
    error_ = TRY(open_stream());
    process_ = TRY(spawn({.command = request_.command,
                          .environment = request_.environment,
                          .working_directory = "/",
                          .stdin_fd = input.get(),
                          .stdout_fd = out_.writer.get(),
                          .stderr_fd = error_.writer.get(),
                          .new_session = true}));
    handle_ = open_process(process_).value_or(Descriptor());
    out_.writer.reset();
    error_.writer.reset();
    return Done{};
  }

  /// Until something is printed or it ends. Where processes cannot be polled, looks now and then.
  void wait(Duration at_most) const {
    constexpr Duration kLook(20);
    pollfd awaited[] = {{out_.is_open ? out_.reader.get() : -1, POLLIN, 0},
                        {error_.is_open ? error_.reader.get() : -1, POLLIN, 0},
                        {handle_.get(), POLLIN, 0}};
    const Duration time = handle_ ? at_most : std::min(at_most, kLook);
    ::poll(awaited, std::size(awaited), static_cast<int>(time.count()));
  }

  /// The group as well: a wrapper script's child would go on.
  int end() {
    ::kill(-process_.pid, SIGKILL);
    int status = 0;
    while (::waitpid(process_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = {};
    return status;
  }

  CommandOutput output() {
    const int status = end();
    return {.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
            .out = std::move(out_.text),
            .error = std::move(error_.text)};
  }

  const CommandRequest& request_;
  SystemClock clock_{};
  ProcessIdentity process_{};
  Descriptor handle_{};
  Stream out_{};
  Stream error_{};
};

}  // namespace

Result<CommandOutput> run_command(const CommandRequest& request) { return Run(request).finish(); }

}  // namespace berth::io
