// SPDX-License-Identifier: Apache-2.0
#include "server/arm/pending_upload.h"

#include "base/random.h"
#include "model/datastore.h"
#include "server/keys/signer.h"

namespace berth::server {
namespace {

constexpr auto kUploadTime = std::chrono::hours(24);

std::string storage_account_id(const model::Workspace& workspace) {
  return fmt::format(
      "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Storage/storageAccounts/{}",
      workspace.subscription, workspace.resource_group, workspace.id.text);
}

}  // namespace

Result<io::Reply> start_pending_upload(Call& call) {
  TRY(json_body(call, true));
  const model::Workspace& workspace = *call.workspace;
  const std::string id = random_uuid();
  const std::string container(model::kDatastores[0].container);
  const std::string folder = "PendingUpload/" + id;
  const std::string uri =
      fmt::format("{}/blob/{}/{}/{}", call.base_url(), workspace.id.text, container, folder);
  const std::string signature =
      call.sign({.workspace = workspace.id,
                 .container = container,
                 .prefix = folder,
                 .permissions = "racwdl",
                 .expires_at = call.services.clock.now().wall + kUploadTime});
  return json_reply(
      200, {{"pendingUploadId", id},
            {"pendingUploadType", "TemporaryBlobReference"},
            {"blobReferenceForConsumption",
             {{"blobUri", uri},
              {"storageAccountArmId", storage_account_id(workspace)},
              {"credential", {{"credentialType", "SAS"}, {"sasUri", uri + "?" + signature}}}}}});
}

}  // namespace berth::server
