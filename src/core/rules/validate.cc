// SPDX-License-Identifier: Apache-2.0
// What a job must satisfy to be accepted.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "core/controller.h"
#include "core/distribution.h"
#include "core/rules/docker_limits.h"
#include "core/rules/expression.h"
#include "core/service.h"
#include "core/state.h"
#include "model/assets/reference.h"

namespace berth::core {
namespace {

using model::DataMode;
using model::DataType;

constexpr std::size_t kLongestCommand = 64 * 1024;
constexpr std::size_t kLongestName = 255;

/// Exactly what Berth sets by itself, beside the families in kReservedPrefixes.
constexpr std::array<std::string_view, 14> kReserved = {
    "AZUREML_RUN_ID",
    "AZUREML_RUN_TOKEN",
    "AZUREML_RUN_TOKEN_EXPIRY",
    "AZUREML_SERVICE_ENDPOINT",
    "AZUREML_DISCOVERY_SERVICE_ENDPOINT",
    "AZUREML_WORKSPACE_ID",
    "AZUREML_EXPERIMENT_ID",
    "AZUREML_CR_NODE_RANK",
    "AZUREML_PROCESS_NAME",
    "MLFLOW_TRACKING_URI",
    "MLFLOW_TRACKING_TOKEN",
    "MLFLOW_RUN_ID",
    "MLFLOW_EXPERIMENT_NAME",
    "MLFLOW_EXPERIMENT_ID",
};
constexpr std::array<std::string_view, 7> kReservedPrefixes = {
    "AZURE_ML_INPUT_", "AZURE_ML_OUTPUT_", "AZUREML_ARM_", "AZUREML_DATAREFERENCE_",
    "AZ_BATCH_",       "AZ_BATCHAI_",      "BERTH_",
};

tl::unexpected<Error> wrong(std::string target, std::string message) {
  return fail(Code::InvalidArgument, std::move(message), std::move(target));
}

bool holds_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

/// Identifiers joined by dots, which Azure reads as groups of parameters.
Status check_name(const std::string& kind, const std::string& name) {
  const auto parts = split(name, '.');
  if (name.size() <= kLongestName &&
      std::all_of(parts.begin(), parts.end(), model::is_variable_name)) {
    return Done{};
  }
  return wrong(kind, fmt::format("'{}' cannot name one of the {}: use letters, digits and '_', not "
                                 "starting with a digit",
                                 name, kind));
}

Status check_command(const model::JobSpec& spec) {
  const std::string& command = command_of(spec).command;
  if (trim(command).empty()) return wrong("command", "the command is empty");
  if (command.size() > kLongestCommand) {
    return fail(Code::TooLarge,
                fmt::format("the command is longer than {}", human_bytes(kLongestCommand)),
                "command");
  }
  if (holds_nul(command)) return wrong("command", "the command holds a NUL character");
  // value_of is of no interest here: only whether every name is defined.
  TRY(expand(command, spec, [](std::string_view) { return std::string(); }));
  return Done{};
}

bool takes_mode(const model::JobInput& input, DataMode mode) {
  const bool for_tables = mode == DataMode::EvalMount || mode == DataMode::EvalDownload;
  return mode == DataMode::ReadOnlyMount || mode == DataMode::Download ||
         mode == DataMode::Direct || (for_tables && input.type == DataType::MlTable);
}

Status check_input(const std::string& name, const model::JobInput& input) {
  const std::string target = "inputs." + name;
  if (input.type == DataType::Literal) {
    if (holds_nul(input.value)) return wrong(target, "the value holds a NUL character");
    return Done{};
  }
  if (input.mode && !takes_mode(input, *input.mode)) {
    return wrong(target + ".mode", fmt::format("an input of this type cannot have the mode {}",
                                               boost::describe::enum_to_string(*input.mode, "?")));
  }
  const auto reference = model::parse_data_ref(input.uri);
  if (!reference) return wrong(target + ".path", reference.error().message);
  return Done{};
}

Status check_output_place(const std::string& target, const model::JobOutput& output) {
  if (output.uri.empty()) return Done{};
  const auto reference = model::parse_data_ref(output.uri);
  if (!reference) return wrong(target + ".path", reference.error().message);
  if (!std::holds_alternative<model::DatastorePath>(*reference)) {
    return wrong(target + ".path",
                 fmt::format("an output goes to a datastore (azureml://datastores/<name>/paths/…), "
                             "not to '{}'",
                             output.uri));
  }
  return Done{};
}

Status check_output(const std::string& name, const model::JobOutput& output) {
  const std::string target = "outputs." + name;
  if (output.type == DataType::Literal) {
    return wrong(target + ".type", "an output is files: uri_file, uri_folder, mltable or a model");
  }
  const bool takes = !output.mode || *output.mode == DataMode::ReadWriteMount ||
                     *output.mode == DataMode::Upload || *output.mode == DataMode::Direct;
  if (!takes) {
    return wrong(target + ".mode", fmt::format("an output cannot have the mode {}",
                                               boost::describe::enum_to_string(*output.mode, "?")));
  }
  if (!output.asset_name.empty() && !is_resource_name(output.asset_name)) {
    return wrong(target + ".name",
                 fmt::format("'{}' is not a name for an asset", output.asset_name));
  }
  if (!output.asset_version.empty() && !is_resource_name(output.asset_version)) {
    return wrong(target + ".version",
                 fmt::format("'{}' is not a version of an asset", output.asset_version));
  }
  if (!output.asset_version.empty() && output.asset_name.empty()) {
    return wrong(target + ".version", "a version needs a name: the asset to register");
  }
  return check_output_place(target, output);
}

Status check_variables(const model::JobSpec& spec) {
  for (const auto& [name, value] : command_of(spec).environment_variables) {
    if (!model::is_variable_name(name)) {
      return wrong("environment_variables",
                   fmt::format("'{}' cannot name an environment variable: use letters, digits and "
                               "'_', not starting with a digit",
                               name));
    }
    if (holds_nul(value)) {
      return wrong("environment_variables." + name, "the value holds a NUL character");
    }
  }
  return Done{};
}

/// Which there are is for the server to say.
Status check_secrets(const model::JobSpec& spec) {
  const std::string target = fmt::format("properties.{}", model::kSecretsProperty);
  const model::CommandWork& work = command_of(spec);
  for (const auto& [variable, secret] : work.secrets) {
    if (is_reserved_variable(variable)) {
      return wrong(target, fmt::format("'{}' is set by Berth; a secret cannot go there", variable));
    }
    if (work.environment_variables.contains(variable)) {
      return wrong(target, fmt::format("'{}' is both an environment variable of the job and a "
                                       "secret",
                                       variable));
    }
  }
  return Done{};
}

std::string names_of(std::span<const ComputeChoice> choices) {
  std::vector<std::string> names;
  for (const ComputeChoice& choice : choices) names.push_back(choice.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status check_instances(int instances, const ComputeChoice& choice) {
  if (instances < 1) return wrong("resources.instance_count", "instance_count is at least 1");
  if (instances <= choice.max_nodes) return Done{};
  if (choice.is_one_machine) {
    return wrong(
        "resources.instance_count",
        fmt::format("'{}' is one machine; instance_count cannot be {}", choice.name, instances));
  }
  return wrong("resources.instance_count",
               fmt::format("instance_count is {}, but cluster '{}' has at most {} nodes "
                           "(max_instances)",
                           instances, choice.name, choice.max_nodes));
}

Status check_compute(const model::JobSpec& spec, std::span<const ComputeChoice> choices) {
  const bool is_default = spec.compute.empty() || spec.compute == "serverless";
  const std::string name = is_default ? model::kLocalCompute : spec.compute;
  const auto choice = std::ranges::find_if(
      choices, [&](const ComputeChoice& each) { return equals_ignoring_case(each.name, name); });
  if (choice == choices.end()) {
    return wrong("compute", fmt::format("no compute '{}' in this workspace; there is: {}", name,
                                        names_of(choices)));
  }
  TRY(check_instances(command_of(spec).resources.instance_count, *choice));
  if (spec.timeout && choice->time_limit && *spec.timeout > *choice->time_limit) {
    return wrong("limits.timeout",
                 fmt::format("the timeout of {} s is longer than the {} s for which '{}' has its "
                             "nodes",
                             spec.timeout->count(), choice->time_limit->count(), choice->name));
  }
  return Done{};
}

Status check_limits(const model::JobSpec& spec) {
  if (spec.timeout && spec.timeout->count() <= 0) {
    return wrong("limits.timeout", "a timeout is more than 0 seconds");
  }
  if (spec.priority < 1 || spec.priority > 3) {
    return wrong("queue_settings.priority", "a priority is 1 (low), 2 (medium) or 3 (high)");
  }
  const std::string& experiment = spec.experiment_name;
  const bool is_plain = std::none_of(experiment.begin(), experiment.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
  });
  if (experiment.empty() || experiment.size() > kLongestName || !is_plain) {
    return wrong("experiment_name", fmt::format("an experiment's name has 1 to {} characters, none "
                                                "of them a control character",
                                                kLongestName));
  }
  TRY(docker_limits(command_of(spec).resources));
  return Done{};
}

Status check_data(const model::JobSpec& spec) {
  for (const auto& [name, input] : spec.inputs) {
    TRY(check_name("inputs", name));
    TRY(check_input(name, input));
  }
  for (const auto& [name, output] : spec.outputs) {
    TRY(check_name("outputs", name));
    TRY(check_output(name, output));
  }
  const std::string& code_id = command_of(spec).code_id;
  if (code_id.empty()) return Done{};
  const auto code = model::parse_asset_ref(model::AssetKind::Code, code_id);
  if (!code) return wrong("code", code.error().message);
  return Done{};
}

Status check_array(const model::JobSpec& spec) {
  const auto* array = std::get_if<model::ArrayWork>(&spec.work);
  if (array == nullptr) return Done{};
  if (array->first < 0 || array->last < array->first) {
    return wrong("array", "an array has indices from 0 on, and the last is not below the first");
  }
  if (array->last - array->first >= kLongestArray) {
    return wrong("array", fmt::format("an array has at most {} jobs", kLongestArray));
  }
  if (array->at_once < 0) return wrong("array", "at least one job of an array runs at a time");
  return Done{};
}

/// Literals that the command uses and a shell would read more into than was meant.
void warn_of_literals(const model::JobSpec& spec, std::vector<std::string>& warnings) {
  const auto used = references(command_of(spec).command);
  const std::set<std::string_view> paths(used.begin(), used.end());
  for (const auto& [name, input] : spec.inputs) {
    if (input.type != DataType::Literal || !paths.contains("inputs." + name)) continue;
    if (input.value.find_first_of("|&;<>()$`\\\"'*?\n") == std::string::npos) continue;
    warnings.push_back(
        fmt::format("input '{0}' holds characters with a meaning to the shell and is put into the "
                    "command as it is; \"$AZURE_ML_INPUT_{0}\" carries its value safely",
                    name));
  }
}

std::vector<std::string> warnings_of(const model::JobSpec& spec) {
  std::vector<std::string> warnings;
  warn_of_literals(spec, warnings);
  for (const auto& [name, value] : command_of(spec).environment_variables) {
    if (!is_reserved_variable(name)) continue;
    warnings.push_back(
        fmt::format("environment variable '{}' is set by Berth; the job's own is ignored", name));
  }
  return warnings;
}

}  // namespace

bool is_reserved_variable(std::string_view name) {
  if (name == kArrayIndexVariable) return false;  // It stands in the spec of each child.
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() ||
         std::any_of(kReservedPrefixes.begin(), kReservedPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<std::vector<std::string>> validate(const model::JobSpec& spec,
                                          std::span<const ComputeChoice> choices) {
  TRY(check_array(spec));
  TRY(check_command(spec));
  TRY(check_data(spec));
  TRY(check_variables(spec));
  TRY(check_secrets(spec));
  TRY(check_compute(spec, choices));
  TRY(read_distribution(spec));
  TRY(check_limits(spec));
  TRY(validate_service(spec));
  return warnings_of(spec);
}

}  // namespace berth::core
