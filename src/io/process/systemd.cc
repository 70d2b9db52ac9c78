// SPDX-License-Identifier: Apache-2.0
#include "io/process/systemd.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/text.h"
#include "io/files/file.h"

namespace berth::io {
namespace {

constexpr std::uint64_t kMost = 64 * 1024;

/// Shells below a desktop's terminal have INVOCATION_ID too: it must be ours and not inherited.
bool is_started_by_systemd(const std::map<std::string, std::string>& environment) {
  const auto process = environment.find("SYSTEMD_EXEC_PID");
  if (process != environment.end()) return process->second == std::to_string(::getpid());
  if (!environment.contains("INVOCATION_ID")) return false;  // systemd before 248 sets only this.
  const auto parent = read_file(fmt::format("/proc/{}/comm", ::getppid()), kMost);
  return parent && trim(*parent) == "systemd";
}

}  // namespace

std::string start_command_of_cgroup(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view path = line.substr(line.find_last_of(':') + 1);
    const std::string_view unit = path.substr(path.find_last_of('/') + 1);
    if (!unit.ends_with(".service")) continue;
    const bool is_of_user = path.find("/user@") != std::string_view::npos;
    return fmt::format("systemctl {}start {}", is_of_user ? "--user " : "", to_valid_utf8(unit));
  }
  return "systemctl start";
}

std::optional<std::string> service_start_command(
    const std::map<std::string, std::string>& environment) {
  if (!is_started_by_systemd(environment)) return std::nullopt;
  return start_command_of_cgroup(read_file("/proc/self/cgroup", kMost).value_or(std::string()));
}

void tell_service_manager(const std::string& socket, std::string_view state) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty() || socket.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  if (socket.front() == '@') address.sun_path[0] = '\0';
  const Descriptor sending(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!sending) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  (void)::sendto(sending.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace berth::io
