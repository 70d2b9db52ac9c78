// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "cli/place.h"

namespace berth::cli {

/// Where code comes from, as job properties: mlflow.source.git.{repoURL,branch,commit}, read from
/// the repository's own files, and azureml.git.dirty, which git itself is asked for. AZUREML_GIT_*
/// variables win. Empty outside a repository. Credentials in an address are left out.
std::map<std::string, std::string> git_facts(const std::string& directory, const Place& place);

}  // namespace berth::cli
