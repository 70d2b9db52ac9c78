// SPDX-License-Identifier: Apache-2.0
#include "io/http/reply_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/caught.h"
#include "io/http/body_pipe.h"
#include "io/http/client_watch.h"

namespace berth::io {
namespace {

/// A callback of the producer. It may throw, and may let go of what it belongs to.
void tell(const std::function<void()>& callback) {
  if (callback) (void)caught("the producer of a reply's body", callback);
}

/// What goes out next: what is queued, as one chunk, and the last chunk when there will be no more.
std::string take_next(BodyPipe& pipe, bool is_chunked) {
  std::string next;
  pipe.leaving = pipe.queued.size();
  if (!pipe.queued.empty()) {
    if (is_chunked) fmt::format_to(std::back_inserter(next), "{:x}\r\n", pipe.queued.size());
    next += pipe.queued;
    if (is_chunked) next += "\r\n";
    pipe.queued.clear();
  }
  if (pipe.is_ended && is_chunked) next += "0\r\n\r\n";
  return next;
}

}  // namespace

void BodyPipe::set_gone() {
  if (std::exchange(is_gone, true)) return;
  queued.clear();
  wake.ring();
  tell(std::exchange(on_gone, nullptr));
}

void BodyPipe::drain() {
  if (const auto callback = std::exchange(on_draining, nullptr)) return tell(callback);
  if (!is_ended) set_gone();
}

/// Callbacks often hold the writer that holds them: they go with the reader.
void BodyPipe::drop() {
  if (!is_sent) set_gone();
  is_gone = true;
  const auto room = std::exchange(on_room, nullptr);
  const auto gone = std::exchange(on_gone, nullptr);
  const auto draining = std::exchange(on_draining, nullptr);
}

BodyWriter::BodyWriter() : pipe_(std::make_shared<BodyPipe>()) {}

std::shared_ptr<BodyPipe> BodyWriter::body() const {
  return {pipe_.get(), [pipe = pipe_](BodyPipe*) { pipe->drop(); }};
}

BodyWriter::~BodyWriter() {
  pipe_->is_broken = !pipe_->is_ended;
  pipe_->wake.ring();
}

std::size_t BodyWriter::room() const {
  if (pipe_->is_gone || pipe_->is_ended) return 0;
  return kRoom - std::min(kRoom, pipe_->held());
}

std::size_t BodyWriter::write(std::string_view bytes) {
  const std::size_t taken = std::min(room(), bytes.size());
  pipe_->queued.append(bytes.substr(0, taken));
  pipe_->was_full = room() == 0;
  if (taken > 0) pipe_->wake.ring();
  return taken;
}

void BodyWriter::end() {
  pipe_->is_ended = true;
  pipe_->wake.ring();
}

bool BodyWriter::is_gone() const { return pipe_->is_gone; }

void BodyWriter::when_room(std::function<void()> callback) {
  if (!pipe_->is_gone) pipe_->on_room = std::move(callback);
}
void BodyWriter::when_gone(std::function<void()> callback) {
  if (pipe_->is_gone) return tell(callback);
  pipe_->on_gone = std::move(callback);
}
void BodyWriter::when_draining(std::function<void()> callback) {
  if (!pipe_->is_gone) pipe_->on_draining = std::move(callback);
}

Awaitable<bool> send_stream(ClientEnd& client, StreamedReply reply) {
  const std::shared_ptr<BodyPipe> pipe = reply.pipe;
  client.link.when_cut([pipe] { pipe->set_gone(); });
  client.link.when_draining([pipe] { pipe->drain(); });
  ClientWatch watch(client);
  watch.start([pipe](ClientWatch::End) { pipe->set_gone(); });
  if (reply.is_draining) pipe->drain();
  std::string next = std::move(reply.head);
  bool is_whole = false;
  while (!is_whole && !pipe->is_gone) {
    is_whole = pipe->is_ended;
    next += take_next(*pipe, reply.is_chunked);
    if (!co_await client.write_all(next, {})) break;
    next.clear();
    pipe->leaving = 0;
    client.link.clear_deadline();
    if (std::exchange(pipe->was_full, false)) tell(std::function(pipe->on_room));
    if (is_whole || !pipe->queued.empty()) continue;
    if (pipe->is_broken) pipe->set_gone();
    if (!pipe->is_ended && !pipe->is_gone) co_await pipe->wake.wait();
  }
  co_await watch.stop();
  client.link.when_draining(nullptr);
  client.link.when_cut(nullptr);
  if (!is_whole) client.link.cut();
  pipe->is_sent = !client.link.is_cut();
  co_return pipe->is_sent;
}

}  // namespace berth::io
