// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/host_runtime.h"

#include <unistd.h>

namespace berth::node {
namespace {

const char* find_shell() { return ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh"; }

}  // namespace

Result<RuntimeRecord> HostRuntime::prepare(const AttemptPaths&, const wire::node::Launch&,
                                           const Watcher&) {
  return RuntimeRecord{};
}

Result<Invocation> HostRuntime::wrap(const RuntimeRecord&, JobCommand command) const {
  return Invocation{.words = {find_shell(), "-c", std::move(command.text)},
                    .working_directory = std::move(command.working_directory),
                    .environment = std::move(command.environment)};
}

Status HostRuntime::clean_up(const AttemptPaths&) { return Done{}; }

Runtime& host_runtime() {
  static HostRuntime host;
  return host;
}

}  // namespace berth::node
