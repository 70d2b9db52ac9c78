// SPDX-License-Identifier: Apache-2.0
#include "io/http/relay_exchange.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

namespace berth::io {
namespace {

constexpr int kMostInterim = 32;

BodyFraming framing_of(RequestParser& parser) {
  if (parser.is_done()) return BodyFraming::none();
  if (parser.chunked()) return BodyFraming::of_chunks(true);
  return BodyFraming::of_length(parser.content_length().value_or(0));
}

RequestMark mark_of(RequestParser& parser) {
  RequestMark mark{.is_http11 = parser.is_http11(), .may_upgrade = parser.is_done()};
  mark.body.is_chunked = parser.chunked();
  if (const auto length = parser.content_length()) mark.body.length = *length;
  return mark;
}

/// RFC 9110, 9.2.2.
bool may_be_repeated(std::string_view method) {
  for (const std::string_view each : {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"}) {
    if (method == each) return true;
  }
  return false;
}

std::string_view text_of(std::span<const char> bytes, std::size_t count) {
  return {bytes.data(), count};
}

}  // namespace

RelayExchange::RelayExchange(ClientEnd& client, Asked asked, const RelayPlan& plan)
    : client_(client),
      asked_(asked),
      plan_(plan),
      pool_(plan.to->state()),
      request_mark_(mark_of(asked.parser)),
      request_(framing_of(asked.parser)),
      watch_(client),
      answers_head_(asked.parser.head().method == "HEAD") {
  request_text_ = relayed_request(asked.parser.head(), request_mark_, plan);
}

Awaitable<RelayExchange::Outcome> RelayExchange::run() {
  client_.link.clear_deadline();
  client_.link.when_cut([this] { abort(); });
  Step step = pass_first() ? Step::Retry : Step::Failed;
  for (int attempt = 0; step == Step::Retry; ++attempt) {
    const bool is_connected = co_await connect(attempt > 0);
    step = Step::Failed;
    if (is_connected) step = co_await ask();
  }
  // Whatever became of it, it was this request's: the next one begins behind it.
  client_.input.consume(std::exchange(first_, {}).taken);
  bool is_whole = false;
  if (step == Step::GotHead) is_whole = co_await answer();
  co_await settle();
  client_.link.when_cut(nullptr);
  client_.link.when_draining(nullptr);
  if (!is_whole && !owed_) client_.link.cut();
  const bool is_gone = client_.link.is_cut();
  Outcome outcome{.is_read = request_.is_done()};
  if (!is_gone) outcome.instead = std::move(owed_);
  outcome.goes_on = is_whole && !is_gone && asked_.keep_alive && outcome.is_read;
  co_return outcome;
}

/// False: the client is owed an answer that says so, or is gone.
Awaitable<bool> RelayExchange::connect(bool is_retry) {
  connection_.reset();
  if (pool_.is_closed()) {
    owe(502, "BadGateway", "the service is gone");
    co_return false;
  }
  // An old connection has just failed: what else waits is of its age.
  if (!is_retry || pool_.is_parked()) connection_ = pool_.take_idle();
  if (connection_) co_return true;
  if (pool_.is_parked()) co_return co_await take_parked();
  connection_ = pool_.make();
  const error_code error = co_await pool_.connect(*connection_);
  if (client_.link.is_cut()) co_return false;
  if (error) {
    const bool is_late = connection_->has_expired();
    connection_.reset();
    owe(502, "BadGateway",
        fmt::format("the service cannot be reached: {}", is_late ? "timed out" : error.message()));
    co_return false;
  }
  co_return true;
}

Awaitable<bool> RelayExchange::take_parked() {
  waiter_ = std::make_shared<Upstream::State::Waiter>();
  pool_.await_parked(waiter_);
  const Loop::TimerId timer =
      pool_.loop.after(options().connect_timeout, [weak = std::weak_ptr(waiter_)] {
        if (const auto waiter = weak.lock()) waiter->wake.ring();
      });
  co_await waiter_->wake.wait();
  pool_.loop.cancel(timer);
  connection_ = std::move(waiter_->got);
  waiter_.reset();
  if (connection_) co_return true;
  owe(502, "BadGateway", "the service cannot be reached: no connection of its node is free");
  co_return false;
}

/// What has arrived of the body with the head. False: it is broken, and the upstream need not know.
bool RelayExchange::pass_first() {
  if (!request_.is_done()) first_ = request_.pass(client_.input.bytes());
  if (request_.is_bad()) owe(400, "BadRequest", "malformed HTTP request: bad chunk");
  return !request_.is_bad();
}

/// Sends the head with what is there of the body, then waits for the answer's head.
Awaitable<RelayExchange::Step> RelayExchange::ask() {
  const std::string_view piece = text_of(client_.input.bytes(), first_.kept);
  const bool is_sent = co_await write_upstream(request_text_, piece);
  client_.input.consume(std::exchange(first_, {}).taken);
  if (!request_.is_done() && !client_.link.is_cut()) {
    is_discarding_ = !is_sent;
    is_carrying_ = true;
    start(&RelayExchange::carry_request);
  }
  // It may have answered and closed before it had read everything: so read in any case.
  Step step = co_await read_head();
  for (int count = 0;
       step == Step::GotHead && parser_->status() / 100 == 1 && parser_->status() != 101; ++count) {
    if (count == kMostInterim) {
      owe(502, "BadGateway", "the service answers without end");
      co_return Step::Failed;
    }
    if (!co_await pass_interim()) co_return Step::Failed;
    step = co_await read_head();
  }
  co_return step;
}

Awaitable<RelayExchange::Step> RelayExchange::read_head() {
  InputBuffer& input = connection_->input();
  parser_.emplace(std::min<std::uint32_t>(options().head_bytes, kBodyBufferBytes), answers_head_);
  for (;;) {
    if (!input.empty()) input.consume(parser_->feed(input.data()));
    if (parser_->is_bad()) {
      owe(502, "BadGateway", "the service's answer is not HTTP, or its head is too large");
      co_return Step::Failed;
    }
    if (parser_->is_header_done()) break;
    const error_code error = co_await read_upstream();
    if (error) co_return head_failed(error);
  }
  const bool is_wanted =
      parser_->status() != 101 || asks_for_upgrade(asked_.parser.head(), request_mark_);
  if (is_wanted) co_return Step::GotHead;
  owe(502, "BadGateway", "the service changes to a protocol that nobody has asked for");
  co_return Step::Failed;
}

RelayExchange::Step RelayExchange::head_failed(error_code error) {
  if (client_.link.is_cut() || owed_) return Step::Failed;
  if (connection_->has_expired()) {
    owe(504, "GatewayTimeout", "the service did not answer in time");
    return Step::Failed;
  }
  const bool is_untouched = !parser_->got_some() && connection_->input().empty();
  if (connection_->was_used() && is_untouched && !was_continued_ &&
      may_be_repeated(asked_.parser.head().method) && asked_.parser.is_done()) {
    return Step::Retry;
  }
  owe(502, "BadGateway", fmt::format("the service ended without an answer: {}", error.message()));
  return Step::Failed;
}

/// A 100, 102 or 103. What comes after it is the answer.
Awaitable<bool> RelayExchange::pass_interim() {
  if (parser_->status() == 100) was_continued_ = true;
  if (!request_mark_.is_http11) co_return true;
  co_return co_await write_client(relayed_answer(*parser_, {}, plan_.answer), {});
}

AnswerMark RelayExchange::mark_answer() {
  AnswerMark mark{.is_upgrade = parser_->status() == 101};
  const auto length = parser_->content_length();
  // A client that still waits to be told to go on may never send the body, and need not say so.
  const bool may_keep_body = is_carrying_ && asked_.parser.wants_continue() && !was_continued_;
  if (asked_.is_draining || may_keep_body) asked_.keep_alive = false;
  if (parser_->is_done()) {
    // Of what the body would be, if there were one; of a 1xx or 204 there is none.
    const bool tells_length = answers_head_ || parser_->status() == 304 || (length && *length == 0);
    if (length && tells_length && parser_->status() != 204) mark.body.length = *length;
    if (answers_head_ && parser_->chunked()) mark.body.is_chunked = request_mark_.is_http11;
  } else if (parser_->chunked()) {
    mark.body.is_chunked = request_mark_.is_http11;
    answer_ = BodyFraming::of_chunks(request_mark_.is_http11);
  } else if (length) {
    mark.body.length = *length;
    answer_ = BodyFraming::of_length(*length);
  } else {
    answer_ = BodyFraming::until_close();
    wraps_answer_ = mark.body.is_chunked = request_mark_.is_http11;
  }
  mark.keep_alive = asked_.keep_alive;
  return mark;
}

/// True: the client has the whole answer.
Awaitable<bool> RelayExchange::answer() {
  has_answered_ = true;
  const AnswerMark mark = mark_answer();
  std::string head = relayed_answer(*parser_, mark, plan_.answer);
  if (!mark.is_upgrade) co_return co_await carry_answer(std::move(head));
  asked_.keep_alive = false;
  if (!co_await write_client(head, {})) co_return false;
  co_return co_await tunnel();
}

/// `before` is what goes out ahead of the next piece: the head, then, of an answer that is wrapped
/// in chunks, the end of one chunk and the size of the next.
Awaitable<bool> RelayExchange::carry_answer(std::string before) {
  InputBuffer& input = connection_->input();
  for (;;) {
    Passed passed{};
    if (!answer_.is_done() && !input.empty()) passed = answer_.pass(input.bytes());
    if (answer_.is_bad()) {
      client_.link.cut();
      co_return false;
    }
    if (wraps_answer_ && passed.kept > 0) {
      fmt::format_to(std::back_inserter(before), "{:x}\r\n", passed.kept);
    }
    if (!co_await write_client(before, text_of(input.bytes(), passed.kept))) co_return false;
    before = wraps_answer_ && passed.kept > 0 ? "\r\n" : "";
    input.consume(passed.taken);
    if (answer_.is_done()) co_return true;
    if (!is_carrying_ && !watch_.has_begun()) watch_client();
    const error_code error = co_await read_upstream();
    if (error) co_return co_await end_answer(before, error);
  }
}

/// The upstream sends no more: for some answers that is how they end.
Awaitable<bool> RelayExchange::end_answer(std::string& before, error_code error) {
  if (!answer_.ends_with_connection() || error != asio::error::eof) {
    client_.link.cut();
    co_return false;
  }
  if (!wraps_answer_) co_return true;
  co_return co_await write_client(before, "0\r\n\r\n");
}

/// Until both sides have ended, or one breaks.
Awaitable<bool> RelayExchange::tunnel() {
  is_tunnel_ = true;
  // Nobody but the two ends knows where a message ends: a draining server can only cut.
  client_.link.when_draining([this] { client_.link.cut(); });
  if (asked_.is_draining) client_.link.cut();
  if (client_.link.is_cut()) co_return false;
  start(&RelayExchange::carry_tunnel);
  InputBuffer& input = connection_->input();
  for (;;) {
    if (!input.empty()) {
      if (!co_await write_client(input.data(), {})) co_return false;
      input.consume(input.data().size());
    }
    const error_code error = co_await read_upstream();
    if (!error) continue;
    if (error != asio::error::eof) client_.link.cut();
    break;
  }
  upstream_ended_ = true;
  client_.stream.shutdown_send();
  arm_client();
  co_return true;
}

/// Ends what runs beside, and parts from the upstream.
Awaitable<void> RelayExchange::settle() {
  co_await watch_.stop();
  const bool was_carrying = is_carrying_;
  if (was_carrying) {
    // The answer is complete: whatever is left of the request, nobody waits for it.
    is_discarding_ = true;
    connection_->cut();
    // Without an answer it is the session's to say so, and at once. Nor is a rest waited for after
    // which nothing else can come.
    is_stopping_ = !has_answered_ || !asked_.keep_alive;
    if (is_stopping_) client_.stream.cancel();
  }
  if (is_tunnel_ && !upstream_ended_) client_.link.cut();
  if (beside_) co_await beside_->wait();
  if (!connection_ || was_carrying || is_tunnel_ || is_discarding_) co_return;
  const bool is_whole = parser_ && parser_->is_header_done() && answer_.is_done();
  if (is_whole && has_answered_ && parser_->keep_alive() && connection_->input().empty()) {
    pool_.give_back(std::move(connection_));
  }
}

}  // namespace berth::io
