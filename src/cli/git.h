// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "cli/place.h"

namespace berth::cli {

/// Where code comes from, as job properties: mlflow.source.git.{repoURL,branch,commit}. Read from
/// the repository's own files, no git needed; AZUREML_GIT_* variables win. Empty outside a
/// repository. Credentials in an address are left out. Whether files were changed is not looked at.
std::map<std::string, std::string> git_facts(const std::string& directory, const Place& place);

}  // namespace berth::cli
