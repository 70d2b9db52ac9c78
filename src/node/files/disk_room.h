// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::node {

/// "the disk of its node (24.0 MiB)" when a job finds no room there any more; else empty.
std::string full_disk(const std::string& directory);
/// The same, whether or not there is room now.
std::string name_of_disk(const std::string& directory);

/// Whether what lies below the directory is so much of its disk that removing it is likely to help.
/// Looks at every file, so only for when there is no room.
bool holds_much_of_its_disk(const std::string& directory);

}  // namespace berth::node
