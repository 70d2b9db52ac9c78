// SPDX-License-Identifier: Apache-2.0
// What an agent does for a service that runs.
#include "node/attempt.h"
#include "node/probe.h"

namespace berth::node {

void Attempt::perform(const core::ProbeService& action) {
  context_.threads.run([this, still = std::weak_ptr<int>(alive_), port = action.port,
                        probe = launch().service->probe]() -> io::Offload::Continuation {
    const bool is_good = probe_service(probe, port).has_value();
    return [this, still, is_good] {
      if (!still.expired()) context_.feed(core::Probed{ref_, is_good});
    };
  });
}

void Attempt::perform(const core::OpenWay& action) {
  context_.ways.open(ref_, static_cast<std::uint16_t>(action.port));
}

void Attempt::perform(const core::CloseWay&) { context_.ways.close(ref_); }

}  // namespace berth::node
