// SPDX-License-Identifier: Apache-2.0
// What a state directory may hold; docs/tour.md lists what it is for.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "io/files/private_directory.h"

namespace berth::io {

/// For the server that opens it, and for a command that is about to start one.
inline PrivateDirectory state_directory(std::string home) {
  static constexpr std::string_view kKnown[] = {
      "logs", "lock", "start.lock", "server.yml", "last-start.yml", "sizes.yml", "job-users.yml"};
  static constexpr std::string_view kOpen[] = {"ca.pem"};
  static constexpr std::string_view kShallow[] = {"nodes"};  // Below are files of jobs.
  return {.path = std::move(home),
          .mark = "installation.id",
          .known = kKnown,
          .open = kOpen,
          .shallow = kShallow};
}

}  // namespace berth::io
