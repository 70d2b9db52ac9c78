// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/database/sqlite.h"
#include "store/deployments.h"

namespace berth::store {

class DeploymentRows final : public DeploymentReader {
 public:
  explicit DeploymentRows(Database& reader) : reader_(reader) {}

  Result<std::optional<model::TemplateDeployment>> find(const std::string& subscription,
                                                        const std::string& resource_group,
                                                        const std::string& name) override;
  Result<Page<model::TemplateDeployment>> list(const DeploymentQuery& query) override;
  Result<std::vector<model::DeploymentOperation>> operations(
      const std::string& deployment) override;
  Result<std::vector<model::ResourceGroup>> groups() override;

 private:
  Database& reader_;
};

}  // namespace berth::store
