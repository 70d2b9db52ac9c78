// SPDX-License-Identifier: Apache-2.0
#include "node/mpi/relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/files/file.h"

namespace berth::node {
namespace {

constexpr std::size_t kHeader = 5;
constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kMostPending = 256 * 1024;
constexpr std::size_t kLongestCommand = 1024 * 1024;

std::string frame_of(char kind, std::string_view bytes) {
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(bytes.size()));
  std::string frame(kHeader, kind);
  std::memcpy(frame.data() + 1, &length, sizeof length);
  return frame.append(bytes);
}

std::size_t length_of(std::string_view header) {
  std::uint32_t length = 0;
  std::memcpy(&length, header.data() + 1, sizeof length);
  return ntohl(length);
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// Whatever can be written now is taken off the front. False: nobody reads any more.
bool write_some(int fd, std::string& pending) {
  while (!pending.empty()) {
    const ssize_t count = ::write(fd, pending.data(), pending.size());
    if (count < 0) return would_block();
    pending.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }
void make_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK); }

tl::unexpected<Error> gone() { return fail(Code::Unavailable, "the other side has hung up"); }

}  // namespace

MpiRelay::MpiRelay(int link) : link_(link) { make_nonblocking(link_); }

Result<std::optional<int>> MpiRelay::run() {
  for (const Source& source : sources_) make_nonblocking(source.fd);
  for (const Sink& sink : sinks_) make_nonblocking(sink.fd);
  while (true) {
    TRY(step());
    if (status_ && is_drained()) return status_;
    if (has_process_ended_ && to_link_.empty()) return std::optional<int>();
  }
}

bool MpiRelay::is_drained() const {
  return std::ranges::all_of(sinks_, [](const Sink& sink) { return sink.pending.empty(); });
}

/// Waits until anything can go on, and does it.
Status MpiRelay::step() {
  std::vector<pollfd> waiting;
  const bool has_room = to_link_.size() < kMostPending;
  const bool sinks_have_room = std::ranges::all_of(
      sinks_, [](const Sink& sink) { return sink.pending.size() < kMostPending; });
  const int events = (sinks_have_room ? POLLIN : 0) | (to_link_.empty() ? 0 : POLLOUT);
  // After the exit status nothing more is of interest, not even that the other side hangs up.
  if (!status_) waiting.push_back({link_, static_cast<short>(events), 0});
  for (const Source& source : sources_) {
    if (has_room) waiting.push_back({source.fd, POLLIN, 0});
  }
  for (const Sink& sink : sinks_) {
    if (!sink.pending.empty()) waiting.push_back({sink.fd, POLLOUT, 0});
  }
  if (!has_process_ended_) waiting.push_back({process_end_, POLLIN, 0});
  if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) {
    return fail(io::error_from_errno(errno, "wait for a peer"));
  }
  ready_.clear();
  for (const pollfd& each : waiting) {
    if ((each.revents & ~POLLOUT) != 0) ready_.push_back(each.fd);
  }
  // First what the command has said, then that it is over: nothing is lost between the two.
  has_process_ended_ =
      has_process_ended_ || std::ranges::find(ready_, process_end_) != ready_.end();
  read_sources();
  if (std::ranges::find(ready_, link_) != ready_.end()) TRY(read_link());
  write_sinks();
  write_link();
  return Done{};
}

void MpiRelay::read_sources() {
  std::erase_if(sources_, [this](const Source& source) {
    const bool is_ready = std::ranges::find(ready_, source.fd) != ready_.end();
    if (!is_ready && !has_process_ended_) return false;
    char buffer[kPiece];
    while (true) {
      const ssize_t count = ::read(source.fd, buffer, sizeof buffer);
      if (count < 0 && would_block()) return false;
      const std::string_view bytes(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      to_link_ += frame_of(source.kind, bytes);
      if (count <= 0) return true;  // The empty frame says so to the other side.
      // Room for all that a pipe may hold when its command ends; others may write on for ever.
      if (to_link_.size() >= kMostPending * (has_process_ended_ ? 2 : 1)) return false;
    }
  });
}

Status MpiRelay::read_link() {
  char buffer[kPiece];
  const ssize_t count = ::recv(link_, buffer, sizeof buffer, 0);
  if (count < 0 && would_block()) return Done{};
  if (count <= 0) return gone();
  from_link_.append(buffer, static_cast<std::size_t>(count));
  return take_frames();
}

Status MpiRelay::take_frames() {
  while (from_link_.size() >= kHeader) {
    const std::size_t length = length_of(from_link_);
    if (length > kPiece) return fail(Code::InvalidArgument, "the other side talks nonsense");
    if (from_link_.size() < kHeader + length) break;
    TRY(take_frame(from_link_[0], std::string_view(from_link_).substr(kHeader, length)));
    from_link_.erase(0, kHeader + length);
  }
  return Done{};
}

Status MpiRelay::take_frame(char kind, std::string_view bytes) {
  if (kind == kExit && bytes.size() == 1) {
    status_ = static_cast<unsigned char>(bytes[0]);
    return Done{};
  }
  for (Sink& sink : sinks_) {
    if (sink.kind != kind) continue;
    sink.pending += bytes;
    sink.is_ended = sink.is_ended || bytes.empty();
    return Done{};
  }
  return fail(Code::InvalidArgument, "the other side talks nonsense");
}

void MpiRelay::write_sinks() {
  for (Sink& sink : sinks_) {
    if (sink.fd < 0 || !write_some(sink.fd, sink.pending)) sink.pending.clear();
    if (!sink.is_ended || !sink.pending.empty() || sink.kind != kInput) continue;
    // The reader learns of the end by this. Output streams stay open for our own messages.
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup3(null, sink.fd, O_CLOEXEC);
    ::close(null);
    sink.is_ended = false;
  }
}

void MpiRelay::write_link() {
  while (!to_link_.empty()) {
    const ssize_t count = ::send(link_, to_link_.data(), to_link_.size(), MSG_NOSIGNAL);
    if (count < 0 && would_block()) return;
    if (count < 0) return to_link_.clear();  // Reading tells how it ended.
    to_link_.erase(0, static_cast<std::size_t>(count));
  }
}

Status MpiRelay::send_exit(int status) {
  make_blocking(link_);
  TRY(send_mpi_frame(link_, kExit, std::string(1, static_cast<char>(status))));
  // Until the other side has it and hangs up: closing earlier, with something of theirs unread,
  // would throw away what they have not read yet.
  ::shutdown(link_, SHUT_WR);
  char buffer[kPiece];
  while (::recv(link_, buffer, sizeof buffer, 0) > 0) {
  }
  return Done{};
}

Status send_mpi_frame(int link, char kind, std::string_view bytes) {
  return io::write_all(link, frame_of(kind, bytes));
}

Result<std::string> receive_mpi_command(int link) {
  std::string header(kHeader, '\0');
  if (::recv(link, header.data(), header.size(), MSG_WAITALL) != static_cast<ssize_t>(kHeader)) {
    return gone();
  }
  const std::size_t length = length_of(header);
  if (header[0] != MpiRelay::kCommand || length > kLongestCommand) {
    return fail(Code::InvalidArgument, "the other side talks nonsense");
  }
  std::string command(length, '\0');
  if (::recv(link, command.data(), length, MSG_WAITALL) != static_cast<ssize_t>(length)) {
    return gone();
  }
  return command;
}

}  // namespace berth::node
