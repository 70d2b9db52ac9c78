// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "store/deployments.h"
#include "store/fake_rows.h"

namespace berth::store {

/// Finds deployments in rows of memory. Resource groups are not kept there.
class FakeDeployments final : public DeploymentReader {
 public:
  /// Before each look: a store in memory is copied, and its rows with it.
  FakeDeployments& over(const FakeRows& rows) {
    rows_ = &rows;
    return *this;
  }

  Result<std::optional<model::TemplateDeployment>> find(const std::string& subscription,
                                                        const std::string& resource_group,
                                                        const std::string& name) override {
    return rows_->find<model::TemplateDeployment>(
        model::deployment_key(subscription, resource_group, name));
  }
  Result<Page<model::TemplateDeployment>> list(const DeploymentQuery& query) override {
    return Page<model::TemplateDeployment>(rows_->deployments(query));
  }
  Result<std::vector<model::DeploymentOperation>> operations(
      const std::string& deployment) override {
    return rows_->operations(deployment);
  }
  Result<std::vector<model::ResourceGroup>> groups() override {
    return std::vector<model::ResourceGroup>{};
  }

 private:
  const FakeRows* rows_ = nullptr;
};

}  // namespace berth::store
