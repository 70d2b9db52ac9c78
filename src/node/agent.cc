// SPDX-License-Identifier: Apache-2.0
#include "node/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>

#include "base/log.h"
#include "base/version.h"
#include "io/loop.h"
#include "io/offload.h"
#include "node/attempt.h"
#include "node/channel.h"
#include "node/zygote.h"

namespace berth::node {
namespace {

using wire::node::AttemptRef;

constexpr unsigned kThreads = 16;
constexpr Duration kPatienceAfterStop = std::chrono::seconds(2);

/// The process as a whole: which attempts there are, what the server says of them, when to go.
class Agent {
 public:
  Agent(const AgentOptions& options, Zygote& zygote) : options_(options), zygote_(zygote) {}

  void run() {
    loop_.on_signal({SIGTERM, SIGINT}, [this](int) { end("told to by a signal"); });
    loop_.post([this] {
      adopt_attempts();
      channel_.start();
      keep_house();
    });
    loop_.run();
    attempts_.clear();
  }

 private:
  void adopt_attempts() {
    for (const std::string& directory : find_attempts(options_.work_root)) {
      const AttemptPaths paths(options_.work_root + "/" + directory);
      auto record = read_record<LaunchRecord>(paths.launch);
      if (record && wire::node::attempt_directory(record->launch.attempt) == directory) {
        log::info("taking over '{}'", directory);
        const AttemptRef ref = record->launch.attempt;
        attempts_[ref] = Attempt::adopt(context_, std::move(*record));
      } else {
        threads_.run([root = options_.work_root, directory]() -> io::Offload::Continuation {
          remove_attempt(root, directory);
          return {};
        });
      }
    }
  }

  void opened() {
    wire::node::Hello hello{.node = options_.id,
                            .version = std::string(kVersion),
                            .slots = options_.slots,
                            .work_root = options_.work_root};
    for (const auto& [ref, attempt] : attempts_) {
      if (!attempt->is_forgotten()) hello.attempts.push_back({ref, attempt->phase()});
    }
    channel_.send(hello);
    for (const auto& [ref, attempt] : attempts_) attempt->connected();
  }

  void closed() {
    for (const auto& [ref, attempt] : attempts_) attempt->disconnected();
  }

  Attempt* find(const AttemptRef& ref) {
    const auto found = attempts_.find(ref);
    return found == attempts_.end() ? nullptr : found->second.get();
  }

  void on(const wire::node::Welcome&) {}

  void on(const wire::node::Launch& message) {
    if (Attempt* known = find(message.attempt)) return known->confirm(message);
    log::info("launching '{}'", wire::node::attempt_directory(message.attempt));
    attempts_[message.attempt] = Attempt::launch(context_, message);
  }

  void on(const wire::node::Stop& message) {
    if (Attempt* known = find(message.attempt)) return known->stop();
    channel_.send(wire::node::Ended{
        .attempt = message.attempt,
        .outcome = {.ending = model::Ending::Lost, .message = "this node does not know of it"}});
  }

  void on(const wire::node::Forget& message) {
    if (Attempt* known = find(message.attempt)) known->forget();
  }

  void on(const wire::node::LogStored& message) {
    if (Attempt* known = find(message.attempt)) known->log_stored(message.size);
  }

  void on(const wire::node::Leave& message) {
    leave_reason_ = message.reason.empty() ? "told to leave" : message.reason;
    end_if_done();
  }

  void gone(const AttemptRef& ref) {
    attempts_.erase(ref);
    end_if_done();
  }

  void end_if_done() {
    if (!attempts_.empty()) return;
    if (leave_reason_) return end(*leave_reason_);
    const auto lost_since = channel_.lost_since();
    if (lost_since && clock_.now().mono - *lost_since >= patience()) {
      end("no server and nothing to do");
    }
  }

  /// A server that crashed comes back soon; one that was stopped has taken its address with it.
  Duration patience() const {
    const bool was_stopped = ::access((options_.home + "/server.json").c_str(), F_OK) != 0;
    return was_stopped ? std::min(options_.lonely_after, kPatienceAfterStop)
                       : options_.lonely_after;
  }

  void keep_house() {
    if (::access(options_.work_root.c_str(), F_OK) != 0) {
      for (const auto& [ref, attempt] : attempts_) attempt->kill();
      return end("its directory has vanished");
    }
    end_if_done();
    loop_.after(options_.housekeeping, [this] { keep_house(); });
  }

  /// Whatever is under way, shims and their jobs go on, and the next agent takes it up.
  void end(std::string_view why) {
    log::info("ending: {}", why);
    loop_.stop();
  }

  const AgentOptions& options_;
  Zygote& zygote_;
  SystemClock clock_{};
  io::Loop loop_{};
  io::ThreadOffload threads_{loop_, kThreads};
  Channel channel_{loop_,
                   clock_,
                   options_,
                   {.on_open = [this] { opened(); },
                    .on_message =
                        [this](const wire::node::ToNode& message) {
                          std::visit([this](const auto& said) { on(said); }, message);
                        },
                    .on_close = [this] { closed(); }}};
  AttemptContext context_{.loop = loop_,
                          .threads = threads_,
                          .zygote = zygote_,
                          .outbox = channel_,
                          .clock = clock_,
                          .work_root = options_.work_root,
                          .boot = boot_id(),
                          .on_gone = [this](const AttemptRef& ref) { gone(ref); },
                          .on_broken = [this](std::string_view why) { end(why); }};
  std::map<AttemptRef, std::unique_ptr<Attempt>> attempts_{};
  std::optional<std::string> leave_reason_{};
};

}  // namespace

Status run_agent(const AgentOptions& options) {
  TRY(io::make_directories(options.work_root));
  Zygote zygote = TRY(Zygote::start());  // Before the lock, so that it does not hold it as well.
  const io::FileLock lock = TRY(io::FileLock::try_lock(options.work_root + "/agent.lock"));
  if (!options.identity_file.empty()) {
    TRY(write_record(options.identity_file, TRY(io::identify(::getpid()))));
  }
  log::info("node '{}' starts, with {} slots", options.id.text, options.slots);
  Agent(options, zygote).run();
  return Done{};
}

}  // namespace berth::node
