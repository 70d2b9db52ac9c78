// SPDX-License-Identifier: Apache-2.0
#include "node/blob.h"

#include <fmt/format.h>

#include <boost/describe.hpp>
#include <memory>

#include "base/record.h"
#include "base/text.h"

namespace berth::node {

/// One page of a listing, as the server answers `berth-format=json`.
struct ListedBlob {
  std::string name{};
};
BOOST_DESCRIBE_STRUCT(ListedBlob, (), (name))
struct Listing {
  std::vector<ListedBlob> blobs{};
  std::string next{};
};
BOOST_DESCRIBE_STRUCT(Listing, (), (blobs, next))

namespace {

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

std::string block_id(std::uint64_t index) { return to_base64(fmt::format("{:08}", index)); }

Status upload_blocks(const std::string& authority, const std::string& url,
                     const std::shared_ptr<const io::Descriptor>& file, std::uint64_t size) {
  std::string list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  for (std::uint64_t offset = 0; offset < size; offset += kBlockBytes) {
    const std::string id = block_id(offset / kBlockBytes);
    TRY(send(authority,
             {.method = "PUT",
              .url = with_query(url, "comp=block&blockid=" + percent_encode(id)),
              .upload = io::FileRange{file, offset, std::min(kBlockBytes, size - offset)}}));
    list += "<Latest>" + id + "</Latest>";
  }
  list += "</BlockList>";
  TRY(send(authority, {.method = "PUT",
                       .url = with_query(url, "comp=blocklist"),
                       .headers = {{"Content-Type", "application/xml"}},
                       .body = std::move(list)}));
  return Done{};
}

}  // namespace

std::string blob_url(const std::string& container_url, std::string_view name) {
  const std::size_t query = std::min(container_url.find('?'), container_url.size());
  return container_url.substr(0, query) + "/" + percent_encode(name, true) +
         container_url.substr(query);
}

std::string with_query(const std::string& url, std::string_view parameters) {
  return fmt::format("{}{}{}", url, url.find('?') == std::string::npos ? '?' : '&', parameters);
}

Result<BlobPage> list_blobs(const std::string& authority, const std::string& container_url,
                            const std::string& prefix, const std::string& marker) {
  std::string url = with_query(container_url, "restype=container&comp=list&berth-format=json");
  url += "&prefix=" + percent_encode(prefix);
  if (!marker.empty()) url += "&marker=" + percent_encode(marker);
  const io::ClientResponse response = TRY(send(authority, {.url = url}));
  Listing listing = TRY(record::decode_text<Listing>(response.body));
  BlobPage page{.next = std::move(listing.next)};
  for (ListedBlob& blob : listing.blobs) page.names.push_back(std::move(blob.name));
  return page;
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
