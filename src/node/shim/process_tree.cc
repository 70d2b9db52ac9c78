// SPDX-License-Identifier: Apache-2.0
#include "node/shim/process_tree.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "node/files/attempt_files.h"

namespace berth::node {

std::vector<io::ProcessIdentity> descendants_of(pid_t ancestor) {
  std::multimap<pid_t, io::ProcessIdentity> children;
  for (const io::ProcessEntry& entry : io::list_processes()) {
    children.emplace(entry.parent, entry.process);
  }
  std::vector<io::ProcessIdentity> found;
  std::vector<pid_t> pending = {ancestor};
  while (!pending.empty()) {
    const auto [first, last] = children.equal_range(pending.back());
    pending.pop_back();
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      pending.push_back(child->second.pid);
    }
    children.erase(first, last);
  }
  return found;
}

std::vector<io::ProcessIdentity> processes_marked(const std::string& marker) {
  const std::string wanted = fmt::format("{}={}", kMarkerVariable, marker);
  std::vector<io::ProcessIdentity> found;
  for (const io::ProcessEntry& entry : io::list_processes()) {
    const auto environment = io::read_file(fmt::format("/proc/{}/environ", entry.process.pid));
    if (!environment) continue;  // Somebody else's.
    const auto variables = split(*environment, '\0');
    if (std::ranges::find(variables, wanted) != variables.end()) found.push_back(entry.process);
  }
  return found;
}

}  // namespace berth::node
