// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth::io {

/// Which start of this machine since_boot() counts from; empty where the kernel does not say.
std::string boot_id();

}  // namespace berth::io
