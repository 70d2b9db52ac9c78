// SPDX-License-Identifier: Apache-2.0
// How much may be hung on one thing. Every change of a tag writes the whole of what bears it, so
// this is what one such change may cost.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::model {

/// Of a job: its tags, properties and description.
inline constexpr std::size_t kMostLabelBytes = 256 * 1024;
/// Of a registered or logged model, a version, an experiment: its tags. MLflow's may be longer.
inline constexpr std::size_t kMostTagBytes = 1024 * 1024;

inline std::size_t bytes_of(const std::map<std::string, std::string>& labels) {
  constexpr std::size_t kOfEach = 32;
  std::size_t bytes = 0;
  for (const auto& [name, value] : labels) bytes += name.size() + value.size() + kOfEach;
  return bytes;
}

/// `what` as in "the tags of run 'x'".
inline Status check_room(std::size_t bytes, std::size_t most, std::string_view what) {
  if (bytes <= most) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("{} would be {} KiB, and at most {} KiB are kept; files of any size can "
                          "be logged as artifacts",
                          what, (bytes + 1023) / 1024, most / 1024),
              "tags");
}

}  // namespace berth::model
