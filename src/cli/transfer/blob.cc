// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/blob.h"

#include <charconv>
#include <optional>

#include "base/text.h"
#include "wire/arm/error.h"

namespace berth::cli {
namespace {

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

const json::object& properties_of(const json::object& resource) {
  static const json::object kNone;
  const json::value* properties = resource.if_contains("properties");
  return properties != nullptr && properties->is_object() ? properties->get_object() : kNone;
}

/// What stands between <name> and </name> first, from `from` on; moves `from` behind it.
std::optional<std::string_view> element(std::string_view xml, std::string_view name,
                                        std::size_t& from) {
  const std::string opening = fmt::format("<{}>", name);
  const std::size_t begin = xml.find(opening, from);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = xml.find(fmt::format("</{}>", name), begin);
  if (end == std::string_view::npos) return std::nullopt;
  from = end;
  return xml.substr(begin + opening.size(), end - begin - opening.size());
}

std::string without_entities(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string plain;
  while (!text.empty()) {
    const auto* entity = std::ranges::find_if(
        kEntities, [&](const auto& known) { return text.starts_with(known.first); });
    const bool found = entity != std::end(kEntities);
    plain += found ? entity->second : text.front();
    text.remove_prefix(found ? entity->first.size() : 1);
  }
  return plain;
}

Result<json::object> secrets_of(Client& client, const std::string& datastore, Purpose purpose) {
  const std::string below = "/datastores/" + datastore;
  if (purpose == Purpose::Read) return client.get(client.berth_path(below + "/signature"));
  return client.post(client.workspace_path(below + "/listSecrets"),
                     {{"expirableSecret", true}, {"expireAfterHours", 1}});
}

}  // namespace

Container container_from(std::string_view signed_url) {
  const std::size_t query = signed_url.find('?');
  Container container{.url = std::string(signed_url.substr(0, query))};
  if (query != std::string_view::npos) container.signature = signed_url.substr(query + 1);
  while (container.url.ends_with('/')) container.url.pop_back();
  return container;
}

std::string blob_url(const Container& container, std::string_view blob) {
  const std::string url = container.url + "/" + percent_encode(blob, true);
  return container.signature.empty() ? url : url + "?" + container.signature;
}

Result<Container> open_datastore(Client& client, const std::string& datastore, Purpose purpose) {
  const std::string path = client.workspace_path("/datastores/" + datastore);
  const json::object resource = TRY(client.get(path));
  const json::object secrets = TRY(secrets_of(client, datastore, purpose));
  const json::object& properties = properties_of(resource);
  const std::string endpoint = text_at(properties, "endpoint");
  std::string host = text_at(properties, "accountName");
  if (!endpoint.empty()) host += ".blob." + endpoint;
  Container container{.url = fmt::format("{}://{}/{}", text_at(properties, "protocol"), host,
                                         text_at(properties, "containerName")),
                      .signature = text_at(secrets, "sasToken")};
  if (container.signature.starts_with('?')) container.signature.erase(0, 1);
  if (container.signature.empty()) {
    return fail(Code::Internal, fmt::format("the server gave no key for '{}'", datastore));
  }
  return container;
}

BlobPage parse_blob_page(std::string_view xml) {
  BlobPage page;
  std::size_t at = 0;
  while (const auto blob = element(xml, "Blob", at)) {
    std::size_t inside = 0;
    BlobEntry entry{.name = without_entities(element(*blob, "Name", inside).value_or(""))};
    const std::string_view size = element(*blob, "Content-Length", inside).value_or("0");
    std::from_chars(size.data(), size.data() + size.size(), entry.size);
    if (!entry.name.empty()) page.blobs.push_back(std::move(entry));
  }
  page.next_marker = without_entities(element(xml, "NextMarker", at).value_or(""));
  return page;
}

Result<std::vector<BlobEntry>> list_blobs(Client& client, const Container& container,
                                          const std::string& prefix) {
  const Endpoint server = TRY(client.endpoint());
  io::HttpClient http({.authority_file = server.authority_file});
  std::vector<BlobEntry> blobs;
  std::string marker;
  do {
    std::string url = fmt::format("{}?restype=container&comp=list&prefix={}&{}", container.url,
                                  percent_encode(prefix), container.signature);
    if (!marker.empty()) url += "&marker=" + percent_encode(marker);
    const io::ClientResponse response = TRY(http.send({.url = url}));
    if (response.status >= 400) return fail(wire::arm::error_from(response.status, response.body));
    BlobPage page = parse_blob_page(response.body);
    marker = page.next_marker;
    std::ranges::move(page.blobs, std::back_inserter(blobs));
  } while (!marker.empty());
  return blobs;
}

}  // namespace berth::cli
