// SPDX-License-Identifier: Apache-2.0
#include "model/target_id.h"

namespace berth::model {

std::string record_text(const TargetId& target) {
  const ComputeKey& compute = target.compute;
  return compute.workspace.text.empty() ? compute.name
                                        : compute.workspace.text + "/" + compute.name;
}

void read_record_text(std::string_view text, TargetId& target) {
  const std::size_t slash = text.find('/');
  const bool is_built_in = slash == std::string_view::npos;
  target.compute.workspace.text = is_built_in ? "" : text.substr(0, slash);
  target.compute.name = is_built_in ? text : text.substr(slash + 1);
}

}  // namespace berth::model
