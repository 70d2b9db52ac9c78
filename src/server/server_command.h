// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace berth::server {

/// `berth server [--home DIR] [--port N] …`: runs a server in front. `home` is the default state
/// directory. Returns the exit status: 2 for wrong usage.
int server_main(std::span<const std::string> flags, const std::string& home);

}  // namespace berth::server
