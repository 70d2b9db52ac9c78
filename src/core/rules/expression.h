// SPDX-License-Identifier: Apache-2.0
// ${{inputs.x}} and ${{outputs.y}} in a job's command, and what a job must satisfy to be accepted.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace berth::core {

/// The expressions of a command: "inputs.x", "outputs.y", as often as they occur.
std::vector<std::string_view> references(std::string_view command);

/// Replaces every ${{…}} of a command by what `value_of("inputs.x")` gives, and drops each
/// $[[ … ]] that mentions an unset optional input. Text is inserted as it is, as Azure does.
/// An unknown name is an error that lists the known ones.
Result<std::string> expand(std::string_view command, const model::JobSpec& spec,
                           const std::function<std::string(std::string_view path)>& value_of);

/// A compute target that a job may name, and what it can hold.
struct ComputeChoice {
  std::string name{};
  int max_nodes = 1;
  bool is_one_machine = false;                       ///< Not a cluster of at most one node.
  std::optional<std::chrono::seconds> time_limit{};  ///< Of its nodes, where their site has one.
};

/// Checks everything about a job that can be checked before it runs: its command and names, the
/// references of inputs and outputs, the expressions, limits and resources. The error's target
/// names the field. Returns warnings (a literal with shell metacharacters, a reserved variable, …).
/// `choices` are the compute targets of the workspace.
Result<std::vector<std::string>> validate(const model::JobSpec& spec,
                                          std::span<const ComputeChoice> choices);

/// The environment variables Berth itself sets; a job's own of the same name give way, with a
/// warning.
bool is_reserved_variable(std::string_view name);

}  // namespace berth::core
