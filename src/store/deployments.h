// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/template_deployment.h"
#include "store/page.h"

namespace berth::store {

struct PutResourceGroup {
  model::ResourceGroup group;
};
struct DeleteResourceGroup {
  model::ResourceGroup group;
};

struct DeploymentQuery {
  std::string subscription{};
  std::string resource_group{};
  std::size_t skip = 0;  ///< Newest first.
  std::size_t limit = 50;
};

/// What is on disk of deployments and resource groups. Names match in any case.
class DeploymentReader {
 public:
  virtual ~DeploymentReader() = default;
  virtual Result<std::optional<model::TemplateDeployment>> find(const std::string& subscription,
                                                                const std::string& resource_group,
                                                                const std::string& name) = 0;
  virtual Result<Page<model::TemplateDeployment>> list(const DeploymentQuery& query) = 0;
  /// By number.
  virtual Result<std::vector<model::DeploymentOperation>> operations(
      const std::string& deployment) = 0;
  virtual Result<std::vector<model::ResourceGroup>> groups() = 0;
};

}  // namespace berth::store
