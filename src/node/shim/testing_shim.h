// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "node/files/attempt_files.h"
#include "node/shim/zygote.h"

namespace berth::node {

/// A shim that has begun the attempt, or has decided not to, and has no agent any more.
inline io::ProcessIdentity launch_without_agent(Zygote& zygote, const AttemptPaths& paths) {
  const auto shim = zygote.launch({.directory = paths.directory});
  EXPECT_TRUE(shim);
  if (!shim) return {};
  pollfd over{shim->fd(), POLLIN, 0};
  while (::access(paths.shim.c_str(), F_OK) != 0 && ::poll(&over, 1, 5) == 0) {
  }
  return shim->process();
}

}  // namespace berth::node
