// SPDX-License-Identifier: Apache-2.0
#include "io/http/client_watch.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <utility>

namespace berth::io {

void ClientWatch::start(std::function<void(End)> on_end) {
  state_ = std::make_shared<State>();
  state_->on_end = std::move(on_end);
  asio::co_spawn(client_.stream.executor(), watch(client_, state_), asio::detached);
}

Awaitable<void> ClientWatch::watch(ClientEnd& client, std::shared_ptr<State> state) {
  const RingsAtEnd end(state->ended);
  const std::size_t enough = client.limits.header_bytes;
  while (client.input.data().size() < enough) {
    auto [error, size] = co_await client.stream.read_some(client.input.space(enough));
    client.input.commit(size);
    if (!error) continue;
    // Without a callback nobody asks any more: stop() has ended the reading.
    const bool is_closed = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
    if (state->on_end) state->on_end(is_closed ? End::Closed : End::Broken);
    break;
  }
  state->is_over = true;
  end.ring();
}

Awaitable<void> ClientWatch::stop() {
  const std::shared_ptr<State> state = std::exchange(state_, nullptr);
  if (!state || state->is_over) co_return;
  state->on_end = nullptr;
  client_.stream.cancel();
  co_await state->ended->wait();
}

}  // namespace berth::io
