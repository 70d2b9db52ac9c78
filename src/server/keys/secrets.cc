// SPDX-License-Identifier: Apache-2.0
#include "server/keys/secrets.h"

#include <fmt/format.h>

#include "base/seal.h"
#include "base/text.h"

namespace berth::server {
namespace {

using model::Job;
using model::Secret;
using model::SecretKey;

std::string owner_of(const Job& job) {
  return job.created_by_user.text.empty() ? model::kOwnerName : job.created_by_user.text;
}

/// Names hold no slash, so no two secrets have the same purpose.
std::string sealing_key(const Signer& signer, const SecretKey& key) {
  return signer.derived_key(
      fmt::format("secret/{}/{}/{}", key.workspace.text, key.owner, key.name));
}

/// The user's own comes before a shared one of the same name.
Result<std::optional<Secret>> find(store::Store& store, const Job& job, const std::string& name) {
  std::optional<Secret> own = TRY(store.secrets().find({job.key.workspace, owner_of(job), name}));
  if (own) return own;
  return store.secrets().find({job.key.workspace, model::kSharedSecrets, name});
}

tl::unexpected<Error> refuse(std::string message) {
  return fail(Code::InvalidArgument, std::move(message),
              fmt::format("properties.{}", model::kSecretsProperty));
}

tl::unexpected<Error> too_large() {
  return refuse(
      fmt::format("the secrets of one job may have {} together", human_bytes(kMostSecretBytes)));
}

Status no_secret(store::Store& store, const Job& job, const std::string& name) {
  std::vector<std::string> known;
  for (const std::string& owner : {owner_of(job), std::string(model::kSharedSecrets)}) {
    for (const Secret& secret : TRY(store.secrets().list(job.key.workspace, owner))) {
      known.push_back(secret.key.name);
    }
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const auto meant = nearest(name, candidates);
  return refuse(fmt::format("you have no secret '{}' in this workspace, and none is shared; {}",
                            name,
                            meant ? fmt::format("did you mean '{}'?", *meant)
                                  : fmt::format("'berth secret set {}' makes it", name)));
}

/// Sealed text is base64 of the nonce, the tag and as many bytes as the value has.
std::size_t size_of(const Secret& secret) { return secret.sealed.size() / 4 * 3; }

}  // namespace

std::string secret_owner(const Principal& principal) {
  return principal.kind == Principal::Kind::User ? principal.user.text : model::kOwnerName;
}

std::string seal_secret(const Signer& signer, const SecretKey& key, std::string_view value) {
  return seal(sealing_key(signer, key), value);
}

Status check_secrets(store::Store& store, const Job& job) {
  std::size_t bytes = 0;
  for (const auto& [variable, name] : command_of(job.spec).secrets) {
    const auto secret = TRY(find(store, job, name));
    if (!secret) return no_secret(store, job, name);
    bytes += variable.size() + size_of(*secret);
  }
  if (bytes > kMostSecretBytes) return too_large();
  return Done{};
}

Result<std::map<std::string, std::string>> open_secrets(store::Store& store, const Signer& signer,
                                                        const Job& job) {
  std::map<std::string, std::string> values;
  std::size_t bytes = 0;
  for (const auto& [variable, name] : command_of(job.spec).secrets) {
    const auto secret = TRY(find(store, job, name));
    if (!secret) {
      return fail(Code::NotFound,
                  fmt::format("its secret '{}' was deleted after it was submitted", name));
    }
    Result<std::string> value = unseal(sealing_key(signer, secret->key), secret->sealed);
    if (!value) {
      return fail(Code::Internal,
                  fmt::format("its secret '{}' cannot be read with the key of this installation; "
                              "set it again",
                              name));
    }
    bytes += variable.size() + value->size();
    values[variable] = *std::move(value);
  }
  if (bytes > kMostSecretBytes) return too_large();
  return values;
}

}  // namespace berth::server
