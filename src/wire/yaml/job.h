// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/assets/asset.h"
#include "model/job.h"
#include "model/workspace.h"
#include "wire/yaml/document.h"

namespace berth::wire::yaml {

/// A local file or folder that must be uploaded before the job can be submitted.
struct LocalPath {
  std::string path{};  ///< Absolute, or as it was when it is not a path of this machine.
  Mark mark{};
};

/// An environment as YAML has it: a reference, or an inline definition for an anonymous one.
struct EnvironmentSpec {
  std::string reference{};  ///< "azureml:…"; empty when inline.
  std::optional<model::Asset>
      inline_{};  ///< body in ARM's names; local conda files already read in.
  std::optional<LocalPath> build_context{};  ///< Folder to upload; body.build lacks its contextUri.
};

/// A job file, checked, with what still has to be uploaded. `job.spec->inputs[x].uri` is empty for
/// an input listed in `input_paths`.
struct JobFile {
  model::Job job{};  ///< key.name may be empty: the caller chooses one.
  std::optional<LocalPath> code_path{};
  std::map<std::string, LocalPath> input_paths{};
  EnvironmentSpec environment{};
  LocalPath compute{};  ///< `compute` as it was written, where it is; the job has the name alone.
};

/// Reads a command job (also without `type`). Other job types of Azure ML are refused as not
/// supported yet, anything else as unknown. Relative paths resolve against `base_directory` and
/// must exist. An environment given by reference is also in the command's `environment_id`, as it
/// was written. What has no meaning here (resources.locations, …) is left out with a line in
/// `job.warnings`.
Result<JobFile> job_from_yaml(const Node& root, const std::string& base_directory);

/// What `az ml job show` prints: snake_case, in its order.
boost::json::object job_view(const model::Job& job, const model::Workspace& workspace,
                             const boost::json::object& resource);

}  // namespace berth::wire::yaml
