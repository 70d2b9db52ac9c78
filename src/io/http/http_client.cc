// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/text.h"

namespace berth::io {
namespace {

constexpr std::size_t kMaxBodyBytes = 64u << 20;
constexpr std::uint64_t kExpectBytes = 1u << 20;
constexpr long kTransferBufferBytes = 256 * 1024;
constexpr long kStallSeconds = 60;
constexpr long kMaxRedirects = 5;

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

void append(List& list, const std::string& text) {
  list.reset(curl_slist_append(list.release(), text.c_str()));
}

/// One exchange as libcurl's callbacks see it.
struct Exchange {
  CURL* handle = nullptr;
  const ClientRequest* request = nullptr;
  ClientResponse response{};
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::optional<Error> failure{};  ///< Why one of our callbacks stopped the transfer.
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
  Exchange& exchange = *static_cast<Exchange*>(context);
  const std::string_view piece(data, size);
  long status = 0;
  curl_easy_getinfo(exchange.handle, CURLINFO_RESPONSE_CODE, &status);
  exchange.received += size;
  if (exchange.request->sink && status < 400) {
    Status taken = exchange.request->sink(piece);
    if (!taken) exchange.failure = std::move(taken).error();
  } else if (exchange.response.body.size() + size > kMaxBodyBytes) {
    exchange.failure =
        Error{Code::TooLarge, "the answer is larger than " + human_bytes(kMaxBodyBytes)};
  } else {
    exchange.response.body.append(piece);
  }
  if (exchange.failure) return CURL_WRITEFUNC_ERROR;
  if (exchange.request->progress && !exchange.request->upload) {
    exchange.request->progress(exchange.received);
  }
  return size;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* context) {
  Exchange& exchange = *static_cast<Exchange*>(context);
  const std::string_view line = trim({data, size});
  if (line.starts_with("HTTP/")) {
    exchange.response.headers.clear();  // Of a redirect or a 100 Continue before this one.
  } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    exchange.response.headers.emplace_back(trim(line.substr(0, colon)),
                                           trim(line.substr(colon + 1)));
  }
  return size;
}

std::size_t on_upload(char* into, std::size_t, std::size_t size, void* context) {
  Exchange& exchange = *static_cast<Exchange*>(context);
  const FileRange& file = *exchange.request->upload;
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
  if (exchange.request->progress) exchange.request->progress(exchange.sent);
  return static_cast<std::size_t>(got);
}

/// libcurl starts the body over after a redirect, or when a kept connection turns out to be dead.
int on_seek(void* context, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Exchange*>(context)->sent = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

template <typename Value>
void set(CURL* handle, CURLoption option, Value value) {
  curl_easy_setopt(handle, option, value);
}

bool sends_body(const ClientRequest& request) {
  return !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
         request.method == "PATCH";
}

void set_method_and_body(CURL* handle, Exchange& exchange) {
  const ClientRequest& request = *exchange.request;
  if (request.upload) {
    set(handle, CURLOPT_UPLOAD, 1L);
    set(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.upload->length));
    set(handle, CURLOPT_READFUNCTION, on_upload);
    set(handle, CURLOPT_READDATA, &exchange);
    set(handle, CURLOPT_SEEKFUNCTION, on_seek);
    set(handle, CURLOPT_SEEKDATA, &exchange);
  } else if (sends_body(request)) {
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(handle, CURLOPT_POSTFIELDS, request.body.data());
  } else if (request.method == "HEAD") {
    set(handle, CURLOPT_NOBODY, 1L);
  }
  if (request.method != "HEAD" && request.method != "GET") {
    set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

List header_list(const ClientRequest& request) {
  List list;
  for (const auto& [name, value] : request.headers) {
    // "name;" is how libcurl wants a header without a value to be written.
    append(list, value.empty() ? name + ";" : name + ": " + value);
  }
  if (header(request.headers, "Content-Type").empty()) append(list, "Content-Type:");
  const std::uint64_t size = request.upload ? request.upload->length : request.body.size();
  if (size < kExpectBytes) append(list, "Expect:");
  return list;
}

bool has_line_break(const ClientRequest& request) {
  const auto breaks = [](const std::string& text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  };
  for (const auto& [name, value] : request.headers) {
    if (breaks(name) || breaks(value)) return true;
  }
  return breaks(request.method) || breaks(request.url);
}

void set_limits(CURL* handle, const ClientRequest& request) {
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_BUFFERSIZE, kTransferBufferBytes);
  set(handle, CURLOPT_UPLOAD_BUFFERSIZE, kTransferBufferBytes);
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
  set(handle, CURLOPT_MAXREDIRS, kMaxRedirects);
  set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(handle, CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
}

void set_trust(CURL* handle, const HttpClientOptions& options) {
  if (!options.authority_file.empty()) {
    set(handle, CURLOPT_CAINFO, options.authority_file.c_str());
    // CAINFO takes the place of the system's bundle; its directory of certificates stays trusted.
    const curl_version_info_data* version = curl_version_info(CURLVERSION_NOW);
    set(handle, CURLOPT_CAPATH, version->capath != nullptr ? version->capath : "/etc/ssl/certs");
  }
  if (options.loopback_without_proxy) {
    // This option replaces the variable of the same name, so carry that one over.
    std::string hosts = "127.0.0.1,localhost,::1";
    const char* inherited = std::getenv("no_proxy");
    if (inherited == nullptr) inherited = std::getenv("NO_PROXY");
    if (inherited != nullptr) hosts = std::string(inherited) == "*" ? "*" : hosts + "," + inherited;
    set(handle, CURLOPT_NOPROXY, hosts.c_str());
  }
}

/// The address for people: queries hold signatures, and user names passwords.
std::string printable(const std::string& url) {
  std::string shown = url.substr(0, url.find_first_of("?#"));
  const std::size_t authority = shown.find("://");
  if (authority == std::string::npos) return shown;
  const std::size_t slash = std::min(shown.find('/', authority + 3), shown.size());
  const std::size_t at = shown.rfind('@', slash);
  if (at != std::string::npos && at > authority) shown.erase(authority + 3, at - authority - 2);
  return shown;
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

struct HttpClient::State {
  HttpClientOptions options{};
  Easy handle{};
};

HttpClient::HttpClient(HttpClientOptions options) : state_(std::make_unique<State>()) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  state_->options = std::move(options);
  state_->handle.reset(curl_easy_init());
}

HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<ClientResponse> HttpClient::send(const ClientRequest& request) {
  CURL* const handle = state_->handle.get();
  if (handle == nullptr) return fail(Code::Internal, "cannot start libcurl");
  if (has_line_break(request)) {
    return fail(Code::InvalidArgument, "a request's address and headers are one line each");
  }
  curl_easy_reset(handle);  // The connections stay.
  Exchange exchange{.handle = handle, .request = &request};
  char detail[CURL_ERROR_SIZE] = "";
  const List headers = header_list(request);
  set(handle, CURLOPT_URL, request.url.c_str());
  set(handle, CURLOPT_HTTPHEADER, headers.get());
  set(handle, CURLOPT_ERRORBUFFER, detail);
  set(handle, CURLOPT_WRITEFUNCTION, on_body);
  set(handle, CURLOPT_WRITEDATA, &exchange);
  set(handle, CURLOPT_HEADERFUNCTION, on_header);
  set(handle, CURLOPT_HEADERDATA, &exchange);
  set_method_and_body(handle, exchange);
  set_limits(handle, request);
  set_trust(handle, state_->options);

  const CURLcode result = curl_easy_perform(handle);
  if (exchange.failure) return fail(std::move(*exchange.failure));
  if (result != CURLE_OK) {
    const std::string why = detail[0] != '\0' ? detail : curl_easy_strerror(result);
    return fail(code_for(result),
                fmt::format("{} {} failed: {}", request.method, printable(request.url), why));
  }
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  exchange.response.status = static_cast<int>(status);
  return std::move(exchange.response);
}

}  // namespace berth::io
