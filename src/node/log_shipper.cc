// SPDX-License-Identifier: Apache-2.0
#include "node/log_shipper.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace berth::node {
namespace {

constexpr std::uint64_t kChunkBytes = 256 * 1024;
constexpr std::uint64_t kMostUnstored = 1024 * 1024;
constexpr std::size_t kMostQueued = 4 * 1024 * 1024;  // Of all attempts together.
constexpr Duration kShortestPause(5);
constexpr Duration kLongestPause(40);

}  // namespace

LogShipper::LogShipper(io::Loop& loop, Outbox& outbox, wire::node::AttemptRef attempt,
                       std::string path)
    : loop_(loop),
      outbox_(outbox),
      attempt_(std::move(attempt)),
      path_(std::move(path)),
      pause_(kShortestPause) {}

LogShipper::~LogShipper() {
  if (timer_) loop_.cancel(*timer_);
}

void LogShipper::begin_at_start() {
  stored_ = 0;
  pump();
}

void LogShipper::connected() {
  stored_.reset();
  unanswered_ = 1;
  outbox_.send(wire::node::LogChunk{.attempt = attempt_});
}

void LogShipper::disconnected() {
  stored_.reset();
  unanswered_ = 0;
}

void LogShipper::stored(std::uint64_t size) {
  stored_ = size;
  if (unanswered_ > 0) --unanswered_;
  // Every chunk is answered. When all are and some of what was sent is missing, it was not taken (a
  // full disk): send it again.
  if (unanswered_ == 0 || sent_ < size) sent_ = size;
  pump();
}

void LogShipper::finish(std::function<void()> done) {
  done_ = std::move(done);
  pump();
}

void LogShipper::give_up() {
  done_ = nullptr;
  has_given_up_ = true;
}

std::uint64_t LogShipper::size() const {
  if (!file_) file_ = io::Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat found {};
  if (!file_ || ::fstat(file_.get(), &found) != 0) return 0;
  return static_cast<std::uint64_t>(found.st_size);
}

void LogShipper::pump() {
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  if (!stored_ || !outbox_.is_open() || has_given_up_) return;
  const std::uint64_t file_size = size();
  const std::uint64_t before = sent_;
  while (send_next(file_size)) {
  }
  if (done_ && *stored_ >= file_size) {
    const auto done = std::exchange(done_, nullptr);
    done();
    return;
  }
  pause_ = sent_ > before ? kShortestPause : std::min(pause_ * 2, kLongestPause);
  pump_after(pause_);
}

bool LogShipper::send_next(std::uint64_t size) {
  const bool may_send = sent_ < size && sent_ - std::min(sent_, *stored_) < kMostUnstored &&
                        outbox_.queued_bytes() < kMostQueued;
  if (!may_send) return false;
  wire::node::LogChunk chunk{.attempt = attempt_, .offset = sent_};
  chunk.bytes.resize(std::min(kChunkBytes, size - sent_));
  const ssize_t count =
      ::pread(file_.get(), chunk.bytes.data(), chunk.bytes.size(), static_cast<off_t>(sent_));
  if (count <= 0) return false;
  chunk.bytes.resize(static_cast<std::size_t>(count));
  sent_ += chunk.bytes.size();
  ++unanswered_;
  outbox_.send(chunk);
  return true;
}

void LogShipper::pump_after(Duration pause) {
  timer_ = loop_.after(pause, [this] {
    timer_.reset();
    pump();
  });
}

}  // namespace berth::node
