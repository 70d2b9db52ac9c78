// SPDX-License-Identifier: Apache-2.0
#include "node/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <map>
#include <memory>

#include "base/log.h"
#include "base/version.h"
#include "io/loop.h"
#include "io/offload.h"
#include "io/signals.h"
#include "node/attempt.h"
#include "node/channel.h"
#include "node/lease.h"
#include "node/pace.h"
#include "node/zygote.h"

namespace berth::node {
namespace {

using wire::node::AttemptRef;

constexpr unsigned kThreads = 16;
constexpr std::size_t kMostKeptDirectories = 32;
constexpr const char* kWithdrawn = "its node was taken back by its site";
constexpr Duration kPatienceAfterStop = std::chrono::seconds(2);

/// The process as a whole: which attempts there are, what the server says of them, when to go.
class Agent {
 public:
  Agent(const AgentOptions& options, Zygote& zygote) : options_(options), zygote_(zygote) {}

  void run() {
    loop_.on_signal({SIGTERM, SIGINT}, [this](int) { told_to_end(); });
    loop_.post([this] {
      adopt_attempts();
      channel_.start();
      keep_house();
    });
    {
      const io::SignalMask heard = io::SignalMask::let_through({SIGTERM, SIGINT});
      loop_.run();
    }
    attempts_.clear();
  }

 private:
  void adopt_attempts() {
    for (const std::string& path : find_leavings(options_.work_root)) remove_later(path);
    for (const std::string& directory : find_attempts(options_.work_root)) {
      const AttemptPaths paths(options_.work_root + "/" + directory);
      auto record = read_record<LaunchRecord>(paths.launch);
      if (record && wire::node::attempt_directory(record->launch.attempt) == directory) {
        log::info("taking over '{}'", directory);
        const AttemptRef ref = record->launch.attempt;
        attempts_[ref] = Attempt::adopt(context_, std::move(*record));
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

  void opened() {
    wire::node::Hello hello{.node = options_.id,
                            .version = std::string(kVersion),
                            .slots = options_.slots,
                            .work_root = options_.work_root,
                            .address = options_.address,
                            .ends_at = options_.ends_at,
                            .is_leaving = is_withdrawn_};
    for (const auto& [ref, attempt] : attempts_) {
      if (!attempt->is_forgotten()) hello.attempts.push_back({ref, attempt->phase()});
    }
    lease_.asked(since_boot());
    channel_.send(hello);
    for (const auto& [ref, attempt] : attempts_) attempt->connected();
  }

  void closed() {
    waiting_.clear();  // Not begun, and so repeated by the server on the next connection.
    pace_.reset();
    told_ahead_ = 0;
    for (const auto& [ref, attempt] : attempts_) attempt->disconnected();
  }

  Attempt* find(const AttemptRef& ref) {
    const auto found = attempts_.find(ref);
    return found == attempts_.end() ? nullptr : found->second.get();
  }

  void on(const wire::node::Welcome& message) {
    lease_.welcomed(message.lease);
    if (message.lease && !lease_file_) {
      Result<LeaseFile> made = LeaseFile::make(options_.work_root);
      if (!made) return end(made.error().message);  // Work that nobody could stop is not begun.
      lease_file_ = std::move(*made);
    }
    (void)note_lease();
    beat();
  }

  void on(const wire::node::Launch& message) {
    if (Attempt* known = find(message.attempt)) return known->confirm(message);
    if (is_withdrawn_) {
      return channel_.send(
          wire::node::Ended{.attempt = message.attempt,
                            .outcome = {.ending = model::Ending::Lost, .message = kWithdrawn}});
    }
    forget_waiting(message.attempt);
    waiting_.push_back(message);
    start_waiting();
  }

  /// Those that were told to run and have a slot now.
  void start_waiting() {
    auto at_work = std::ranges::count_if(
        attempts_, [](const auto& entry) { return entry.second->is_at_work(); });
    for (; at_work < options_.slots && !waiting_.empty(); ++at_work) {
      const wire::node::Launch next = std::move(waiting_.front());
      waiting_.pop_front();
      log::debug("launching '{}'", wire::node::attempt_directory(next.attempt));
      attempts_[next.attempt] = Attempt::launch(context_, next);
    }
  }

  bool forget_waiting(const AttemptRef& ref) {
    return std::erase_if(waiting_, [&](const auto& each) { return each.attempt == ref; }) > 0;
  }

  void over(std::optional<Duration> ran) {
    if (ran) pace_.ended(*ran);
    tell_pace();
    loop_.post([this] { start_waiting(); });
  }

  /// When the row of short attempts is over, what waits here may be waiting for long.
  void tell_pace() {
    const int ahead = pace_.ahead();
    if (std::exchange(told_ahead_, ahead) == ahead) return;
    channel_.send(wire::node::WorkAhead{ahead});
    if (ahead > 0 && !looking_) look_at_pace();
    if (ahead == 0) return_waiting();
  }

  void return_waiting() {
    for (const wire::node::Launch& launch : std::exchange(waiting_, {})) {
      channel_.send(wire::node::Returned{launch.attempt});
    }
  }

  void look_at_pace() {
    looking_ = false;
    std::optional<Duration> longest;
    for (const auto& [ref, attempt] : attempts_) {
      const bool is_at_work = attempt->is_at_work();
      const Duration ran = is_at_work ? clock_.now().mono - attempt->began() : Duration(0);
      longest = std::max(longest.value_or(Duration(0)), ran);
    }
    if (longest || waiting_.empty()) pace_.look(longest);
    tell_pace();
    if (told_ahead_ == 0) return;
    looking_ = true;
    loop_.after(kShortAttempt, [this] { look_at_pace(); });
  }

  void on(const wire::node::Go& message) {
    if (Attempt* known = find(message.attempt)) known->go(message);
  }

  void on(const wire::node::LeaseRenewed& message) {
    lease_.renewed(message, since_boot());
    const bool is_unasked = message.heartbeat == 0;
    if (note_lease() && is_unasked) channel_.send(wire::node::LeaseNoted{message.lease});
  }

  void on(const wire::node::Stop& message) {
    if (Attempt* known = find(message.attempt)) return known->stop();
    model::Outcome outcome{.ending = model::Ending::Lost,
                           .message = "this node does not know of it"};
    if (forget_waiting(message.attempt)) outcome = {.ending = model::Ending::Stopped};
    channel_.send(wire::node::Ended{.attempt = message.attempt, .outcome = outcome});
  }

  void on(const wire::node::Forget& message) {
    forget_waiting(message.attempt);
    if (Attempt* known = find(message.attempt)) known->forget();
  }

  void on(const wire::node::LogStored& message) {
    if (Attempt* known = find(message.attempt)) known->log_stored(message.size);
  }

  void on(const wire::node::Leave& message) {
    leave_reason_ = message.reason.empty() ? "told to leave" : message.reason;
    end_if_done();
  }

  /// False: supervisors still go by the deadline before this one.
  bool note_lease() {
    if (!lease_file_) return true;
    const Status noted = lease_file_->set(lease_.deadline());
    if (!noted) log::error("{}", noted.error().message);
    return noted.has_value();
  }

  void beat() {
    if (beat_timer_) loop_.cancel(*beat_timer_);
    beat_timer_.reset();
    const auto interval = lease_.interval();
    if (!interval || !channel_.is_open()) return;
    channel_.send(lease_.beat(since_boot()));
    beat_timer_ = loop_.after(*interval, [this] { beat(); });
  }

  /// The shims have ended what ran. What is left is only worth something if the server still says
  /// so: it is asked anew.
  void check_lease() {
    const bool has_lapsed = lease_.has_lapsed(since_boot());
    if (std::exchange(is_lapsed_, has_lapsed) || !has_lapsed) return;
    log::warning("{}", kLeaseLapsed);
    for (const auto& [ref, attempt] : attempts_) attempt->lease_lapsed();
    channel_.redial();
  }

  void received(const wire::node::ToNode& message) {
    check_lease();  // First: an agent that was suspended finds old messages waiting.
    std::visit([this](const auto& said) { on(said); }, message);
  }

  void gone(const AttemptRef& ref) {
    attempts_.erase(ref);
    end_if_done();
  }

  void end_if_done() {
    if (!waiting_.empty()) return;
    const auto lost_since = channel_.lost_since();
    const bool is_lonely = lost_since && clock_.now().mono - *lost_since >= patience();
    if (attempts_.empty()) {
      if (leave_reason_) return end(*leave_reason_);
      if (is_lonely) end("no server and nothing to do");
      return;
    }
    // Results that no server will take any more: it runs the work anew once the lease has lapsed.
    const bool is_in_vain = is_withdrawn_ ? lost_since.has_value() : is_lapsed_ && is_lonely;
    if (options_.remote && is_in_vain && nothing_runs()) end("no server to report to");
  }

  bool nothing_runs() const {
    return std::ranges::all_of(attempts_, [](const auto& entry) {
      return entry.second->phase() == wire::node::Phase::Finalizing ||
             entry.second->phase() == wire::node::Phase::Ended;
    });
  }

  /// On the server's own machine only the agent goes: shims and jobs wait for the next one. A site
  /// that takes its machine back takes all of it: the jobs are told, and have until it loses
  /// patience (Slurm's KillWait) to end and to be delivered.
  void told_to_end() {
    if (!options_.remote) return end("told to by a signal");
    if (std::exchange(is_withdrawn_, true)) return;
    log::info("told to end by a signal");
    leave_reason_ = "told to by a signal";
    // First: what is over here must not be given to this node again.
    channel_.send(wire::node::Leaving{kWithdrawn});
    return_waiting();
    for (const auto& [ref, attempt] : attempts_) attempt->withdraw(kWithdrawn);
    end_if_done();
  }

  /// A server that crashed comes back soon; one that was stopped has taken its address with it.
  Duration patience() const {
    if (options_.remote) return options_.lonely_after;
    const bool was_stopped = ::access((options_.home + "/server.json").c_str(), F_OK) != 0;
    return was_stopped ? std::min(options_.lonely_after, kPatienceAfterStop)
                       : options_.lonely_after;
  }

  void keep_house() {
    if (::access(options_.work_root.c_str(), F_OK) != 0) {
      for (const auto& [ref, attempt] : attempts_) attempt->kill();
      return end("its directory has vanished");
    }
    check_lease();
    if (told_ahead_ == 0) return_waiting();  // Sent before a new connection, or too early.
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
                    .on_message = [this](const wire::node::ToNode& message) { received(message); },
                    .on_close = [this] { closed(); }}};
  DirectoryPool directories_{options_.work_root, kMostKeptDirectories};
  AttemptContext context_{.loop = loop_,
                          .threads = threads_,
                          .zygote = zygote_,
                          .directories = directories_,
                          .outbox = channel_,
                          .clock = clock_,
                          .work_root = options_.work_root,
                          .address = options_.address,
                          .boot = boot_id(),
                          .authority = options_.remote ? options_.remote->authority_file : "",
                          .may_be_taken = options_.remote.has_value(),
                          .on_over = [this](auto ran) { over(ran); },
                          .on_gone = [this](const AttemptRef& ref) { gone(ref); },
                          .on_broken = [this](std::string_view why) { end(why); }};
  Pace pace_{options_.slots};
  int told_ahead_ = 0;
  bool looking_ = false;                      ///< A timer runs.
  std::deque<wire::node::Launch> waiting_{};  ///< More than we run at once; not begun.
  std::map<AttemptRef, std::unique_ptr<Attempt>> attempts_{};
  std::optional<std::string> leave_reason_{};
  bool is_withdrawn_ = false;
  Lease lease_{};
  std::optional<LeaseFile> lease_file_{};  ///< Once there is a lease.
  std::optional<io::Loop::TimerId> beat_timer_{};
  bool is_lapsed_ = false;
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
  zygote.dismiss_idle();
  return Done{};
}

}  // namespace berth::node
