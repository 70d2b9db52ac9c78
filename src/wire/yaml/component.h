// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/assets/asset.h"
#include "wire/yaml/document.h"
#include "wire/yaml/job.h"

namespace berth::wire::yaml {

/// A component's file; `code` and an inline environment must be uploaded first, their addresses go
/// into body.componentSpec.
struct ComponentFile {
  model::Asset asset{};
  std::optional<LocalPath> code{};
  EnvironmentSpec environment{};
};

/// Reads a command component (also without `type`). Other types of Azure ML are refused as not
/// supported yet, anything else as unknown.
Result<ComponentFile> component_from_yaml(const Node& root, const std::string& base_directory);

}  // namespace berth::wire::yaml
