// SPDX-License-Identifier: Apache-2.0
#include "node/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <memory>

#include "base/log.h"
#include "base/version.h"
#include "io/loop.h"
#include "io/offload.h"
#include "io/process/signals.h"
#include "node/attempt.h"
#include "node/channel.h"
#include "node/core/agent.h"
#include "node/shim/lease.h"
#include "node/shim/zygote.h"

namespace berth::node {
namespace {

using wire::node::AttemptRef;

constexpr unsigned kThreads = 16;
constexpr unsigned kPreparers = 4;  // Of runtimes: these may take long, transfers must not wait.
constexpr std::size_t kMostKeptDirectories = 32;

core::Settings settings_of(const AgentOptions& options) {
  return {.node = options.id,
          .version = std::string(kVersion),
          .slots = options.slots,
          .work_root = options.work_root,
          .address = options.address,
          .ends_at = options.ends_at,
          .is_remote = options.remote.has_value(),
          .authority = options.remote ? options.remote->authority_file : "",
          .lonely_after = options.lonely_after,
          .housekeeping = options.housekeeping};
}

template <typename Action>
concept OfAttempt = requires(const Action& action) {
  action.attempt;
};

/// The process as a whole: tells node/core what happens, and carries out what it decides.
class Agent {
 public:
  Agent(const AgentOptions& options, Zygote& zygote) : options_(options), zygote_(zygote) {}

  void run() {
    loop_.on_signal({SIGTERM, SIGINT}, [this](int) {
      log::info("told to end by a signal");
      turns_.feed(core::ToldToEnd{});
    });
    loop_.post([this] {
      adopt_attempts();
      channel_.start();
      turns_.feed(core::Started{});
    });
    {
      const io::SignalMask heard = io::SignalMask::let_through({SIGTERM, SIGINT});
      loop_.run();
    }
    attempts_.clear();
  }

 private:
  friend class core::Turns<Agent>;

  core::Moment now() const {
    const Now now = clock_.now();
    return {.mono = now.mono, .wall = now.wall, .since_boot = since_boot()};
  }

  void adopt_attempts() {
    for (const std::string& path : find_leavings(options_.work_root)) remove_later(path);
    for (const std::string& directory : find_attempts(options_.work_root)) {
      const AttemptPaths paths(options_.work_root + "/" + directory);
      auto record = read_record<LaunchRecord>(paths.launch);
      if (record && wire::node::attempt_directory(record->launch.attempt) == directory) {
        log::info("taking over '{}'", directory);
        turns_.feed(add(record->launch.attempt).find(std::move(*record)));
      } else {
        // At once: the server may well say Launch again before it is removed.
        const Result<std::string> aside = set_aside(options_.work_root, directory);
        aside ? remove_later(*aside) : log::warning("{}", aside.error().message);
      }
    }
  }

  void remove_later(const std::string& path) {
    threads_.run([root = options_.work_root, path]() -> io::Offload::Continuation {
      remove_set_aside(root, path);
      return {};
    });
  }

  Attempt& add(const AttemptRef& ref) {
    return *(attempts_[ref] = std::make_unique<Attempt>(context_, ref));
  }

  void gone(const AttemptRef& ref) {
    attempts_.erase(ref);
    turns_.feed(core::Removed{ref});
  }

  // What node/core decides.

  void perform(const core::Send& action) { channel_.send(action.message); }

  void perform(const core::Redial&) { channel_.redial(); }

  void perform(const core::SetTimer& action) {
    perform(core::CancelTimer{action.timer});
    if (action.delay == Duration(0)) {
      return loop_.post([this, timer = action.timer] { turns_.feed(core::TimerFired{timer}); });
    }
    timers_[action.timer] = loop_.after(action.delay, [this, timer = action.timer] {
      timers_.erase(timer);
      turns_.feed(core::TimerFired{timer});
    });
  }

  void perform(const core::CancelTimer& action) {
    const auto found = timers_.find(action.timer);
    if (found == timers_.end()) return;
    loop_.cancel(found->second);
    timers_.erase(found);
  }

  void perform(const core::LookAtHouse&) {
    const auto is_there = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; };
    turns_.feed(core::HouseSeen{
        .has_work_root = is_there(options_.work_root),
        .was_server_stopped = !options_.remote && !is_there(options_.home + "/server.json")});
  }

  void perform(const core::WriteLease& action) {
    core::LeaseWritten written{.for_message = action.for_message};
    if (action.is_first) {
      Result<LeaseFile> made = LeaseFile::make(options_.work_root);
      if (!made) {
        written.not_made = made.error().message;
        return turns_.feed(std::move(written));
      }
      lease_file_ = std::move(*made);
    }
    const Status set = lease_file_->set(action.deadline);
    if (!set) log::error("{}", set.error().message);
    written.is_written = set.has_value();
    turns_.feed(std::move(written));
  }

  void perform(const core::Warn& action) { log::warning("{}", action.text); }

  void perform(const core::End& action) {
    log::info("ending: {}", action.reason);
    loop_.stop();
  }

  void perform(const core::LayOut& action) { add(action.attempt).perform(action); }

  void perform(const OfAttempt auto& action) { attempts_.at(action.attempt)->perform(action); }

  const AgentOptions& options_;
  Zygote& zygote_;
  SystemClock clock_{};
  core::AgentState state_{settings_of(options_)};
  core::Turns<Agent> turns_{state_, *this};
  io::Loop loop_{};
  io::ThreadOffload threads_{loop_, kThreads};
  io::ThreadOffload preparers_{loop_, kPreparers};
  Channel channel_{loop_,
                   clock_,
                   options_,
                   {.on_open = [this] { turns_.feed(core::Connected{}); },
                    .on_message = [this](auto& said) { turns_.feed(core::Heard{said}); },
                    .on_close = [this] { turns_.feed(core::Disconnected{}); }}};
  ServiceWays ways_{loop_, options_.id, [this] { return channel_.find_server(); }};
  DirectoryPool directories_{clock_, options_.work_root, kMostKeptDirectories};
  AttemptContext context_{.loop = loop_,
                          .threads = threads_,
                          .preparers = preparers_,
                          .runtime_of = options_.shims.runtime_of,
                          .zygote = zygote_,
                          .directories = directories_,
                          .ways = ways_,
                          .outbox = channel_,
                          .clock = clock_,
                          .state = state_,
                          .boot = boot_id(),
                          .feed = [this](core::Event event) { turns_.feed(std::move(event)); },
                          .on_gone = [this](const AttemptRef& ref) { gone(ref); }};
  std::map<core::Timer, io::Loop::TimerId> timers_{};
  std::map<AttemptRef, std::unique_ptr<Attempt>> attempts_{};
  std::optional<LeaseFile> lease_file_{};  ///< Once there is a lease.
};

}  // namespace

Status run_agent(const AgentOptions& options) {
  TRY(io::make_directories(options.work_root));
  // Before the lock, so that it does not hold it as well.
  Zygote zygote = TRY(Zygote::start(options.shims));
  const io::FileLock lock = TRY(io::FileLock::try_lock(options.work_root + "/agent.lock"));
  if (!options.identity_file.empty()) {
    TRY(write_record(options.identity_file, TRY(io::identify(::getpid()))));
  }
  log::info("node '{}' starts, with {} slots", options.id.text, options.slots);
  Agent(options, zygote).run();
  zygote.dismiss_idle();
  return Done{};
}

}  // namespace berth::node
