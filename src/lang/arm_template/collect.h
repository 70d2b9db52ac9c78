// SPDX-License-Identifier: Apache-2.0
// Finds the resources of a template: copies written out, children with their parents' names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lang/arm_template/plan.h"

namespace berth::lang::arm_template {

struct Collected {
  std::vector<PlannedResource> resources{};  ///< As they stand in the template.
  /// All that `dependsOn` may call them, in lower case: ids, names, "type/name", the names of
  /// copies, symbolic names. What is left out because its condition is false has no index.
  std::map<std::string, std::vector<std::size_t>> names{};
};

/// Unknown types, broken names and resources that are made twice are errors.
Result<Collected> collect_resources(const json::object& definition, Evaluator& evaluator);

/// What `dependsOn` says, the parent, and what its properties refer to.
Status note_dependencies(const Collected& collected, PlannedResource& resource,
                         Evaluator& evaluator, const std::set<std::string>& references);

/// The value of an output, or what its `copy` makes.
Result<json::value> output_value(Evaluator& evaluator, const json::object& declared,
                                 const Frame& frame, const std::string& path);

}  // namespace berth::lang::arm_template
