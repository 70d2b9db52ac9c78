// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "io/files/file.h"
#include "io/loop.h"

namespace berth::io {

struct UpstreamOptions {
  Duration connect_timeout = std::chrono::seconds(5);  ///< For a parked connection: to be there.
  Duration head_timeout = std::chrono::seconds(60);    ///< From the whole request to the answer.
  Duration stall_timeout = std::chrono::seconds(30);   ///< It takes no byte of a request.
  Duration silence_timeout =
      Duration(0);  ///< Within an answer or a tunnel; 0: as long as it likes.
  Duration idle_timeout = std::chrono::seconds(55);  ///< An unused connection is closed after it.
  std::size_t idle_connections = 64;                 ///< Kept for the next requests.
  std::uint32_t head_bytes = 32 * 1024;              ///< Of an answer; at most 64 KiB.
};

/// Where requests are relayed to, and the connections to it that wait for the next request. An
/// HTTP/1.1 server without TLS: this machine's, or one at the other end of a parked connection.
/// Loop thread only; the loop outlives it. A request under way keeps it alive.
class Upstream {
 public:
  /// A port of this machine: `address` is a loopback address, in figures.
  static Result<std::shared_ptr<Upstream>> at_port(Loop& loop, const std::string& address,
                                                   std::uint16_t port,
                                                   UpstreamOptions options = {});
  static Result<std::shared_ptr<Upstream>> at_socket(Loop& loop, const std::string& path,
                                                     UpstreamOptions options = {});
  /// Dials nobody: requests go through connections that others have made and parked here. A
  /// request waits for one up to connect_timeout; one that can be used again is parked again.
  static std::shared_ptr<Upstream> of_parked(Loop& loop, UpstreamOptions options = {});

  struct State;
  explicit Upstream(std::shared_ptr<State> state);
  ~Upstream();  ///< Closes the connections that wait.
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  /// A connected stream socket, whose peer serves HTTP on it. See also Park in
  /// io/http/http_server.h.
  Status park(Descriptor connected);

  /// There is nobody to be reached any more: whoever waits for an answer is told so (502), and what
  /// has begun is cut off.
  void abandon();

  std::size_t idle() const;  ///< Connections that wait for a request.

  State& state() { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace berth::io
