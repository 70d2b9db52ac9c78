// SPDX-License-Identifier: Apache-2.0
#include "io/loop.h"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/log.h"

namespace berth::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using SignalSet = asio::basic_signal_set<Executor>;

struct Watch {
  Watch(asio::io_context& context, Loop::Work to_call)
      : descriptor(context.get_executor()), work(std::move(to_call)) {}
  // The descriptor is the caller's: let go of it, never close it.
  ~Watch() { stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  void stop() {
    watching = false;
    if (descriptor.is_open()) descriptor.release();
  }

  asio::posix::basic_stream_descriptor<Executor> descriptor;
  Loop::Work work;
  bool watching = true;
};

void await_readable(const std::shared_ptr<Watch>& watch) {
  watch->descriptor.async_wait(asio::posix::descriptor_base::wait_read, [watch](error_code error) {
    if (error || !watch->watching) return;
    watch->work();
    if (watch->watching) await_readable(watch);
  });
}

struct SignalWatch {
  SignalWatch(asio::io_context& context, std::function<void(int)> to_call)
      : signals(context.get_executor()), callback(std::move(to_call)) {}

  SignalSet signals;
  std::function<void(int)> callback;
};

void await_signal(SignalWatch& watch) {
  watch.signals.async_wait([&watch](error_code error, int number) {
    if (error) return;
    watch.callback(number);
    await_signal(watch);
  });
}

}  // namespace

struct Loop::State {
  asio::io_context context{1};
  asio::executor_work_guard<Executor> keep_running{context.get_executor()};
  std::unordered_map<TimerId, Timer> timers{};
  TimerId last_timer = 0;
  std::vector<std::unique_ptr<SignalWatch>> signals{};
  std::map<int, std::shared_ptr<Watch>> watches{};
};

Loop::Loop() : state_(std::make_unique<State>()) {}

Loop::~Loop() {
  // A watch may be kept alive by its own pending wait; release the descriptor now all the same.
  for (auto& [descriptor, watch] : state_->watches) watch->stop();
}

void Loop::post(Work work) { asio::post(state_->context, std::move(work)); }
void Loop::run() {
  state_->context.run();
  state_->context.restart();  // So that it can be run again.
}
void Loop::stop() { state_->context.stop(); }
boost::asio::io_context& Loop::context() { return state_->context; }

Loop::TimerId Loop::after(Duration delay, Work work) {
  const TimerId id = ++state_->last_timer;
  Timer& timer = state_->timers.emplace(id, state_->context.get_executor()).first->second;
  timer.expires_after(delay);
  timer.async_wait([this, id, work = std::move(work)](error_code error) {
    // Gone from the map: cancelled, perhaps when this call was already queued.
    if (error || state_->timers.erase(id) == 0) return;
    work();
  });
  return id;
}

void Loop::cancel(TimerId timer) { state_->timers.erase(timer); }

void Loop::on_signal(std::initializer_list<int> signals, std::function<void(int)> callback) {
  auto watch = std::make_unique<SignalWatch>(state_->context, std::move(callback));
  for (const int number : signals) {
    error_code error;
    watch->signals.add(number, error);
    if (error) log::error("cannot watch signal {}: {}", number, error.message());
  }
  await_signal(*watch);
  state_->signals.push_back(std::move(watch));
}

void Loop::watch_readable(int descriptor, Work work) {
  unwatch(descriptor);
  auto watch = std::make_shared<Watch>(state_->context, std::move(work));
  error_code error;
  watch->descriptor.assign(descriptor, error);
  if (error) {
    log::error("cannot watch descriptor {}: {}", descriptor, error.message());
    return;
  }
  state_->watches[descriptor] = watch;
  await_readable(watch);
}

void Loop::unwatch(int descriptor) {
  const auto found = state_->watches.find(descriptor);
  if (found == state_->watches.end()) return;
  found->second->stop();
  state_->watches.erase(found);
}

}  // namespace berth::io
