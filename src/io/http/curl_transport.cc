// SPDX-License-Identifier: Apache-2.0
#include "io/http/curl_transport.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "io/http/client_exchange.h"

namespace berth::io {
namespace {

constexpr long kTransferBufferBytes = 256 * 1024;
constexpr long kMaxRedirects = 5;

/// A handle of libcurl's, and what can be called on it.
struct EasyHandle {
  const Libcurl& curl;
  CURL* easy;

  template <typename Value>
  void set(CURLoption option, Value value) const {
    curl.easy_setopt(easy, option, value);
  }
  int status() const {
    long status = 0;
    curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }
};

using List = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

/// One exchange as libcurl's callbacks see it.
struct Exchange {
  EasyHandle handle;
  Intake intake;
  std::uint64_t sent = 0;
  std::optional<Error> failure{};  ///< Why one of our callbacks stopped the transfer.
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
  Exchange& exchange = *static_cast<Exchange*>(context);
  exchange.intake.response.status = exchange.handle.status();
  if (Status taken = exchange.intake.take({data, size}); !taken) {
    exchange.failure = std::move(taken).error();
    return CURL_WRITEFUNC_ERROR;
  }
  return size;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* context) {
  Headers& headers = static_cast<Exchange*>(context)->intake.response.headers;
  const std::string_view line = trim({data, size});
  if (line.starts_with("HTTP/")) {
    headers.clear();  // Of a redirect or a 100 Continue before this one.
  } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    headers.emplace_back(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  return size;
}

std::size_t on_upload(char* into, std::size_t, std::size_t size, void* context) {
  Exchange& exchange = *static_cast<Exchange*>(context);
  const ClientRequest& request = exchange.intake.request;
  const FileRange& file = *request.upload;
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(size, file.length - exchange.sent));
  if (wanted == 0) return 0;
  ssize_t got = -1;
  do {
    got = ::pread(file.file->get(), into, wanted, static_cast<off_t>(file.offset + exchange.sent));
  } while (got < 0 && errno == EINTR);
  if (got < 0) exchange.failure = error_from_errno(errno, "reading a file to upload");
  if (got == 0) {
    exchange.failure = Error{Code::InvalidArgument, "a file became shorter while it was uploaded"};
  }
  if (exchange.failure) return CURL_READFUNC_ABORT;
  exchange.sent += static_cast<std::uint64_t>(got);
  if (request.progress) request.progress(exchange.sent);
  return static_cast<std::size_t>(got);
}

/// libcurl starts the body over after a redirect, or when a kept connection turns out to be dead.
int on_seek(void* context, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Exchange*>(context)->sent = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

void set_method_and_body(const EasyHandle& handle, Exchange& exchange) {
  const ClientRequest& request = exchange.intake.request;
  if (request.upload) {
    handle.set(CURLOPT_UPLOAD, 1L);
    handle.set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.upload->length));
    handle.set(CURLOPT_READFUNCTION, on_upload);
    handle.set(CURLOPT_READDATA, &exchange);
    handle.set(CURLOPT_SEEKFUNCTION, on_seek);
    handle.set(CURLOPT_SEEKDATA, &exchange);
  } else if (sends_body(request)) {
    handle.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    handle.set(CURLOPT_POSTFIELDS, request.body.data());
  } else if (request.method == "HEAD") {
    handle.set(CURLOPT_NOBODY, 1L);
  }
  if (request.method != "HEAD" && request.method != "GET") {
    handle.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

List header_list(const Libcurl& curl, const ClientRequest& request) {
  List list(nullptr, curl.slist_free_all);
  const auto append = [&](const std::string& text) {
    list.reset(curl.slist_append(list.release(), text.c_str()));
  };
  for (const auto& [name, value] : request.headers) {
    // "name;" is how libcurl wants a header without a value to be written.
    append(value.empty() ? name + ";" : name + ": " + value);
  }
  if (header(request.headers, "Content-Type").empty()) append("Content-Type:");
  const std::uint64_t size = request.upload ? request.upload->length : request.body.size();
  if (size < kExpectBytes) append("Expect:");
  return list;
}

void set_limits(const EasyHandle& handle, const ClientRequest& request) {
  handle.set(CURLOPT_NOSIGNAL, 1L);
  handle.set(CURLOPT_BUFFERSIZE, kTransferBufferBytes);
  handle.set(CURLOPT_UPLOAD_BUFFERSIZE, kTransferBufferBytes);
  handle.set(CURLOPT_PROTOCOLS_STR, "http,https");
  handle.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  handle.set(CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
  handle.set(CURLOPT_MAXREDIRS, kMaxRedirects);
  handle.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  handle.set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(kStallTimeout.count()));
  handle.set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  handle.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
}

void set_trust(const EasyHandle& handle, const HttpClientOptions& options) {
  if (!options.authority_file.empty()) {
    handle.set(CURLOPT_CAINFO, options.authority_file.c_str());
    // CAINFO takes the place of the system's bundle; its directory of certificates stays trusted.
    const curl_version_info_data* version = handle.curl.version_info(CURLVERSION_NOW);
    handle.set(CURLOPT_CAPATH, version->capath != nullptr ? version->capath : "/etc/ssl/certs");
  }
  if (options.loopback_without_proxy) {
    // This option replaces the variable of the same name, so carry that one over.
    std::string hosts = "127.0.0.1,localhost,::1";
    const char* inherited = std::getenv("no_proxy");
    if (inherited == nullptr) inherited = std::getenv("NO_PROXY");
    if (inherited != nullptr) hosts = std::string(inherited) == "*" ? "*" : hosts + "," + inherited;
    handle.set(CURLOPT_NOPROXY, hosts.c_str());
  }
}

Code code_for(CURLcode result) {
  switch (result) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_TOO_MANY_REDIRECTS: return Code::InvalidArgument;
    // Trying again does not make a stranger's certificate ours.
    case CURLE_PEER_FAILED_VERIFICATION: return Code::Forbidden;
    case CURLE_SSL_CACERT_BADFILE: return Code::NotFound;
    default: return Code::Unavailable;
  }
}

}  // namespace

Result<CurlTransport> CurlTransport::begin(HttpClientOptions options) {
  const Result<Libcurl>& curl = libcurl();
  if (!curl) return fail(curl.error());
  CurlTransport transport(*curl, std::move(options));
  if (!transport.easy_) return fail(Code::Internal, "cannot start libcurl");
  return transport;
}

Result<ClientResponse> CurlTransport::send(const ClientRequest& request) {
  const EasyHandle handle{*curl_, easy_.get()};
  curl_->easy_reset(handle.easy);  // The connections stay.
  Exchange exchange{.handle = handle, .intake = {.request = request}};
  char detail[CURL_ERROR_SIZE] = "";
  const List headers = header_list(*curl_, request);
  handle.set(CURLOPT_URL, request.url.c_str());
  handle.set(CURLOPT_HTTPHEADER, headers.get());
  handle.set(CURLOPT_ERRORBUFFER, detail);
  handle.set(CURLOPT_WRITEFUNCTION, on_body);
  handle.set(CURLOPT_WRITEDATA, &exchange);
  handle.set(CURLOPT_HEADERFUNCTION, on_header);
  handle.set(CURLOPT_HEADERDATA, &exchange);
  set_method_and_body(handle, exchange);
  set_limits(handle, request);
  set_trust(handle, options_);

  const CURLcode result = curl_->easy_perform(handle.easy);
  if (exchange.failure) return fail(std::move(*exchange.failure));
  if (result != CURLE_OK) {
    const char* const why = detail[0] != '\0' ? detail : curl_->easy_strerror(result);
    return exchange_failed(code_for(result), request, why);
  }
  exchange.intake.response.status = handle.status();
  return std::move(exchange.intake.response);
}

}  // namespace berth::io
