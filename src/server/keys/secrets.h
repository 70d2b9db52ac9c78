// SPDX-License-Identifier: Apache-2.0
// What jobs may know and nobody may see (docs/decisions/0037).
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "model/job.h"
#include "model/secret.h"
#include "server/keys/principal.h"
#include "server/keys/signer.h"
#include "store/store.h"

namespace berth::server {

inline constexpr std::size_t kLongestSecret = 32 * 1024;
inline constexpr std::size_t kMostSecretBytes = 64 * 1024;  ///< Of one job, all together.
inline constexpr std::size_t kMostSecrets = 200;            ///< Of one owner in a workspace.

/// Whose secrets they set: a user's id never becomes another's, as a name may.
std::string secret_owner(const Principal& principal);

/// Of no use without the installation's key, nor in the place of another secret.
std::string seal_secret(const Signer& signer, const model::SecretKey& key, std::string_view value);

/// Is there each one that the job asks for, of its user or shared? The error says which is not, and
/// what may have been meant.
Status check_secrets(store::Store& store, const model::Job& job);

/// Their values as they are now, by the variables they go into. The error names the one that is
/// gone.
Result<std::map<std::string, std::string>> open_secrets(store::Store& store, const Signer& signer,
                                                        const model::Job& job);

}  // namespace berth::server
