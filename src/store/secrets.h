// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/secret.h"

namespace berth::store {

/// Makes it, or replaces what is there. Those of a user go with the user, all with the workspace.
struct PutSecret {
  model::Secret secret;
};
struct DeleteSecret {
  model::SecretKey key;
};

/// The secrets that are on disk, sealed.
class SecretReader {
 public:
  virtual ~SecretReader() = default;
  virtual Result<std::optional<model::Secret>> find(const model::SecretKey& key) = 0;
  /// Of one owner in the workspace, by name.
  virtual Result<std::vector<model::Secret>> list(const model::WorkspaceId& workspace,
                                                  const std::string& owner) = 0;
};

}  // namespace berth::store
