// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace berth::sim {

struct RunOptions {
  std::uint64_t from = 1;
  std::uint64_t to = 1000;  ///< Inclusive.
  bool shows_journal = false;
};

/// "--seed N", "--seeds FROM..TO", "--count N".
Result<RunOptions> read_options(std::span<const char* const> words);

}  // namespace berth::sim
