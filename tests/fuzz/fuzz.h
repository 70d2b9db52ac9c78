// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace berth::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A target looks for more than crashes: what must hold of every input is said with this.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// One input takes 20 seconds of processor time at most; std::clock counts no other.
inline void require_speed(std::clock_t began) {
  require(std::clock() - began < 20 * CLOCKS_PER_SEC, "an input is read in 20 seconds");
}

/// Ends the run when it has had BERTH_FUZZ_SECONDS of processor time, however long it waited for
/// them: a busy machine makes a run longer and not shallower. libFuzzer stops in good order at
/// SIGUSR1.
inline void limit_processor_time() {
  const char* const seconds = std::getenv("BERTH_FUZZ_SECONDS");
  if (seconds == nullptr) return;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer{};
  const itimerspec when{.it_interval = {},
                        .it_value = {.tv_sec = std::atol(seconds), .tv_nsec = 0}};
  require(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0, "there is a timer");
  require(timer_settime(timer, 0, &when, nullptr) == 0, "the timer runs");
}

/// Takes the first line off, for targets that need two texts.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace berth::fuzz

#define FUZZ(input)                                                                   \
  static void fuzz_one(std::string_view input);                                       \
  extern "C" int LLVMFuzzerInitialize(int*, char***) {                                \
    berth::fuzz::limit_processor_time();                                              \
    return 0;                                                                         \
  }                                                                                   \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    const std::clock_t began = std::clock();                                          \
    fuzz_one(berth::fuzz::text_of(data, size));                                       \
    berth::fuzz::require_speed(began);                                                \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_one(std::string_view input)
