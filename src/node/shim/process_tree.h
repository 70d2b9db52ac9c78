// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "io/process/process.h"

namespace berth::node {

/// Every living process below `ancestor`, itself not counted.
std::vector<io::ProcessIdentity> descendants_of(pid_t ancestor);

/// Every living process of this user that was started with the marker in its environment.
std::vector<io::ProcessIdentity> processes_marked(const std::string& marker);

}  // namespace berth::node
