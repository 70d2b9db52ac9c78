// SPDX-License-Identifier: Apache-2.0
// A folder that was restored from an earlier attempt, and that other members restored as well: only
// what the command wrote is sent back, or one member's old copy would replace another's new one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"
#include "node/files/attempt_files.h"

namespace berth::node {

/// Right before the command starts. May wait for some milliseconds: until file times tell what was
/// there before from what comes now.
Status mark_start(const AttemptPaths& paths);

/// Leaves out what was in the folder before mark_start() and has not been touched since;
/// everything, when nothing was ever started.
void keep_changed(const AttemptPaths& paths, const std::string& folder,
                  std::vector<io::FileEntry>& files);

}  // namespace berth::node
