// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "io/message/http.h"

namespace berth::io {

struct ClientRequest {
  std::string method = "GET";
  std::string url{};
  Headers headers{};
  std::string body{};
  std::optional<FileRange> upload{};  ///< Instead of `body`.
  /// Where the answer's body goes piece by piece, instead of ClientResponse::body; for a status of
  /// 400 or more the body is kept in memory all the same. Return an Error to stop.
  std::function<Status(std::string_view)> sink{};
  std::function<void(std::uint64_t bytes)> progress{};  ///< Bytes of body moved so far.
  Duration timeout{0};                                  ///< Of the whole exchange; 0: none.
  Duration connect_timeout = std::chrono::seconds(10);
  bool follow_redirects = false;
};

struct ClientResponse {
  int status = 0;
  Headers headers{};
  std::string body{};
};

struct HttpClientOptions {
  std::string authority_file{};  ///< A CA to trust beside the system's; empty: only the system's.
  bool loopback_without_proxy = true;
};

/// A blocking HTTP client that keeps its connections. Libcurl is behind it, loaded when a request
/// needs it: one in the clear to this machine does not. One thread at a time per object; make one
/// per thread. A transport failure is Unavailable; any HTTP status is a response, not an
/// error. A stalled transfer (no byte for 60 s) fails.
class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options = {});
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  Result<ClientResponse> send(const ClientRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::io
