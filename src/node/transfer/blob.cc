// SPDX-License-Identifier: Apache-2.0
#include "node/transfer/blob.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "wire/blob/block_list.h"

namespace berth::node {

namespace {

using wire::blob::with_query;

constexpr std::uint64_t kBlockBytes = 64u << 20;

/// Each thread's own, with its connections. A process trusts one authority all its life, but for
/// tests.
io::HttpClient& client(const std::string& authority) {
  thread_local std::string trusted;
  thread_local std::unique_ptr<io::HttpClient> mine;
  if (!mine || trusted != authority) {
    mine = std::make_unique<io::HttpClient>(io::HttpClientOptions{.authority_file = authority});
    trusted = authority;
  }
  return *mine;
}

Code code_of(int status) {
  switch (status) {
    case 401:
    case 403: return Code::Forbidden;
    case 404:
    case 410: return Code::NotFound;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504: return Code::Unavailable;
    case 507: return Code::OutOfSpace;
    default: return status >= 500 ? Code::Internal : Code::InvalidArgument;
  }
}

/// The message of an error body, ARM's or Azure Storage's; both are short.
std::string reason_in(const std::string& body) {
  const std::string shown = to_valid_utf8(std::string_view(body).substr(0, 300));
  return shown.empty() ? "" : ": " + shown;
}

Result<io::ClientResponse> send(const std::string& authority, const io::ClientRequest& request) {
  io::ClientResponse response = TRY(client(authority).send(request));
  if (response.status >= 200 && response.status < 300) return response;
  return fail(code_of(response.status),
              fmt::format("{} answered {}{}", request.url.substr(0, request.url.find('?')),
                          response.status, reason_in(response.body)));
}

Status upload_blocks(const std::string& authority, const std::string& url,
                     const std::shared_ptr<const io::Descriptor>& file, std::uint64_t size) {
  std::uint64_t count = 0;
  for (std::uint64_t offset = 0; offset < size; offset += kBlockBytes) {
    const std::string id = wire::blob::block_id(count++);
    TRY(send(authority,
             {.method = "PUT",
              .url = with_query(url, "comp=block&blockid=" + percent_encode(id)),
              .upload = io::FileRange{file, offset, std::min(kBlockBytes, size - offset)}}));
  }
  TRY(send(authority, {.method = "PUT",
                       .url = with_query(url, "comp=blocklist"),
                       .headers = {{"Content-Type", "application/xml"}},
                       .body = wire::blob::block_list_xml(count)}));
  return Done{};
}

}  // namespace

Result<wire::blob::ListedPage> list_blobs(const std::string& authority,
                                          const wire::blob::Container& container,
                                          const std::string& prefix, const std::string& marker) {
  const std::string url = wire::blob::list_url(container, prefix, marker);
  return wire::blob::listing_from_json(TRY(send(authority, {.url = url})).body);
}

Status download(const std::string& authority, const std::string& url,
                std::function<Status(std::string_view)> sink) {
  TRY(send(authority, {.url = url, .sink = std::move(sink), .follow_redirects = true}));
  return Done{};
}

Status upload(const std::string& authority, const std::string& url,
              std::shared_ptr<const io::Descriptor> file, std::uint64_t size) {
  if (size > kBlockBytes) return upload_blocks(authority, url, file, size);
  io::ClientRequest request{
      .method = "PUT",
      .url = url,
      .headers = {{"x-ms-blob-type", "BlockBlob"}, {"Content-Type", "application/octet-stream"}}};
  if (size > 0) request.upload = io::FileRange{std::move(file), 0, size};
  TRY(send(authority, request));
  return Done{};
}

}  // namespace berth::node
