// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "wire/arm/envelope.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {

// Clients address blobs as https://{accountName}.blob.{storage endpoint}/{container}/…, where the
// storage endpoint comes from our cloud metadata. An account "name" with a host, a port and a path
// in it turns that into a path below our own port; the endpoint here is therefore left empty.
json::object to_json(const model::Datastore& datastore, const model::Workspace& workspace,
                     const Addresses& addresses) {
  const auto scheme_end = addresses.base_url.find("://");
  const bool has_scheme = scheme_end != std::string::npos;
  const std::string host =
      has_scheme ? addresses.base_url.substr(scheme_end + 3) : addresses.base_url;
  const std::string name(datastore.name);
  json::object resource = envelope(fmt::format("{}/datastores/{}", model::arm_id(workspace), name),
                                   name, "/datastores");
  resource["properties"] = {
      {"datastoreType", "AzureBlob"},
      {"accountName", fmt::format("{}/blob/{}", host, workspace.id.text)},
      {"containerName", datastore.container},
      {"endpoint", ""},
      {"protocol", has_scheme ? addresses.base_url.substr(0, scheme_end) : "https"},
      {"credentials", {{"credentialsType", "Sas"}}},
      {"isDefault", datastore.is_default},
      {"serviceDataAccessAuthIdentity", "None"},
      {"description", nullptr},
      {"tags", json::object()},
      {"properties", json::object()},
  };
  resource["systemData"] = system_data(workspace.created_at, workspace.created_at, "");
  return resource;
}

}  // namespace berth::wire::arm
