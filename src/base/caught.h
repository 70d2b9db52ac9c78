// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <type_traits>

#include "base/log.h"
#include "base/result.h"

namespace berth {

/// Runs the work for one request. Our own functions do not throw, but libraries and the allocator
/// may: then that request fails, and nobody else's. The log says what it was; `during` is a text,
/// or a function that makes one when it is needed.
template <typename During, typename Work>
auto caught(const During& during, const Work& work) {
  using Outcome = std::invoke_result_t<Work>;
  const auto blame = [&](const std::exception& thrown) {
    if constexpr (std::is_invocable_v<During>) {
      log::error("{} failed: {}", during(), thrown.what());
    } else {
      log::error("{} failed: {}", during, thrown.what());
    }
    return fail(Code::Internal, "an internal error; the log of the server says more");
  };
  if constexpr (std::is_void_v<Outcome>) {
    try {
      work();
    } catch (const std::exception& thrown) {
      return Status(blame(thrown));
    }
    return Status(Done{});
  } else {
    try {
      return work();
    } catch (const std::exception& thrown) {
      return Outcome(blame(thrown));
    }
  }
}

}  // namespace berth
