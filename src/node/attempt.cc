// SPDX-License-Identifier: Apache-2.0
#include "node/attempt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "base/log.h"
#include "io/cgroup.h"
#include "node/deliver.h"
#include "node/fetch.h"
#include "node/process_tree.h"

namespace berth::node {

using model::Ending;
using model::Outcome;
using wire::node::Launch;
using wire::node::Phase;

namespace {

constexpr Duration kLookAgain(20);
constexpr Duration kLongFinalizing = std::chrono::seconds(2);

bool went_well(const Outcome& outcome) {
  return outcome.ending == Ending::Exited && outcome.exit_code == 0;
}

/// Ends what a supervisor that died left running. Blocks.
void kill_leftovers(const std::vector<std::string>& cgroups, const std::string& marker) {
  const io::Cgroup group = io::Cgroup::adopt(cgroups);
  constexpr int kMostRounds = 100;  // Processes fork while we look.
  for (int round = 0; round < kMostRounds; ++round) {
    group.kill();
    const std::vector<io::ProcessIdentity> left = processes_marked(marker);
    for (const io::ProcessIdentity& process : left) (void)io::send_signal(process, SIGKILL);
    if (left.empty() && group.is_empty()) break;
    ::usleep(10'000);
  }
  group.remove();
}

}  // namespace

Attempt::Attempt(AttemptContext& context, Launch launch)
    : context_(context),
      launch_(std::move(launch)),
      paths_(context.work_root + "/" + wire::node::attempt_directory(launch_.attempt)),
      log_(context.loop, context.outbox, launch_.attempt, paths_.log) {}

Attempt::~Attempt() {
  unwatch();
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->abort();
  }
}

std::unique_ptr<Attempt> Attempt::launch(AttemptContext& context, Launch launch) {
  std::unique_ptr<Attempt> attempt(new Attempt(context, std::move(launch)));
  attempt->is_confirmed_ = true;
  attempt->log_.begin_at_start();
  const Status laid_out = attempt->lay_out();
  if (laid_out) {
    attempt->prepare();
  } else {
    attempt->settle({.ending = Ending::NotStarted, .message = laid_out.error().message});
  }
  return attempt;
}

std::unique_ptr<Attempt> Attempt::adopt(AttemptContext& context, LaunchRecord record) {
  std::unique_ptr<Attempt> attempt(new Attempt(context, std::move(record.launch)));
  const AttemptPaths& paths = attempt->paths_;
  const auto shim = read_record<ShimRecord>(paths.shim);
  if (record.boot != context.boot) {
    attempt->settle({.ending = Ending::Lost, .message = "the machine was restarted"});
  } else if (shim || read_record<ExitRecord>(paths.exit)) {
    attempt->phase_ = Phase::Running;
    attempt->watch(shim ? shim->process : io::ProcessIdentity{});
  }
  return attempt;
}

/// Directories and launch.json, which makes the attempt ours from here on.
Status Attempt::lay_out() {
  const io::Root work = TRY(io::Root::open(context_.work_root));
  TRY(work.make_directories(wire::node::attempt_directory(launch_.attempt)));
  const io::Root root = TRY(io::Root::open(paths_.directory));
  TRY(root.make_directories("user_logs"));
  TRY(root.make_directories(launch_.working_directory));
  for (const std::string& directory : launch_.directories) TRY(root.make_directories(directory));
  for (const wire::node::Fetch& fetch : launch_.fetches) {
    if (fetch.is_folder) TRY(root.make_directories(fetch.destination));
  }
  return write_record(paths_.launch, LaunchRecord{context_.boot, launch_});
}

void Attempt::advance(Phase phase) {
  phase_ = phase;
  context_.outbox.send(wire::node::Advanced{ref(), phase});
}

// ---- Preparing
// -----------------------------------------------------------------------------------

void Attempt::prepare() {
  advance(Phase::Preparing);
  fetching_ = std::make_shared<Transfer>(context_.loop, context_.threads, paths_.directory,
                                         TransferOptions{.stop_at_first_error = true});
  fetching_->on_refused([this] { context_.outbox.redial(); });
  fetching_->start(fetch_steps(launch_),
                   [this](const std::vector<Error>& errors) { prepared(errors); });
  if (is_confirmed_ && phase_ == Phase::Preparing) fetching_->resume(launch_);
}

void Attempt::prepared(const std::vector<Error>& errors) {
  if (errors.empty()) return start_shim();
  settle({.ending = Ending::NotStarted, .message = errors.front().message});
}

void Attempt::start_shim() {
  const Result<io::ProcessIdentity> shim = context_.zygote.launch(paths_.directory);
  if (shim) {
    advance(Phase::Running);
    watch(*shim);
  } else if (shim.error().code == Code::Unavailable) {
    context_.on_broken(shim.error().message);
  } else {
    settle({.ending = Ending::NotStarted, .message = shim.error().message});
  }
}

// ---- Running
// -------------------------------------------------------------------------------------

void Attempt::watch(const io::ProcessIdentity& shim) {
  shim_ = shim;
  Result<io::Descriptor> handle = io::open_process(shim);
  if (handle) {
    shim_handle_ = std::move(*handle);
    context_.loop.watch_readable(shim_handle_.get(), [this] { shim_ended(); });
    return;
  }
  // It is over; or this kernel has no such handles, and we look now and then.
  context_.loop.after(io::is_alive(shim) ? kLookAgain : Duration(0),
                      [this, shim, still = std::weak_ptr<int>(alive_)] {
                        if (still.expired()) return;
                        io::is_alive(shim) ? watch(shim) : shim_ended();
                      });
}

void Attempt::unwatch() {
  if (!shim_handle_) return;
  context_.loop.unwatch(shim_handle_.get());
  shim_handle_.reset();
}

void Attempt::shim_ended() {
  unwatch();
  if (const auto exit = read_record<ExitRecord>(paths_.exit)) return finalize(exit->outcome);
  // Ours may have found another at work: one that an agent before us started as it died.
  if (!io::FileLock::try_lock(paths_.lock)) {
    const auto other = read_record<ShimRecord>(paths_.shim);
    if (other && io::is_alive(other->process)) return watch(other->process);
    context_.loop.after(kLookAgain, [this, still = std::weak_ptr<int>(alive_)] {
      if (!still.expired()) shim_ended();
    });
    return;
  }
  clean_up_after_shim();
}

void Attempt::clean_up_after_shim() {
  shim_.reset();
  const auto shim = read_record<ShimRecord>(paths_.shim);
  const std::vector<std::string> cgroups = shim ? shim->cgroups : std::vector<std::string>();
  context_.threads.run(
      [this, still = std::weak_ptr<int>(alive_), cgroups,
       marker = wire::node::attempt_directory(ref())]() -> io::Offload::Continuation {
        kill_leftovers(cgroups, marker);
        return [this, still] {
          if (still.expired()) return;
          settle({.ending = Ending::Lost, .message = "the process that supervised it was killed"});
        };
      });
}

// ---- Finalizing
// ----------------------------------------------------------------------------------

/// An ending that no shim wrote down.
void Attempt::settle(Outcome outcome) {
  const WallTime now = context_.clock.now().wall;
  const Status written = write_record(paths_.exit, ExitRecord{outcome, now, now});
  if (!written) log::warning("{}", written.error().message);
  finalize(outcome);
}

void Attempt::finalize(const Outcome& outcome) {
  shim_.reset();
  outcome_ = outcome;
  if (fetching_) fetching_->abort();
  advance(Phase::Finalizing);
  log_.finish([this] {
    is_log_stored_ = true;
    report_when_done();
  });
  if (is_disowned_) return report_when_done();
  deliver();
  context_.loop.after(kLongFinalizing, [this, still = std::weak_ptr<int>(alive_)] {
    if (!still.expired() && phase_ == Phase::Finalizing) free_scratch();
  });
}

/// The server may be waiting for room on the very disk that the job has filled.
void Attempt::free_scratch() {
  std::vector<std::string> kept;
  for (const wire::node::Deliver& delivery : launch_.deliveries) kept.push_back(delivery.source);
  is_freeing_ = true;
  context_.threads.run([this, still = std::weak_ptr<int>(alive_), paths = paths_,
                        kept]() -> io::Offload::Continuation {
    remove_scratch(paths, kept);
    return [this, still] {
      if (!still.expired()) is_freeing_ = false;
    };
  });
}

void Attempt::deliver() {
  delivering_ = std::make_shared<Transfer>(context_.loop, context_.threads, paths_.directory,
                                           TransferOptions{.is_patient = true});
  delivering_->on_refused([this] { context_.outbox.redial(); });
  delivering_->start(deliver_steps(launch_, went_well(outcome_)),
                     [this](const std::vector<Error>& errors) {
                       for (const Error& error : errors) delivery_errors_.push_back(error.message);
                       is_delivered_ = true;
                       report_when_done();
                     });
  if (is_confirmed_) delivering_->resume(launch_);
}

void Attempt::report_when_done() {
  const bool is_done = is_disowned_ || (is_delivered_ && is_log_stored_);
  if (phase_ != Phase::Finalizing || !is_done) return;
  if (delivering_) delivering_->abort();
  phase_ = Phase::Ended;
  report();
}

void Attempt::report() {
  if (is_forgotten_) return remove();
  context_.outbox.send(wire::node::Ended{ref(), outcome_, log_.size(), delivery_errors_});
}

// ---- What the server says
// ------------------------------------------------------------------------

void Attempt::connected() {
  if (phase_ == Phase::Ended) {
    if (!is_forgotten_) report();
    return;
  }
  log_.connected();
}

void Attempt::disconnected() {
  is_confirmed_ = false;
  log_.disconnected();
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->pause();
  }
}

void Attempt::confirm(const Launch& launch) {
  is_confirmed_ = true;
  // Only addresses may differ: the attempt itself never changes.
  if (launch.fetches.size() == launch_.fetches.size()) launch_.fetches = launch.fetches;
  if (launch.deliveries.size() == launch_.deliveries.size()) launch_.deliveries = launch.deliveries;
  const Status written = write_record(paths_.launch, LaunchRecord{context_.boot, launch_});
  if (!written) log::warning("{}", written.error().message);
  if (phase_ == Phase::Preparing && !fetching_) return prepare();
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->resume(launch_);
  }
}

void Attempt::stop() {
  is_disowned_ = is_disowned_ || !is_confirmed_;
  if (phase_ == Phase::Preparing) {
    settle({.ending = Ending::Stopped});
  } else if (phase_ == Phase::Running && shim_) {
    const Status sent = io::send_signal(*shim_, SIGTERM);
    if (!sent) log::warning("{}", sent.error().message);
  }
  report_when_done();
}

void Attempt::forget() {
  is_forgotten_ = true;
  if (phase_ == Phase::Ended) return remove();
  is_confirmed_ = false;
  stop();
}

void Attempt::kill() {
  if (shim_) (void)io::send_signal(*shim_, SIGTERM);
}

void Attempt::remove() {
  const bool is_busy =
      (fetching_ && fetching_->is_busy()) || (delivering_ && delivering_->is_busy());
  if (is_busy || is_freeing_) {  // Its threads may be writing there.
    context_.loop.after(kLookAgain, [this, still = std::weak_ptr<int>(alive_)] {
      if (!still.expired()) remove();
    });
    return;
  }
  context_.threads.run([gone = context_.on_gone, attempt = ref(), root = context_.work_root,
                        launch = paths_.launch]() -> io::Offload::Continuation {
    ::unlink(launch.c_str());  // First: without it no agent takes the rest for an attempt.
    remove_attempt(root, wire::node::attempt_directory(attempt));
    return [gone, attempt] { gone(attempt); };
  });
}

}  // namespace berth::node
