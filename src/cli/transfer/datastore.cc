// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/datastore.h"

#include <algorithm>

#include "base/text.h"
#include "wire/arm/error.h"

namespace berth::cli {

using wire::blob::Container;
using wire::blob::ListedBlob;

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

Result<json::object> secrets_of(Client& client, const std::string& datastore, Purpose purpose) {
  const std::string below = "/datastores/" + datastore;
  if (purpose == Purpose::Read) return client.get(client.berth_path(below + "/signature"));
  return client.post(client.workspace_path(below + "/listSecrets"),
                     {{"expirableSecret", true}, {"expireAfterHours", 1}});
}

}  // namespace

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

Result<std::vector<ListedBlob>> list_blobs(Client& client, const Container& container,
                                           const std::string& prefix) {
  const Endpoint server = TRY(client.endpoint());
  io::HttpClient http({.authority_file = server.authority_file});
  std::vector<ListedBlob> blobs;
  std::string marker;
  do {
    const std::string url = wire::blob::list_url(container, prefix, marker);
    const io::ClientResponse response = TRY(http.send({.url = url}));
    if (response.status >= 400) return fail(wire::arm::error_from(response.status, response.body));
    wire::blob::ListedPage page = TRY(wire::blob::listing_from_json(response.body));
    marker = std::move(page.next);
    std::ranges::move(page.blobs, std::back_inserter(blobs));
  } while (!marker.empty());
  return blobs;
}

}  // namespace berth::cli
