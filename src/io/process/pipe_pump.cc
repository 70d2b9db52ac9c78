// SPDX-License-Identifier: Apache-2.0
#include "io/process/pipe_pump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace berth::io {
namespace {

constexpr std::size_t kPiece = 1 << 20;
constexpr std::size_t kCopied = 64 * 1024;
constexpr int kLargePipe = 512 * 1024;
/// Whoever writes line by line is not followed line by line: that would cost more than the lines.
constexpr std::size_t kFewBytes = 16 * 1024;
constexpr auto kNap = std::chrono::milliseconds(1);
constexpr int kTryAgainMilliseconds = 100;

std::uint64_t bytes_in(int pipe) {
  int count = 0;
  return ::ioctl(pipe, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

/// One pipe and its file.
class Line {
 public:
  Line(Pipe pipe, Descriptor file, off_t offset)
      : pipe_(std::move(pipe)), file_(std::move(file)), offset_(offset) {}

  int reader() const { return pipe_.reader.get(); }
  std::uint64_t waiting() const { return pending_.size() + bytes_in(reader()); }
  const std::optional<PipePump::Trouble>& trouble() const { return trouble_; }

  /// Moves up to `most` bytes in one go: how many; 0 when there is nothing, or no room.
  std::size_t move(std::size_t most) {
    const ssize_t moved = copies_ ? copy(most) : splice(most);
    if (moved > 0) trouble_.reset();
    if (moved < 0 && errno != EAGAIN && errno != EINTR && !trouble_) {
      trouble_ = {errno, SystemClock().now().mono};
    }
    if (moved >= kCapacity && !std::exchange(is_large_, true)) {
      (void)::fcntl(reader(), F_SETPIPE_SZ, kLargePipe);  // Where it may not, it stays as it is.
    }
    return static_cast<std::size_t>(std::max<ssize_t>(moved, 0));
  }

 private:
  static constexpr ssize_t kCapacity = 60 * 1024;  ///< Nearly all that a new pipe holds.

  ssize_t splice(std::size_t most) {
    const ssize_t moved =
        ::splice(reader(), nullptr, file_.get(), &offset_, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved >= 0 || errno != EINVAL) return moved;
    copies_ = true;  // A file system that cannot do it.
    return copy(most);
  }

  ssize_t copy(std::size_t most) {
    if (pending_.empty()) {
      pending_.resize(std::min(most, kCopied));
      const ssize_t count = ::read(reader(), pending_.data(), pending_.size());
      pending_.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count <= 0) return count;
    }
    const ssize_t written = ::pwrite(file_.get(), pending_.data(), pending_.size(), offset_);
    if (written <= 0) return written;
    offset_ += written;
    pending_.erase(0, static_cast<std::size_t>(written));
    return written;
  }

  Pipe pipe_;
  Descriptor file_;
  off_t offset_;  ///< Where the next byte goes. Nobody else writes the file.
  bool copies_ = false;
  bool is_large_ = false;
  std::string pending_{};  ///< Read from the pipe and not yet in the file.
  std::optional<PipePump::Trouble> trouble_{};
};

}  // namespace

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(error_from_errno(errno, "make a pipe"));
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    return fail(error_from_errno(errno, "make a pipe"));
  }
  return pipe;
}

struct PipePump::Shared {
  std::function<void()> on_trouble{};
  Descriptor watch{::epoll_create1(EPOLL_CLOEXEC)};
  Descriptor wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex{};
  std::list<Line> lines{};  ///< Under the mutex, as all below.
  bool is_ending = false;
  std::atomic<int> error_number{0};  ///< 0: no trouble.
  std::atomic<TimePoint::rep> since{0};
  std::thread thread{};

  bool is_any_stuck() const {
    return std::ranges::any_of(lines, [](const Line& line) { return line.trouble().has_value(); });
  }

  /// One that is stuck is not watched: it would be readable all the time.
  void watch_line(const Line& line, int operation, unsigned events) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = line.reader();
    ::epoll_ctl(watch.get(), operation, line.reader(), &event);
  }

  std::size_t move(Line& line, std::size_t most) {
    const bool was_stuck = line.trouble().has_value();
    const std::size_t moved = line.move(most);
    const bool is_stuck = line.trouble().has_value();
    if (was_stuck == is_stuck) return moved;
    watch_line(line, EPOLL_CTL_MOD, is_stuck ? 0u : unsigned{EPOLLIN});
    note_trouble();
    if (is_stuck) on_trouble();
    return moved;
  }

  /// The longest there is, for the owner, who must not wait for the mutex: whoever has it may be
  /// writing to a disk that hangs.
  void note_trouble() {
    std::optional<Trouble> longest;
    for (const Line& line : lines) {
      const bool is_longer = line.trouble() && (!longest || line.trouble()->since < longest->since);
      if (is_longer) longest = line.trouble();
    }
    since.store(longest ? longest->since.time_since_epoch().count() : 0);
    error_number.store(longest ? longest->error_number : 0);
  }

  /// Whether it was so little that it is worth waiting for more.
  bool serve(const epoll_event* events, int count) {
    std::size_t moved = 0;
    for (Line& line : lines) {
      const bool is_ready = std::any_of(events, events + count, [&](const epoll_event& event) {
        return event.data.fd == line.reader();
      });
      if (is_ready || line.trouble()) moved += move(line, kPiece);
    }
    return moved > 0 && moved < kFewBytes;
  }

  Status start() {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = -1;
    ::epoll_ctl(watch.get(), EPOLL_CTL_ADD, wake.get(), &event);
    try {
      thread = std::thread([this] { run(); });
    } catch (const std::system_error& why) {
      return fail(Code::Unavailable, fmt::format("cannot start a thread: {}", why.what()));
    }
    return Done{};
  }

  void run() {
    int timeout = -1;
    while (true) {
      epoll_event events[16];
      const int count = ::epoll_wait(watch.get(), events, std::size(events), timeout);
      bool may_nap = false;
      {
        const std::lock_guard lock(mutex);
        if (is_ending) return;
        may_nap = serve(events, std::max(count, 0));
        timeout = is_any_stuck() ? kTryAgainMilliseconds : -1;
      }
      if (may_nap) std::this_thread::sleep_for(kNap);
    }
  }
};

PipePump::PipePump(std::function<void()> on_trouble) : shared_(std::make_unique<Shared>()) {
  shared_->on_trouble = std::move(on_trouble);
}

PipePump::~PipePump() {
  if (!shared_->thread.joinable()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_ending = true;
  }
  const std::uint64_t one = 1;
  (void)::write(shared_->wake.get(), &one, sizeof one);
  shared_->thread.join();
}

Status PipePump::add(Pipe pipe, Descriptor file) {
  if (!shared_->watch || !shared_->wake) return fail(error_from_errno(errno, "watch a pipe"));
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return fail(error_from_errno(errno, "read a file's size"));
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->thread.joinable()) TRY(shared_->start());
  shared_->lines.emplace_back(std::move(pipe), std::move(file), found.st_size);
  shared_->watch_line(shared_->lines.back(), EPOLL_CTL_ADD, EPOLLIN);
  return Done{};
}

std::optional<PipePump::Trouble> PipePump::trouble() const {
  const int error_number = shared_->error_number.load();
  if (error_number == 0) return std::nullopt;
  return Trouble{error_number, TimePoint(TimePoint::duration(shared_->since.load()))};
}

std::uint64_t PipePump::drain() {
  const std::lock_guard lock(shared_->mutex);
  std::uint64_t left = 0;
  for (Line& line : shared_->lines) {
    std::uint64_t waiting = line.waiting();
    while (waiting > 0) {
      const std::size_t moved = shared_->move(line, std::min<std::uint64_t>(waiting, kPiece));
      if (moved == 0) break;
      waiting -= std::min<std::uint64_t>(waiting, moved);
    }
    left += waiting;
  }
  return left;
}

void PipePump::clear() {
  const std::lock_guard lock(shared_->mutex);
  for (const Line& line : shared_->lines) shared_->watch_line(line, EPOLL_CTL_DEL, 0);
  shared_->lines.clear();
  shared_->note_trouble();
}

}  // namespace berth::io
