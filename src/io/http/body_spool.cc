// SPDX-License-Identifier: Apache-2.0
#include "io/http/body_spool.h"

#include "base/digest.h"

namespace berth::io {

/// Touched by the offload while a piece is pending, by the session otherwise.
struct BodySpool::Work {
  Work(std::string into, bool with_md5) : directory(std::move(into)) {
    if (with_md5) md5.emplace(Digest::Algorithm::Md5);
  }

  std::string directory;
  SpooledBody body{};
  bool is_open = false;
  Digest sha256{Digest::Algorithm::Sha256};
  std::optional<Digest> md5{};

  Status write(std::string_view piece, bool is_last) {
    if (!is_open) {
      body.file = TRY(TemporaryFile::make(directory));
      is_open = true;
    }
    TRY(body.file.write(piece));
    body.size += piece.size();
    sha256.update(piece);
    if (md5) md5->update(piece);
    if (!is_last) return Done{};
    body.sha256 = sha256.finish();
    if (md5) body.md5 = md5->finish();
    return body.file.sync();
  }
};

BodySpool::BodySpool(Offload& disk, const std::string& directory, bool with_md5)
    : disk_(disk), work_(std::make_shared<Work>(directory, with_md5)) {}

void BodySpool::start(std::string piece, bool is_last) {
  pending_ = start_blocking<Status>(disk_, [work = work_, piece = std::move(piece), is_last] {
    return work->write(piece, is_last);
  });
}

Awaitable<Status> BodySpool::settle() {
  if (!pending_) co_return Done{};
  std::optional<Status> written = co_await pending_->wait();
  pending_.reset();
  if (!written) co_return fail(Code::Unavailable, "the server is shutting down");
  co_return std::move(*written);
}

Awaitable<Status> BodySpool::write(std::string piece) {
  Status before = co_await settle();
  if (before) start(std::move(piece), false);
  co_return before;
}

Awaitable<Result<SpooledBody>> BodySpool::finish(std::string piece) {
  Status status = co_await settle();
  if (status) {
    start(std::move(piece), true);
    status = co_await settle();
  }
  if (!status) co_return fail(std::move(status).error());
  co_return std::move(work_->body);
}

}  // namespace berth::io
