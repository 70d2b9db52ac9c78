// SPDX-License-Identifier: Apache-2.0
#include "io/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/caught.h"
#include "base/log.h"
#include "io/body_spool.h"
#include "io/delivery.h"
#include "io/file_pieces.h"
#include "io/http_link.h"
#include "io/input_buffer.h"
#include "io/peer.h"
#include "io/request_parser.h"
#include "io/websocket_stream.h"

namespace berth::io {
namespace {

using boost::system::error_code;
namespace beast = boost::beast;

constexpr std::size_t kHeadBufferBytes = 8 * 1024;
constexpr std::size_t kBodyBufferBytes = 64 * 1024;
constexpr std::size_t kSpoolPieceBytes = 256 * 1024;
/// Bodies up to this size are sent in one buffer with the head: one TLS record, one segment.
constexpr std::size_t kMergedBodyBytes = 16 * 1024;
constexpr auto kLinger = std::chrono::seconds(5);
/// One piece that is written, and the next that is read meanwhile.
constexpr std::size_t kFileBytesAhead = 512 * 1024;
constexpr std::size_t kLingerBytes = 64u << 20;

/// Keeps an accepted WebSocket in the server's table, so that draining closes it too.
class WebSocketLink final : public Connection {
 public:
  WebSocketLink(ConnectionTable& table, std::function<void(bool)> end)
      : Connection(table), end_(std::move(end)) {}

  void expire() override {}
  void finish_soon() override { end_(false); }
  void cut() override { end_(true); }

 private:
  std::function<void(bool at_once)> end_;
};

struct WebSocketCompanion {
  std::shared_ptr<SessionContext> context;  // First: the link's last act is to leave its table.
  WebSocketLink link;
};

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

/// One connection's requests, one after the other. Member coroutines that return bool say whether
/// the connection goes on.
template <typename Stream>
class Session {
 public:
  Session(std::shared_ptr<SessionContext> context, Stream& stream, HttpLink& link, std::string peer)
      : context_(std::move(context)),
        stream_(stream),
        link_(link),
        peer_(std::move(peer)),
        held_(context_->held) {}

  Awaitable<void> run();
  Awaitable<void> refuse_plain();

 private:
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsSocket>;

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
  Awaitable<Reply> ask_handler(Request request);
  Awaitable<bool> write_reply(Reply reply);
  Awaitable<bool> write_files(Reply reply);
  Awaitable<bool> answer_unread(Reply reply);
  Awaitable<void> upgrade(const Upgrade& upgrade);
  Awaitable<bool> read_some(std::size_t capacity);
  Awaitable<bool> write_all(std::string_view first, std::string_view second);
  Awaitable<void> part();
  std::string head_of(const Reply& reply);

  std::shared_ptr<SessionContext> context_;
  Stream& stream_;
  HttpLink& link_;
  std::string peer_;
  HeldBytes::Part held_;
  bool only_reads_ = false;  ///< The caller: see Caller.
  InputBuffer input_{};
  std::optional<RequestParser> parser_{};
  ReplyFraming framing_{};
  bool is_first_ = true;
  bool has_unread_input_ = false;
};

template <typename Stream>
Awaitable<void> Session<Stream>::run() {
  bool goes_on = true;
  while (goes_on) goes_on = co_await serve_one();
  if (!link_.is_cut()) co_await part();
}

template <typename Stream>
Awaitable<void> Session<Stream>::refuse_plain() {
  framing_.keep_alive = false;
  co_await answer_unread(
      error_reply(400, "HttpsRequired", "this address takes only HTTPS: write https:// instead"));
  co_await part();
}

template <typename Stream>
Awaitable<bool> Session<Stream>::serve_one() {
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
  if (const Upgrade* wanted = std::get_if<Upgrade>(&admission)) {
    co_await upgrade(*wanted);
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
  Request request;
  if (!co_await read_body(admission, request)) co_return false;
  request.head = std::move(parser_->head());
  if (only_reads_ && context_->held.is_full(held_.caller())) {
    co_return co_await write_reply(come_again(false));
  }
  Reply reply = co_await ask_handler(std::move(request));
  const bool fits = held_.set(reply.files.empty() ? reply.body.size() : kFileBytesAhead);
  if (!fits && only_reads_) reply = come_again(!reply.files.empty());
  co_return co_await write_reply(std::move(reply));
}

template <typename Stream>
Admission Session<Stream>::admit() {
  std::optional<Admission> admission;
  const auto what = [&] { return fmt::format("the request of {}", peer_); };
  const Status done = caught(what, [&] { admission = context_->handler.admit(parser_->head()); });
  if (done) return *std::move(admission);
  return Refuse{error_reply(500, "InternalServerError", done.error().message)};
}

/// Whose the connection is from now on, and on whose account its bytes are.
template <typename Stream>
void Session<Stream>::note_caller(const Admission& admission) {
  const Caller& caller =
      std::visit([](const auto& admitted) -> const Caller& { return admitted.caller; }, admission);
  if (!caller.name.empty()) link_.set_caller(caller.name);
  held_.set_caller(caller.name.empty() ? link_.address() : caller.name);
  only_reads_ = caller.only_reads;
}

/// False when the connection ends, with or without an answer.
template <typename Stream>
Awaitable<bool> Session<Stream>::read_head() {
  input_.shrink(kHeadBufferBytes);
  bool waits = input_.empty();
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
    if (!co_await read_some(kHeadBufferBytes + more)) {
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
template <typename Stream>
bool Session<Stream>::parse_head() {
  // RFC 9112, 2.2: be lenient about empty lines before a request.
  while (!parser_->got_some() && !input_.empty() &&
         (input_.data().front() == '\r' || input_.data().front() == '\n')) {
    input_.consume(1);
  }
  if (!input_.empty()) input_.consume(parser_->feed(input_.data()));
  return !parser_->failure() && parser_->is_header_done();
}

template <typename Stream>
void Session<Stream>::take_head() {
  RequestHead& head = parser_->head();
  head.is_tls = kIsTls;
  head.peer = peer_;
  framing_.answers_head = head.method == "HEAD";
  framing_.keep_alive = parser_->is_http11() && parser_->keep_alive();
}

template <typename Stream>
Awaitable<bool> Session<Stream>::read_body(const Admission& admission, Request& request) {
  const SpoolBody* spool = std::get_if<SpoolBody>(&admission);
  const std::uint64_t limit = spool != nullptr ? spool->limit : std::get<ReadBody>(admission).limit;
  if (const auto length = parser_->content_length(); length && *length > limit) {
    co_return co_await answer_unread(
        error_reply(413, "RequestEntityTooLarge",
                    fmt::format("the body is larger than the {} bytes allowed here", limit)));
  }
  if (parser_->wants_continue() && !parser_->is_done() && input_.empty() &&
      !co_await write_all("HTTP/1.1 100 Continue\r\n\r\n", {})) {
    co_return false;
  }
  if (spool != nullptr) co_return co_await spool_body(*spool, request);
  if (parser_->is_done()) co_return true;
  co_return co_await read_piece(request.body, static_cast<std::size_t>(-1), limit);
}

template <typename Stream>
Awaitable<bool> Session<Stream>::spool_body(const SpoolBody& wanted, Request& request) {
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
template <typename Stream>
Awaitable<bool> Session<Stream>::read_piece(std::string& into, std::size_t enough,
                                            std::uint64_t limit) {
  parser_->set_body(&into);
  for (;;) {
    if (!input_.empty()) input_.consume(parser_->feed(input_.data()));
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
    if (input_.data().size() >= kBodyBufferBytes) {
      co_return co_await answer_unread(
          error_reply(400, "BadRequest", "a chunk's head is too long"));
    }
    link_.set_deadline(limits().stall_timeout);
    if (!co_await read_some(kBodyBufferBytes)) {
      if (!link_.has_expired()) co_return false;
      co_return co_await answer_unread(
          error_reply(408, "RequestTimeout", "the request's body stopped arriving"));
    }
  }
}

template <typename Stream>
Awaitable<Reply> Session<Stream>::ask_handler(Request request) {
  Delivery<Reply> delivery;
  link_.clear_deadline();
  link_.when_cut([delivery]() mutable { delivery.abandon(); });
  std::optional<Reply> reply;
  if (!context_->closed) {
    const auto what = [&] { return fmt::format("the request of {}", peer_); };
    const Status begun =
        caught(what, [&] { context_->handler.handle(std::move(request), delivery.sender()); });
    if (begun) reply = co_await delivery.wait();
  }
  link_.when_cut(nullptr);
  if (!reply) co_return error_reply(500, "InternalServerError", "the request was not answered");
  co_return std::move(*reply);
}

template <typename Stream>
std::string Session<Stream>::head_of(const Reply& reply) {
  if (context_->draining) framing_.keep_alive = false;
  return reply_head(reply, framing_, context_->date.at(SystemClock{}.now().wall));
}

template <typename Stream>
Awaitable<bool> Session<Stream>::write_reply(Reply reply) {
  const bool with_body = has_body(reply, framing_);
  if (with_body && !reply.files.empty()) co_return co_await write_files(std::move(reply));
  std::string head = head_of(reply);
  std::string_view rest = with_body ? std::string_view(reply.body) : std::string_view();
  if (rest.size() <= kMergedBodyBytes) {
    head += rest;
    rest = {};
  }
  if (!co_await write_all(head, rest)) co_return false;
  co_return framing_.keep_alive;
}

template <typename Stream>
Awaitable<bool> Session<Stream>::write_files(Reply reply) {
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
    if (!co_await write_all(head, *piece)) co_return false;
    head.clear();
  }
  if (!head.empty() && !co_await write_all(head, {})) co_return false;
  co_return framing_.keep_alive;
}

/// Answers a request that was not read to its end; the connection cannot be used after it.
template <typename Stream>
Awaitable<bool> Session<Stream>::answer_unread(Reply reply) {
  framing_.keep_alive = false;
  has_unread_input_ = true;
  co_await write_reply(std::move(reply));
  co_return false;
}

template <typename Stream>
Awaitable<void> Session<Stream>::upgrade(const Upgrade& upgrade) {
  beast::http::request<beast::http::empty_body> request;
  request.method_string(parser_->head().method);
  request.target(parser_->head().path);
  for (const auto& [name, value] : parser_->head().headers) request.insert(name, value);
  if (!beast::websocket::is_upgrade(request) || !parser_->is_http11() || !input_.empty() ||
      request[beast::http::field::sec_websocket_version] != "13" ||
      request[beast::http::field::sec_websocket_key].empty()) {
    co_await answer_unread(error_reply(400, "BadRequest", "this address takes only WebSockets"));
    co_return;
  }
  auto socket = std::make_shared<StreamWebSocket<Stream>>(std::move(stream_));
  link_.follow(&lowest_layer(socket->channel().next_layer()));
  link_.set_deadline(limits().head_timeout);
  socket->channel().set_option(beast::websocket::stream_base::decorator(
      [](beast::websocket::response_type& response) { response.set("Server", "berth"); }));
  auto [error] = co_await socket->channel().async_accept(request, kAwait);
  link_.follow(nullptr);
  const bool is_wanted = !error && !link_.is_cut() && !context_->draining;
  link_.cut();  // The stream is gone from here: there is nobody to part from.
  if (!is_wanted) co_return;
  const auto end = [weak = std::weak_ptr(socket)](bool at_once) {
    if (const auto open = weak.lock()) at_once ? open->cut() : open->close();
  };
  socket->attach(std::shared_ptr<void>(
      new WebSocketCompanion{context_, WebSocketLink(context_->connections, end)},
      [](void* companion) { delete static_cast<WebSocketCompanion*>(companion); }));
  upgrade.accept(socket);
}

/// False: nothing will arrive any more, or the deadline passed first.
template <typename Stream>
Awaitable<bool> Session<Stream>::read_some(std::size_t capacity) {
  const std::span<char> space = input_.space(capacity);
  auto [error, size] =
      co_await stream_.async_read_some(asio::buffer(space.data(), space.size()), kAwait);
  input_.commit(size);
  co_return !error;
}

template <typename Stream>
Awaitable<bool> Session<Stream>::write_all(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(first), asio::buffer(second)};
    link_.set_deadline(limits().stall_timeout);
    auto [error, size] = co_await stream_.async_write_some(buffers, kAwait);
    if (error) {
      link_.cut();
      co_return false;
    }
    const std::size_t of_first = std::min(size, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(size - of_first);
  }
  co_return true;
}

/// Closes so that the peer still gets the last answer: a socket closed with input unread resets the
/// connection, and a reset discards what the peer has not read yet.
template <typename Stream>
Awaitable<void> Session<Stream>::part() {
  link_.set_idle(true);
  link_.set_deadline(kLinger);
  if constexpr (kIsTls) co_await stream_.async_shutdown(kAwait);
  TcpSocket& socket = lowest_layer(stream_);
  error_code ignored;
  socket.shutdown(TcpSocket::shutdown_send, ignored);
  if (!has_unread_input_) co_return;
  std::size_t discarded = 0;
  while (discarded < kLingerBytes && !link_.is_cut()) {
    const std::span<char> space = input_.space(kBodyBufferBytes);
    input_.consume(input_.data().size());
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
    Session<TlsSocket> session(context, stream, link, std::move(peer));
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
  Session<TcpSocket> session(context, socket, link, std::move(peer));
  if (plain_allowed) {
    co_await session.run();
  } else {
    co_await session.refuse_plain();
  }
}

}  // namespace berth::io
