// SPDX-License-Identifier: Apache-2.0
// ${{…}} and $[[…]] in a command.

#include "core/rules/expression.h"

#include "fuzz.h"

using namespace berth;

FUZZ(input) {
  model::JobSpec spec;
  command_of(spec).command = input;
  spec.inputs["x"] = {};
  spec.outputs["y"] = {};
  for (const std::string_view reference : core::references(input)) {
    fuzz::require(reference.size() <= input.size(), "a reference is a part of the command");
  }
  // Values that look like expressions are text: nothing of them is replaced again.
  const auto value_of = [](std::string_view) { return std::string("${{inputs.x}}"); };
  (void)core::expand(input, spec, value_of);
  const core::ComputeChoice choices[] = {{.name = "local"}};
  (void)core::validate(spec, choices);
}
