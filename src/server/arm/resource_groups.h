// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/template_deployment.h"
#include "server/arm/template_deployments.h"

namespace berth::server {

/// A group is there when it was made, or as long as a workspace is in it: then its location is that
/// of the first one.
Result<std::vector<model::ResourceGroup>> groups_of(Services& services,
                                                    const std::string& subscription);
Result<std::optional<model::ResourceGroup>> find_group(Services& services,
                                                       const std::string& subscription,
                                                       const std::string& name);
/// "local" when there is no such group.
std::string location_of(Services& services, const DeploymentName& name);

}  // namespace berth::server
