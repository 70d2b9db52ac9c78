// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_client.h"

#include <utility>

#include "io/http/client_exchange.h"
#include "io/http/curl_transport.h"
#include "io/http/loopback_transport.h"

namespace berth::io {

struct HttpClient::State {
  HttpClientOptions options{};
  LoopbackTransport loopback{};
  std::optional<CurlTransport> curl{};  ///< Begun when it is needed.
};

HttpClient::HttpClient(HttpClientOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}

HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<ClientResponse> HttpClient::send(const ClientRequest& request) {
  if (has_line_break(request)) {
    return fail(Code::InvalidArgument, "a request's address and headers are one line each");
  }
  if (state_->options.loopback_without_proxy && LoopbackTransport::can_send(request)) {
    return state_->loopback.send(request);
  }
  if (!state_->curl) state_->curl = TRY(CurlTransport::begin(state_->options));
  return state_->curl->send(request);
}

}  // namespace berth::io
