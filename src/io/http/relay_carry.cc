// SPDX-License-Identifier: Apache-2.0
// What carries bytes for a relay: the coroutine beside the session's, the reads and writes that
// both make, and who is waited for how long.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "io/http/relay_exchange.h"

namespace berth::io {
namespace {

constexpr std::size_t kDiscardBytes = 64u << 20;

}  // namespace

void RelayExchange::start(Carry carry) {
  beside_ = std::make_shared<Wake>();
  asio::co_spawn(client_.stream.executor(), run_beside(*this, carry), asio::detached);
}

Awaitable<void> RelayExchange::run_beside(RelayExchange& self, Carry carry) {
  const RingsAtEnd end(self.beside_);
  co_await (self.*carry)();
  end.ring();
}

/// The rest of a request's body. When the upstream takes no more, the rest is read and thrown away:
/// it may have answered already, and the client may read that only after it has sent everything.
Awaitable<void> RelayExchange::carry_request() {
  bool goes_on = true;
  while (goes_on && !request_.is_done() && !is_stopping_) {
    // Two statements: of `a && co_await b` in a loop g++ 12 makes a frame that it cannot resume.
    if (client_.input.empty()) goes_on = co_await read_request();
    if (goes_on) goes_on = co_await pass_request();
  }
  is_carrying_ = false;
  // Without the whole request there is no answer to wait for.
  if (!request_.is_done() && !has_answered_) connection_->cut();
  arm_upstream();
}

Awaitable<bool> RelayExchange::read_request() {
  reads_client_ = true;
  arm_client();
  const bool has_more = co_await client_.read_some(kBodyBufferBytes);
  reads_client_ = false;
  arm_client();
  if (has_more) co_return true;
  if (is_stopping_) co_return false;
  if (client_.link.has_expired()) {
    owe(408, "RequestTimeout", "the request's body stopped arriving");
  } else if (!is_discarding_) {
    client_.link.cut();
  }
  co_return false;
}

Awaitable<bool> RelayExchange::pass_request() {
  const Passed passed = request_.pass(client_.input.bytes());
  if (request_.is_bad()) {
    owe(400, "BadRequest", "malformed HTTP request: bad chunk");
    if (has_answered_) client_.link.cut();
    co_return false;
  }
  if (is_discarding_) {
    discarded_ += passed.taken;
  } else if (passed.kept > 0) {
    const std::string_view piece(client_.input.data().substr(0, passed.kept));
    if (!co_await write_upstream(piece, {})) is_discarding_ = true;
  }
  client_.input.consume(passed.taken);
  co_return discarded_ <= kDiscardBytes && !client_.link.is_cut();
}

Awaitable<void> RelayExchange::carry_tunnel() {
  for (;;) {
    const std::string_view piece = client_.input.data();
    if (!piece.empty()) {
      if (!co_await write_upstream(piece, {})) break;
      client_.input.consume(piece.size());
    }
    reads_client_ = true;
    arm_client();
    auto [error, size] = co_await client_.stream.read_some(client_.input.space(kBodyBufferBytes));
    client_.input.commit(size);
    reads_client_ = false;
    arm_client();
    if (!error) continue;
    if (error != asio::error::eof) client_.link.cut();
    break;
  }
  client_ended_ = true;
  if (!client_.link.is_cut()) connection_->view().shutdown_send();
  arm_upstream();
}

/// A client that sends no more may still read: it gets what comes without a long pause.
void RelayExchange::watch_client() {
  watch_.start([this](ClientWatch::End end) {
    if (end == ClientWatch::End::Broken) return client_.link.cut();
    client_ended_ = true;
    arm_upstream();
  });
}

Awaitable<boost::system::error_code> RelayExchange::read_upstream() {
  reads_upstream_ = true;
  arm_upstream();
  auto [error, size] =
      co_await connection_->view().read_some(connection_->input().space(kBodyBufferBytes));
  connection_->input().commit(size);
  reads_upstream_ = false;
  arm_upstream();
  co_return error;
}

Awaitable<bool> RelayExchange::write_upstream(std::string_view first, std::string_view second) {
  bool is_written = true;
  while (is_written && (!first.empty() || !second.empty())) {
    writes_upstream_ = true;
    arm_upstream();
    auto [error, size] = co_await connection_->view().write_some(first, second);
    const std::size_t of_first = std::min(size, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(size - of_first);
    is_written = !error;
  }
  writes_upstream_ = false;
  arm_upstream();
  co_return is_written;
}

Awaitable<bool> RelayExchange::write_client(std::string_view first, std::string_view second) {
  bool is_written = true;
  while (is_written && (!first.empty() || !second.empty())) {
    writes_client_ = true;
    arm_client();
    auto [error, size] = co_await client_.stream.write_some(first, second);
    const std::size_t of_first = std::min(size, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(size - of_first);
    is_written = !error;
  }
  writes_client_ = false;
  arm_client();
  if (!is_written) client_.link.cut();
  co_return is_written;
}

/// The client is waited for when it is to send a body, or to take what is there for it. In a tunnel
/// it may be silent, until the other side has ended.
void RelayExchange::arm_client() {
  const bool must_send = reads_client_ && (!is_tunnel_ || upstream_ended_);
  if (writes_client_ || must_send) {
    client_.link.set_deadline(client_.limits.stall_timeout);
  } else {
    client_.link.clear_deadline();
  }
}

void RelayExchange::arm_upstream() {
  if (!connection_) return;
  Duration patience(0);
  if (writes_upstream_) {
    patience = options().stall_timeout;
  } else if (reads_upstream_ && !is_carrying_) {
    const bool has_begun = parser_ && parser_->is_header_done();
    patience = has_begun ? options().silence_timeout : options().head_timeout;
    // Whether a client that sends no more still reads can only be told by writing to it.
    if (has_begun && client_ended_ && patience == Duration(0)) {
      patience = client_.limits.stall_timeout;
    }
  }
  if (patience > Duration(0)) {
    connection_->set_deadline(patience);
  } else {
    connection_->clear_deadline();
  }
}

/// The client's connection was cut: nothing is left to wait for.
void RelayExchange::abort() {
  if (connection_) connection_->cut();
  if (waiter_) waiter_->wake.ring();
}

/// The first reason counts: others follow from it.
void RelayExchange::owe(int status, std::string_view code, std::string_view message) {
  if (!owed_ && !has_answered_ && !client_.link.is_cut())
    owed_ = error_reply(status, code, message);
}

}  // namespace berth::io
