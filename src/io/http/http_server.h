// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "io/http/relay.h"
#include "io/http/websocket.h"
#include "io/loop.h"
#include "io/message/http.h"
#include "io/offload.h"
#include "io/tls.h"

namespace berth::io {

/// Who asks, as far as the application knows.
struct Caller {
  std::string name{};       ///< Empty: a stranger, who is counted by address.
  bool only_reads = false;  ///< Nothing is lost when it is told to come again.
};

/// Answers a request: called once, on the loop's thread. An answer after the peer has gone is
/// harmless.
using Respond = std::function<void(Reply)>;
/// Takes a request that was let in, once its body is there, and calls `respond` exactly once, now
/// or later. It holds what the admission has found out about the request.
using Handle = std::function<void(Request request, Respond respond)>;

/// What becomes of a request, decided on its head alone, before any of its body is read.
struct ReadBody {
  std::uint64_t limit = 0;  ///< A larger body is answered 413.
  Handle handle{};
  /// Asked at every recheck() until the answer has left: once it says no, the connection is cut.
  std::function<bool()> is_still_allowed{};
  Caller caller{};
};
struct SpoolBody {
  std::uint64_t limit = 0;
  Handle handle{};
  std::function<bool()> is_still_allowed{};
  bool with_md5 = true;  ///< Twice the work of SHA-256, which is always there.
  Caller caller{};
};
/// Answer at once. A body, if there is one, is not read; the connection then ends with the answer.
struct Refuse {
  Reply reply{};
  Caller caller{};
};
/// Upgrade to a WebSocket; the callback takes it over.
struct Upgrade {
  std::function<void(std::shared_ptr<WebSocket>)> accept;
  Caller caller{};
};
/// Pass it on. The body is not read here.
struct Relay {
  RelayPlan plan{};
  std::function<bool()> is_still_allowed{};
  Caller caller{};
};
/// Upgrade to `protocol`, by which this connection changes its direction: the client becomes a
/// server that requests are relayed to. Answered 400 when the client does not ask for that
/// protocol.
struct Park {
  std::shared_ptr<Upstream> into{};  ///< Made with Upstream::of_parked.
  std::string protocol{};
  Caller caller{};
};
using Admission = std::variant<ReadBody, SpoolBody, Refuse, Upgrade, Relay, Park>;

/// The application behind the server. Called on the loop's thread only.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual Admission admit(const RequestHead& head) = 0;
};

struct HttpLimits {
  std::uint32_t header_bytes = 32 * 1024;
  Duration head_timeout = std::chrono::seconds(15);   ///< To send a whole head.
  Duration idle_timeout = std::chrono::seconds(75);   ///< Between requests of one connection.
  Duration stall_timeout = std::chrono::seconds(30);  ///< No byte of a body moved, either way.
  std::size_t connections = 4096;  ///< For one more another must go: ConnectionTable::make_room.
  std::size_t connections_of_strangers = 1024;  ///< Of one address.
  /// Of one caller, in bodies that come in and answers that have not left. Over it, who only reads
  /// is told to come again.
  std::size_t held_bytes = 64u << 20;
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::vector<std::string> more_addresses{};  ///< Answered at the same port.
  std::uint16_t port = 0;                     ///< 0: any free one.
  HttpLimits limits{};
  std::string spool_directory{};  ///< Where SpoolBody bodies are written.
};

/// HTTP/1.1 over TLS and, told apart by the first byte, plain TCP, on one port.
///
/// Keep-alive and pipelining; Expect: 100-continue; chunked and sized bodies; files are sent from
/// disk in pieces; spooling is written, hashed and synced off the loop, so that a slow disk or a
/// slow peer never holds the loop up. Requests can be relayed (io/http/relay.h), replies made while
/// they are sent (io/http/reply_stream.h). Plain HTTP is refused unless both ends are loopback.
class HttpServer {
 public:
  HttpServer(Loop& loop, Offload& disk, HttpHandler& handler, HttpServerOptions options,
             std::shared_ptr<const ServerTls> tls);
  ~HttpServer();

  Status listen();
  std::uint16_t port() const;  ///< The real one, after listen().
  std::size_t connections() const;

  /// Cuts the connections whose requests are not allowed any more.
  void recheck();

  /// Stops accepting, answers what was begun, closes idle connections, then calls `drained`; at the
  /// latest after `grace`, when what is left is cut off.
  void drain(Duration grace, std::function<void()> drained);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace berth::io
