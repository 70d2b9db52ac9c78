// SPDX-License-Identifier: Apache-2.0
// What a service manager such as systemd and we tell each other.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::io {

/// How people start the service that this process is: "systemctl start berth.service". Nothing when
/// no service manager has started this very process.
std::optional<std::string> service_start_command(
    const std::map<std::string, std::string>& environment);

/// The command for the unit of a line of /proc/self/cgroup.
std::string start_command_of_cgroup(std::string_view text);

/// Tells the manager that listens on NOTIFY_SOCKET ("READY=1"). Nothing happens without one, or
/// when it does not listen: it has its own idea of what to do about silence.
void tell_service_manager(const std::string& socket, std::string_view state);

}  // namespace berth::io
