// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <memory>

#include "base/result.h"
#include "io/http/http_client.h"
#include "io/http/libcurl.h"

namespace berth::io {

/// Every request that HttpClient knows, by libcurl.
class CurlTransport {
 public:
  static Result<CurlTransport> begin(HttpClientOptions options);

  Result<ClientResponse> send(const ClientRequest& request);

 private:
  using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
  CurlTransport(const Libcurl& curl, HttpClientOptions options)
      : curl_(&curl), easy_(curl.easy_init(), curl.easy_cleanup), options_(std::move(options)) {}

  const Libcurl* curl_;
  Easy easy_;
  HttpClientOptions options_;
};

}  // namespace berth::io
