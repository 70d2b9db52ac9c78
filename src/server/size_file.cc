// SPDX-License-Identifier: Apache-2.0
#include "server/size_file.h"

#include <filesystem>

#include "base/text.h"
#include "wire/yaml/compute.h"

namespace berth::server {

Result<model::SizeCatalogue> load_sizes(const std::string& home, const std::string& file) {
  model::SizeCatalogue sizes = model::built_in_sizes();
  const std::string path = file.empty() ? home + "/sizes.yml" : file;
  std::error_code failed;
  if (file.empty() && !std::filesystem::exists(path, failed)) return sizes;
  const wire::yaml::Node root = TRY(wire::yaml::load(path));
  for (model::VmSize& size : TRY(wire::yaml::sizes_from_yaml(root))) {
    sizes[to_lower(size.name)] = std::move(size);
  }
  return sizes;
}

}  // namespace berth::server
