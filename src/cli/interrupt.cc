// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <optional>

#include "base/clock.h"

namespace berth::cli {
namespace {

constexpr std::chrono::milliseconds kAtOnce{300};

}  // namespace

InterruptWatch::InterruptWatch(std::function<void(int)> interrupted)
    : interrupted_(std::move(interrupted)) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGINT);
  sigaddset(&watched, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &watched, &before_);
  signals_ = io::Descriptor(signalfd(-1, &watched, SFD_CLOEXEC));
  ending_ = io::Descriptor(eventfd(0, EFD_CLOEXEC));
  // Made now, not before: its thread inherits the mask.
  thread_ = std::make_unique<io::ThreadOffload>(unused_, 1);
  thread_->run([this]() -> io::Offload::Continuation {
    watch();
    return {};
  });
}

InterruptWatch::~InterruptWatch() {
  const std::uint64_t one = 1;
  (void)!write(ending_.get(), &one, sizeof one);
  thread_.reset();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void InterruptWatch::watch() {
  std::optional<TimePoint> last;
  for (;;) {
    pollfd waiting[] = {{signals_.get(), POLLIN, 0}, {ending_.get(), POLLIN, 0}};
    if (poll(waiting, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if ((waiting[0].revents & POLLIN) != 0) {
      signalfd_siginfo signal{};
      const TimePoint now = SystemClock().now().mono;
      const bool is_new = !last || now - *last > kAtOnce;
      last = now;
      const bool is_read = read(signals_.get(), &signal, sizeof signal) == sizeof signal;
      if (is_read && is_new) interrupted_(++count_);
    }
    if (waiting[1].revents != 0) return;
  }
}

}  // namespace berth::cli
