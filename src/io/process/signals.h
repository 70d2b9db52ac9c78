// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <initializer_list>

namespace berth::io {

/// While it lives these signals wait, or are let through, in this thread and in those it starts.
/// One that waits is not lost: it comes when it is let through.
class SignalMask {
 public:
  static SignalMask hold(std::initializer_list<int> signals) { return {SIG_BLOCK, signals}; }
  static SignalMask let_through(std::initializer_list<int> signals) {
    return {SIG_UNBLOCK, signals};
  }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

 private:
  SignalMask(int how, std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    pthread_sigmask(how, &set, &before_);
  }

  sigset_t before_{};
};

}  // namespace berth::io
