// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/caught.h"
#include "base/log.h"
#include "io/delivery.h"
#include "io/http/body_pipe.h"
#include "io/http/body_spool.h"
#include "io/http/client_end.h"
#include "io/http/file_pieces.h"
#include "io/http/http_upgrade.h"
#include "io/http/relay_exchange.h"
#include "io/http/reply_stream.h"
#include "io/message/request_parser.h"
#include "io/peer.h"

namespace berth::io {
namespace {

constexpr std::size_t kHeadBufferBytes = 8 * 1024;
constexpr std::size_t kSpoolPieceBytes = 256 * 1024;
/// Bodies up to this size are sent in one buffer with the head: one TLS record, one segment.
constexpr std::size_t kMergedBodyBytes = 16 * 1024;
constexpr auto kLinger = std::chrono::seconds(5);
/// One piece that is written, and the next that is read meanwhile.
constexpr std::size_t kFileBytesAhead = 512 * 1024;
constexpr std::size_t kLingerBytes = 64u << 20;
/// One buffer in each direction.
constexpr std::size_t kRelayBytes = 2 * kBodyBufferBytes;

/// The caller holds too much already. Azure's clients and MLflow's try again by themselves; those
/// that move files know only the 503 of Azure's stores.
Reply come_again(bool moves_file) {
  constexpr std::string_view kWhy =
      "too many bytes of yours are on their way: read the answers that you asked for, then try "
      "again";
  Reply reply =
      moves_file ? error_reply(503, "ServerBusy", kWhy) : error_reply(429, "TooManyRequests", kWhy);
  reply.headers = {{"Retry-After", "1"}};
  return reply;
}

/// Of memory, while the reply is being sent.
std::size_t bytes_held_by(const Reply& reply) {
  if (reply.stream) return BodyWriter::kRoom;
  return reply.files.empty() ? reply.body.size() : kFileBytesAhead;
}

/// One connection's requests, one after the other. Member coroutines that return bool say whether
/// the connection goes on.
class Session {
 public:
  Session(std::shared_ptr<SessionContext> context, StreamView stream, HttpLink& link,
          std::string peer)
      : context_(std::move(context)),
        client_{.stream = stream, .link = link, .limits = context_->options.limits},
        link_(link),
        peer_(std::move(peer)),
        held_(context_->held) {}

  Awaitable<void> run();
  Awaitable<void> refuse_plain();

 private:
  const HttpLimits& limits() const { return context_->options.limits; }

  Awaitable<bool> serve_one();
  Admission admit();
  void note_caller(const Admission& admission);
  Awaitable<bool> read_head();
  bool parse_head();
  void take_head();
  Awaitable<bool> read_body(const Admission& admission, Request& request);
  Awaitable<bool> spool_body(const SpoolBody& wanted, Request& request);
  Awaitable<bool> read_piece(std::string& into, std::size_t enough, std::uint64_t limit);
  Awaitable<Reply> answer_to(Request request, const Handle& handle);
  Awaitable<bool> write_reply(Reply reply);
  Awaitable<bool> write_files(Reply reply);
  Awaitable<bool> answer_unread(Reply reply);
  Awaitable<bool> write_stream(Reply reply);
  Awaitable<bool> relay(const Relay& relay);
  Awaitable<void> change_protocol(const Admission& admission);
  Awaitable<void> part();
  std::string head_of(const Reply& reply);

  std::shared_ptr<SessionContext> context_;
  ClientEnd client_;
  HttpLink& link_;
  std::string peer_;
  HeldBytes::Part held_;
  bool only_reads_ = false;  ///< The caller: see Caller.
  std::optional<RequestParser> parser_{};
  ReplyFraming framing_{};
  bool is_first_ = true;
  bool has_unread_input_ = false;
};

Awaitable<void> Session::run() {
  bool goes_on = true;
  while (goes_on) goes_on = co_await serve_one();
  if (!link_.is_cut()) co_await part();
}

Awaitable<void> Session::refuse_plain() {
  framing_.keep_alive = false;
  co_await answer_unread(
      error_reply(400, "HttpsRequired", "this address takes only HTTPS: write https:// instead"));
  co_await part();
}

Awaitable<bool> Session::serve_one() {
  parser_.emplace(limits().header_bytes);
  framing_ = {};
  link_.set_guard(nullptr);
  held_.set(0);
  if (!co_await read_head()) co_return false;
  if (context_->closed) co_return false;
  link_.set_heard();
  take_head();
  Admission admission = admit();
  note_caller(admission);
  if (Refuse* refuse = std::get_if<Refuse>(&admission)) {
    if (parser_->is_done()) co_return co_await write_reply(std::move(refuse->reply));
    co_return co_await answer_unread(std::move(refuse->reply));
  }
  if (std::holds_alternative<Upgrade>(admission) || std::holds_alternative<Park>(admission)) {
    co_await change_protocol(admission);
    co_return false;
  }
  link_.set_guard(std::visit(
      [](auto& admitted) -> std::function<bool()> {
        if constexpr (requires { admitted.is_still_allowed; }) {
          return std::move(admitted.is_still_allowed);
        }
        return {};
      },
      admission));
  if (const Relay* wanted = std::get_if<Relay>(&admission)) co_return co_await relay(*wanted);
  Request request;
  if (!co_await read_body(admission, request)) co_return false;
  request.head = std::move(parser_->head());
  if (only_reads_ && context_->held.is_full(held_.caller())) {
    co_return co_await write_reply(come_again(false));
  }
  const Handle& handle = std::holds_alternative<SpoolBody>(admission)
                             ? std::get<SpoolBody>(admission).handle
                             : std::get<ReadBody>(admission).handle;
  Reply reply = co_await answer_to(std::move(request), handle);
  const bool fits = held_.set(bytes_held_by(reply));
  if (!fits && only_reads_) reply = come_again(!reply.files.empty());
  co_return co_await write_reply(std::move(reply));
}

Admission Session::admit() {
  std::optional<Admission> admission;
  const auto what = [&] { return fmt::format("the request of {}", peer_); };
  const Status done = caught(what, [&] { admission = context_->handler.admit(parser_->head()); });
  if (done) return *std::move(admission);
  return Refuse{error_reply(500, "InternalServerError", done.error().message)};
}

/// Whose the connection is from now on, and on whose account its bytes are.
void Session::note_caller(const Admission& admission) {
  const Caller& caller =
      std::visit([](const auto& admitted) -> const Caller& { return admitted.caller; }, admission);
  if (!caller.name.empty()) link_.set_caller(caller.name);
  held_.set_caller(caller.name.empty() ? link_.address() : caller.name);
  only_reads_ = caller.only_reads;
}

/// False when the connection ends, with or without an answer.
Awaitable<bool> Session::read_head() {
  client_.input.shrink(kHeadBufferBytes);
  bool waits = client_.input.empty();
  link_.set_idle(waits);
  link_.set_deadline(!waits || is_first_ ? limits().head_timeout : limits().idle_timeout);
  is_first_ = false;
  if (waits && context_->draining) co_return false;
  while (!parse_head()) {
    if (parser_->failure()) {
      const BadRequest& bad = *parser_->failure();
      co_return co_await answer_unread(error_reply(bad.status, bad.code, bad.message));
    }
    const std::size_t more = parser_->got_some() ? limits().header_bytes : 0;
    if (!co_await client_.read_some(kHeadBufferBytes + more)) {
      if (!link_.has_expired() || !parser_->got_some()) co_return false;
      co_return co_await answer_unread(
          error_reply(408, "RequestTimeout", "the request's head took too long to arrive"));
    }
    if (std::exchange(waits, false)) {
      link_.set_idle(false);
      link_.set_deadline(limits().head_timeout);
    }
  }
  co_return true;
}

/// True when the head is complete and good.
bool Session::parse_head() {
  // RFC 9112, 2.2: be lenient about empty lines before a request.
  while (!parser_->got_some() && !client_.input.empty() &&
         (client_.input.data().front() == '\r' || client_.input.data().front() == '\n')) {
    client_.input.consume(1);
  }
  if (!client_.input.empty()) client_.input.consume(parser_->feed(client_.input.data()));
  return !parser_->failure() && parser_->is_header_done();
}

void Session::take_head() {
  RequestHead& head = parser_->head();
  head.is_tls = (client_.stream.tls() != nullptr);
  head.peer = peer_;
  framing_.answers_head = head.method == "HEAD";
  framing_.is_http11 = parser_->is_http11();
  framing_.keep_alive = framing_.is_http11 && parser_->keep_alive();
}

Awaitable<bool> Session::read_body(const Admission& admission, Request& request) {
  const SpoolBody* spool = std::get_if<SpoolBody>(&admission);
  const std::uint64_t limit = spool != nullptr ? spool->limit : std::get<ReadBody>(admission).limit;
  if (const auto length = parser_->content_length(); length && *length > limit) {
    co_return co_await answer_unread(
        error_reply(413, "RequestEntityTooLarge",
                    fmt::format("the body is larger than the {} bytes allowed here", limit)));
  }
  if (parser_->wants_continue() && !parser_->is_done() && client_.input.empty() &&
      !co_await client_.write_all("HTTP/1.1 100 Continue\r\n\r\n", {})) {
    co_return false;
  }
  if (spool != nullptr) co_return co_await spool_body(*spool, request);
  if (parser_->is_done()) co_return true;
  co_return co_await read_piece(request.body, static_cast<std::size_t>(-1), limit);
}

Awaitable<bool> Session::spool_body(const SpoolBody& wanted, Request& request) {
  BodySpool spool(context_->disk, context_->options.spool_directory, wanted.with_md5);
  std::string piece;
  while (!parser_->is_done()) {
    if (!co_await read_piece(piece, kSpoolPieceBytes, wanted.limit)) co_return false;
    if (parser_->is_done()) break;
    link_.clear_deadline();  // From here to the next read it is the disk that may be slow.
    Status written = co_await spool.write(std::exchange(piece, {}));
    if (!written) co_return co_await answer_unread(error_reply(written.error()));
  }
  link_.clear_deadline();
  Result<SpooledBody> body = co_await spool.finish(std::move(piece));
  if (!body) co_return co_await answer_unread(error_reply(body.error()));
  request.spooled = std::move(*body);
  co_return true;
}

/// Reads until the whole body is there, or `into` holds enough of it.
Awaitable<bool> Session::read_piece(std::string& into, std::size_t enough, std::uint64_t limit) {
  parser_->set_body(&into);
  for (;;) {
    if (!client_.input.empty()) client_.input.consume(parser_->feed(client_.input.data()));
    if (const auto& bad = parser_->failure()) {
      co_return co_await answer_unread(error_reply(bad->status, bad->code, bad->message));
    }
    if (parser_->body_bytes() > limit) {
      co_return co_await answer_unread(
          error_reply(413, "RequestEntityTooLarge",
                      fmt::format("the body is larger than the {} bytes allowed here", limit)));
    }
    if (!held_.set(into.size())) {
      co_return co_await answer_unread(come_again(enough == kSpoolPieceBytes));
    }
    if (parser_->is_done() || into.size() >= enough) co_return true;
    if (client_.input.data().size() >= kBodyBufferBytes) {
      co_return co_await answer_unread(
          error_reply(400, "BadRequest", "a chunk's head is too long"));
    }
    link_.set_deadline(limits().stall_timeout);
    if (!co_await client_.read_some(kBodyBufferBytes)) {
      if (!link_.has_expired()) co_return false;
      co_return co_await answer_unread(
          error_reply(408, "RequestTimeout", "the request's body stopped arriving"));
    }
  }
}

Awaitable<Reply> Session::answer_to(Request request, const Handle& handle) {
  Delivery<Reply> delivery;
  link_.clear_deadline();
  link_.when_cut([delivery]() mutable { delivery.abandon(); });
  std::optional<Reply> reply;
  if (!context_->closed) {
    const auto what = [&] { return fmt::format("the request of {}", peer_); };
    const Status begun = caught(what, [&] { handle(std::move(request), delivery.sender()); });
    if (begun) reply = co_await delivery.wait();
  }
  link_.when_cut(nullptr);
  if (!reply) co_return error_reply(500, "InternalServerError", "the request was not answered");
  co_return std::move(*reply);
}

std::string Session::head_of(const Reply& reply) {
  if (context_->draining) framing_.keep_alive = false;
  return reply_head(reply, framing_, context_->date.at(SystemClock{}.now().wall));
}

Awaitable<bool> Session::write_reply(Reply reply) {
  const bool with_body = has_body(reply, framing_);
  if (with_body && reply.stream) co_return co_await write_stream(std::move(reply));
  if (with_body && !reply.files.empty()) co_return co_await write_files(std::move(reply));
  std::string head = head_of(reply);
  std::string_view rest = with_body ? std::string_view(reply.body) : std::string_view();
  if (rest.size() <= kMergedBodyBytes) {
    head += rest;
    rest = {};
  }
  if (!co_await client_.write_all(head, rest)) co_return false;
  co_return framing_.keep_alive;
}

Awaitable<bool> Session::write_files(Reply reply) {
  std::string head = head_of(reply);
  FilePieces pieces(context_->disk, std::move(reply.files));
  while (pieces.has_next()) {
    link_.clear_deadline();
    const Result<std::string> piece = co_await pieces.next();
    if (!piece) {
      // The head has promised more bytes than there are: all that is left is to break off.
      log::error("cannot send a file to {}: {}", peer_, piece.error().message);
      link_.cut();
      co_return false;
    }
    if (!co_await client_.write_all(head, *piece)) co_return false;
    head.clear();
  }
  if (!head.empty() && !co_await client_.write_all(head, {})) co_return false;
  co_return framing_.keep_alive;
}

Awaitable<bool> Session::write_stream(Reply reply) {
  StreamedReply streamed{.pipe = reply.stream,
                         .head = head_of(reply),
                         .is_chunked = framing_.is_http11,
                         .is_draining = context_->draining};
  reply.stream.reset();
  if (!co_await send_stream(client_, std::move(streamed))) co_return false;
  co_return framing_.keep_alive;
}

Awaitable<bool> Session::relay(const Relay& relay) {
  std::optional<Reply> instead;
  bool is_read = parser_->is_done();
  if (!held_.set(kRelayBytes) && only_reads_) {
    instead = come_again(false);
  } else {
    RelayExchange exchange(client_, {*parser_, framing_.keep_alive, context_->draining},
                           relay.plan);
    RelayExchange::Outcome outcome = co_await exchange.run();
    is_read = outcome.is_read;
    if (!outcome.instead) {
      has_unread_input_ = !is_read;
      co_return outcome.goes_on;
    }
    instead = std::move(outcome.instead);
  }
  if (is_read) co_return co_await write_reply(std::move(*instead));
  co_return co_await answer_unread(std::move(*instead));
}

/// The connection is no longer this session's, or was answered that it cannot be.
Awaitable<void> Session::change_protocol(const Admission& admission) {
  const RequestHead& head = parser_->head();
  std::string_view taken = "WebSockets";
  bool is_changed = false;
  if (!parser_->is_http11() || !client_.input.empty() || !parser_->is_done()) {
    is_changed = false;
  } else if (const Upgrade* wanted = std::get_if<Upgrade>(&admission)) {
    is_changed = co_await upgrade(context_, client_, head, *wanted);
  } else {
    is_changed = co_await park(context_, client_, head, std::get<Park>(admission));
  }
  if (const Park* parking = std::get_if<Park>(&admission)) taken = parking->protocol;
  if (is_changed) co_return;
  co_await answer_unread(
      error_reply(400, "BadRequest", fmt::format("this address takes only {}", taken)));
}

/// Answers a request that was not read to its end; the connection cannot be used after it.
Awaitable<bool> Session::answer_unread(Reply reply) {
  framing_.keep_alive = false;
  has_unread_input_ = true;
  co_await write_reply(std::move(reply));
  co_return false;
}

/// Closes so that the peer still gets the last answer: a socket closed with input unread resets the
/// connection, and a reset discards what the peer has not read yet.
Awaitable<void> Session::part() {
  link_.set_idle(true);
  link_.set_deadline(kLinger);
  TlsSocket* const tls = client_.stream.tls();
  if (tls != nullptr) co_await tls->async_shutdown(kAwait);
  client_.stream.shutdown_send();
  if (!has_unread_input_) co_return;
  std::size_t discarded = 0;
  while (discarded < kLingerBytes && !link_.is_cut()) {
    const std::span<char> space = client_.input.space(kBodyBufferBytes);
    client_.input.consume(client_.input.data().size());
    // What TLS would say to it does not matter any more.
    TcpSocket& socket = tls != nullptr ? tls->next_layer() : *client_.stream.tcp();
    auto [error, size] =
        co_await socket.async_read_some(asio::buffer(space.data(), space.size()), kAwait);
    if (error) co_return;
    discarded += size;
  }
}

Awaitable<void> serve_tls(std::shared_ptr<SessionContext> context, TcpSocket socket, HttpLink& link,
                          std::string peer) {
  auto& tls = *static_cast<asio::ssl::context*>(context->tls->context());
  TlsSocket stream(std::move(socket), tls);
  link.follow(&stream.next_layer());
  auto [error] = co_await stream.async_handshake(TlsSocket::server, kAwait);
  if (!error) {
    Session session(context, StreamView(stream), link, std::move(peer));
    co_await session.run();
  }
  link.follow(nullptr);
}

}  // namespace

Awaitable<void> serve_connection(std::shared_ptr<SessionContext> context, TcpSocket socket) {
  constexpr unsigned char kTlsHandshake = 0x16;
  HttpLink link(context->connections, socket, peer_address(socket));
  link.set_deadline(context->options.limits.head_timeout);
  std::string peer = peer_name(socket);
  const bool plain_allowed = is_plain_allowed(socket);
  unsigned char first = 0;
  auto [error, size] =
      co_await socket.async_receive(asio::buffer(&first, 1), TcpSocket::message_peek, kAwait);
  if (error || context->closed) co_return;
  if (first == kTlsHandshake) {
    if (context->tls) co_await serve_tls(context, std::move(socket), link, std::move(peer));
    co_return;
  }
  Session session(context, StreamView(socket), link, std::move(peer));
  if (plain_allowed) {
    co_await session.run();
  } else {
    co_await session.refuse_plain();
  }
}

}  // namespace berth::io
