// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts, in every build, when an invariant of our own is broken. Never for what the environment
/// or a user can cause: that is an Error.
#define CHECK(condition, why)                                                                     \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", __FILE__, __LINE__, #condition, why); \
      std::abort();                                                                               \
    }                                                                                             \
  } while (false)
