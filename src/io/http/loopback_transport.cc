// SPDX-License-Identifier: Apache-2.0
#include "io/http/loopback_transport.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/http/client_exchange.h"
#include "io/message/answer_parser.h"
#include "io/message/body_framing.h"

namespace berth::io {
namespace {

constexpr std::uint32_t kHeadBytes = 64 * 1024;
constexpr std::size_t kBufferBytes = 64 * 1024;
constexpr int kMostInterim = 32;

/// Sent as it stands by libcurl too, which shortens paths with dots and escapes what is not plain.
bool is_plain(std::string_view target) {
  const auto is_graph = [](char c) { return c > ' ' && c < '\x7f' && c != '#'; };
  return std::ranges::all_of(target, is_graph) && target.find("/.") == std::string_view::npos;
}

void append_header(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(value.empty() ? ":" : ": ").append(value).append("\r\n");
}

std::string host_of(const LoopbackPlace& place) {
  const std::string host = place.host == "::1" ? "[::1]" : place.host;
  return place.port == 80 ? host : fmt::format("{}:{}", host, place.port);
}

/// In the words and the order of libcurl.
std::string text_of(const ClientRequest& request, const LoopbackPlace& place) {
  const std::string_view target = place.target.empty() ? "/" : std::string_view(place.target);
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", request.method, target);
  if (header(request.headers, "Host").empty()) append_header(text, "Host", host_of(place));
  if (header(request.headers, "Accept").empty()) append_header(text, "Accept", "*/*");
  for (const auto& [name, value] : request.headers) append_header(text, name, value);
  if (sends_body(request)) {
    append_header(text, "Content-Length", std::to_string(request.body.size()));
  }
  return text.append("\r\n").append(request.body);
}

TimePoint after(TimePoint now, Duration patience) {
  return patience == Duration(0) ? TimePoint::max() : now + patience;
}

TimePoint now() { return SystemClock().now().mono; }

}  // namespace

/// One request and its answer, on one connection.
class LoopbackTransport::Exchange {
 public:
  Exchange(Connection connection, const ClientRequest& request, TimePoint deadline)
      : connection_(std::move(connection)), deadline_(deadline), intake_{.request = request} {
    parser_.emplace(kHeadBytes, request.method == "HEAD");
  }

  Result<ClientResponse> perform(std::string_view text) {
    TRY(write(text));
    while (!TRY(take_head())) {
      if (!TRY(read_some())) return hung_up("the server closed the connection without an answer");
    }
    intake_.response.status = parser_->status();
    for (std::size_t i = 0; i < parser_->fields(); ++i) {
      const auto [name, value] = parser_->field(i);
      intake_.response.headers.emplace_back(name, value);
    }
    TRY(read_body());
    is_whole_ = true;
    return std::move(intake_.response);
  }

  /// The connection, if the next request can use it.
  std::optional<Connection> leave() {
    const bool is_clean = is_whole_ && connection_.input.empty();
    if (!is_clean || !parser_->keep_alive()) return std::nullopt;
    return std::move(connection_);
  }
  /// After a failure: the server was gone before it said anything.
  bool was_ignored() const { return has_hung_up_ && !has_heard_; }

 private:
  tl::unexpected<Error> broken(std::string_view why) const {
    return exchange_failed(Code::Unavailable, intake_.request, why);
  }
  tl::unexpected<Error> hung_up(std::string_view why) {
    has_hung_up_ = true;
    return broken(why);
  }

  /// For that event of poll().
  Status wait(short event) {
    const TimePoint stalled = now() + kStallTimeout;
    if (connection_.socket.wait(event, std::min(deadline_, stalled))) return Done{};
    return broken(deadline_ < stalled ? "it takes too long" : "nothing has moved for 60 seconds");
  }

  /// False: the server sends no more.
  Result<bool> read_some() {
    if (now() >= deadline_) return broken("it takes too long");
    for (;;) {
      const auto got = connection_.socket.receive_some(connection_.input.space(kBufferBytes));
      if (!got) return hung_up(got.error().message);
      if (*got) {
        connection_.input.commit(**got);
        has_heard_ = has_heard_ || **got > 0;
        return **got > 0;
      }
      TRY(wait(POLLIN));
    }
  }

  /// Stops when the server takes no more: what it has to say is read in any case.
  Status write(std::string_view text) {
    while (!text.empty()) {
      const auto sent = connection_.socket.send_some(text);
      if (!sent) return Done{};
      text.remove_prefix(*sent);
      if (*sent == 0) TRY(wait(POLLOUT));
    }
    return Done{};
  }

  /// True: the head of the answer is complete, after those that only announce it.
  Result<bool> take_head() {
    InputBuffer& input = connection_.input;
    while (!input.empty()) {
      input.consume(parser_->feed(input.data()));
      if (parser_->is_bad()) return broken("the answer is not HTTP");
      if (!parser_->is_header_done()) return false;
      if (parser_->status() >= 200) return true;
      if (++interim_ > kMostInterim) return broken("the server announces answers without end");
      parser_.emplace(kHeadBytes, intake_.request.method == "HEAD");
    }
    return false;
  }

  BodyFraming framing() const {
    if (parser_->is_done()) return BodyFraming::none();
    if (parser_->chunked()) return BodyFraming::of_chunks(false);
    const auto length = parser_->content_length();
    return length ? BodyFraming::of_length(*length) : BodyFraming::until_close();
  }

  Status read_body() {
    InputBuffer& input = connection_.input;
    BodyFraming body = framing();
    for (;;) {
      const Passed passed = body.pass(input.bytes());
      if (body.is_bad()) return broken("the answer's chunks are malformed");
      if (passed.kept > 0) TRY(intake_.take(input.data().substr(0, passed.kept)));
      input.consume(passed.taken);
      if (body.is_done()) return Done{};
      if (TRY(read_some())) continue;
      if (body.ends_with_connection()) return Done{};
      return broken("the connection ended in the middle of the answer");
    }
  }

  Connection connection_;
  TimePoint deadline_;
  Intake intake_;
  std::optional<AnswerParser> parser_{};
  int interim_ = 0;
  bool is_whole_ = false;
  bool has_heard_ = false;
  bool has_hung_up_ = false;
};

bool LoopbackTransport::can_send(const ClientRequest& request) {
  if (request.follow_redirects || request.upload || request.body.size() >= kExpectBytes) {
    return false;
  }
  const auto place = loopback_place(request.url);
  return place && is_plain(place->target);
}

/// The connection of the last request, if it leads there and nobody has closed it.
std::optional<LoopbackTransport::Connection> LoopbackTransport::take_kept(
    const LoopbackPlace& place) {
  std::optional<Connection> kept = std::exchange(kept_, std::nullopt);
  const bool is_good = kept && kept->place.host == place.host && kept->place.port == place.port &&
                       kept->socket.is_quiet();
  return is_good ? std::move(kept) : std::nullopt;
}

Result<ClientResponse> LoopbackTransport::send(const ClientRequest& request) {
  const LoopbackPlace place = loopback_place(request.url).value();
  const std::string text = text_of(request, place);
  const TimePoint begin = now();
  const TimePoint deadline = after(begin, request.timeout);
  if (auto kept = take_kept(place)) {
    Exchange exchange(std::move(*kept), request, deadline);
    auto response = exchange.perform(text);
    kept_ = exchange.leave();
    if (!exchange.was_ignored()) return response;
  }
  auto socket = LoopbackSocket::dial(place.host, place.port,
                                     std::min(deadline, after(begin, request.connect_timeout)));
  if (!socket) return exchange_failed(Code::Unavailable, request, socket.error().message);
  Exchange exchange({.place = place, .socket = std::move(*socket)}, request, deadline);
  auto response = exchange.perform(text);
  kept_ = exchange.leave();
  return response;
}

}  // namespace berth::io
