// SPDX-License-Identifier: Apache-2.0
#include "io/http/file_pieces.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace berth::io {
namespace {

constexpr std::uint64_t kPieceBytes = 256 * 1024;

Result<std::string> read_piece(const FileRange& range) {
  std::string bytes(range.length, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(range.file->get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(range.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(error_from_errno(errno, "reading a file to send"));
    if (got == 0) return fail(Code::Internal, "a file to send is shorter than promised");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

FilePieces::FilePieces(Offload& disk, std::vector<FileRange> ranges)
    : disk_(disk), ranges_(std::move(ranges)) {
  read_ahead();
}

void FilePieces::read_ahead() {
  ahead_.reset();
  while (current_ < ranges_.size() && ranges_[current_].length == 0) ++current_;
  if (current_ == ranges_.size()) return;
  FileRange& rest = ranges_[current_];
  FileRange piece = rest;
  piece.length = std::min(rest.length, kPieceBytes);
  rest.offset += piece.length;
  rest.length -= piece.length;
  ahead_ = start_blocking<Result<std::string>>(disk_, [piece] { return read_piece(piece); });
}

Awaitable<Result<std::string>> FilePieces::next() {
  std::optional<Result<std::string>> piece = co_await ahead_->wait();
  if (!piece) co_return fail(Code::Unavailable, "the server is shutting down");
  read_ahead();
  co_return std::move(*piece);
}

}  // namespace berth::io
