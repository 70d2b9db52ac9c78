// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/database/sqlite.h"
#include "store/secrets.h"

namespace berth::store {

class SecretRows final : public SecretReader {
 public:
  explicit SecretRows(Database& reader) : reader_(reader) {}

  Result<std::optional<model::Secret>> find(const model::SecretKey& key) override;
  Result<std::vector<model::Secret>> list(const model::WorkspaceId& workspace,
                                          const std::string& owner) override;

 private:
  Database& reader_;
};

}  // namespace berth::store
