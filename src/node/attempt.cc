// SPDX-License-Identifier: Apache-2.0
#include "node/attempt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/log.h"
#include "node/disk_room.h"
#include "node/fetch.h"
#include "node/lease.h"
#include "node/leftovers.h"
#include "node/pace.h"

namespace berth::node {

using model::Ending;
using model::Outcome;
using wire::node::Launch;
using wire::node::Phase;

namespace {

constexpr Duration kLookAgain(20);
constexpr Duration kOnItsWay(500);
constexpr Duration kMoment(10);
constexpr Duration kRenewing = std::chrono::seconds(2);
constexpr int kMostStarts = 3;

}  // namespace

Attempt::Attempt(AttemptContext& context, Launch launch)
    : context_(context),
      launch_(std::move(launch)),
      paths_(context.work_root + "/" + wire::node::attempt_directory(launch_.attempt)),
      log_(context.loop, context.outbox, launch_.attempt, paths_.log) {
  // Only the node knows where it keeps the authority that vouches for the server.
  if (!context.authority.empty()) {
    launch_.environment["MLFLOW_TRACKING_SERVER_CERT_PATH"] = context.authority;
  }
}

Attempt::~Attempt() {
  unwatch();
  say_nothing_more();
  stop_renewing();
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->abort();
  }
}

std::unique_ptr<Attempt> Attempt::launch(AttemptContext& context, Launch launch) {
  std::unique_ptr<Attempt> attempt(new Attempt(context, std::move(launch)));
  attempt->is_confirmed_ = true;
  attempt->began_ = context.clock.now().mono;
  if (attempt->launch_.ships_log) attempt->log_.begin_at_start();
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
  attempt->port_ = record.port;
  const AttemptPaths& paths = attempt->paths_;
  const auto shim = read_record<ShimRecord>(paths.shim);
  const bool is_over = ::access(paths.exit.c_str(), F_OK) == 0;
  if (record.boot != context.boot) {
    attempt->settle({.ending = Ending::Lost, .message = "the machine was restarted"});
  } else if (shim || is_over || !io::FileLock::try_lock(paths.lock)) {
    attempt->phase_ = Phase::Running;
    // The shim of one that is over may be at another's work; one that has the lock has begun or is
    // about to.
    attempt->watch(shim && !is_over ? shim->process : io::ProcessIdentity{});
  }
  return attempt;
}

/// Directories and launch.json, which makes the attempt ours from here on.
Status Attempt::lay_out() {
  TRY(context_.directories.lay_out(launch_));
  return note_launch();
}

Status Attempt::note_launch() const {
  LaunchRecord record{context_.boot, launch_, port_};
  // Of secrets only which there are: the server tells a later agent their values again.
  for (auto& [name, value] : record.launch.secrets) value.clear();
  return write_record(paths_.launch, record);
}

/// The server hears of it in a moment, unless the next phase or the end comes first.
void Attempt::advance(Phase phase) {
  phase_ = phase;
  if (saying_) return;
  saying_ = context_.loop.after(kMoment, [this] {
    saying_.reset();
    context_.outbox.send(wire::node::Advanced{ref(), phase_});
  });
}

void Attempt::say_nothing_more() {
  if (saying_) context_.loop.cancel(*saying_);
  saying_.reset();
}

// ---- Preparing
// -----------------------------------------------------------------------------------

void Attempt::prepare() {
  advance(Phase::Preparing);
  if (launch_.fetches.empty()) return prepared({});
  fetching_ = std::make_shared<Transfer>(
      context_.loop, context_.threads, paths_.directory,
      TransferOptions{.stop_at_first_error = true, .authority = context_.authority});
  fetching_->on_refused([this] { renew(); });
  fetching_->start(fetch_steps(launch_),
                   [this](const std::vector<Error>& errors) { prepared(errors); });
  if (is_confirmed_ && phase_ == Phase::Preparing) fetching_->resume(launch_);
}

void Attempt::prepared(const std::vector<Error>& errors) {
  if (!errors.empty()) {
    return settle({.ending = Ending::NotStarted, .message = errors.front().message});
  }
  launch_.waits_for_go ? wait_for_go() : start_shim();
}

void Attempt::wait_for_go() {
  const auto count = std::max<std::size_t>(launch_.processes.size(), 1);
  Result<HeldPorts> ports =
      HeldPorts::take(context_.address, static_cast<int>(count), std::exchange(port_, 0));
  // The peers may know the old ones already; but those that cannot be had are of no use to them.
  if (!ports) ports = HeldPorts::take(context_.address, static_cast<int>(count));
  if (!ports) return settle({.ending = Ending::NotStarted, .message = ports.error().message});
  port_ = ports->first();
  held_ports_ = std::move(*ports);
  const Status noted = note_launch();
  if (!noted) log::warning("{}", noted.error().message);
  say_prepared();
}

void Attempt::say_prepared() {
  context_.outbox.send(wire::node::Prepared{ref(), context_.address, port_});
}

void Attempt::go(const wire::node::Go& message) {
  if (phase_ != Phase::Preparing || !launch_.waits_for_go) return;
  launch_.waits_for_go = false;
  for (const auto& [name, value] : message.environment) launch_.environment[name] = value;
  const std::size_t count = std::min(message.processes.size(), launch_.processes.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& [name, value] : message.processes[i]) {
      launch_.processes[i].environment[name] = value;
    }
  }
  const Status noted = note_launch();  // Also for the shim: this is what it runs.
  if (!noted) return settle({.ending = Ending::NotStarted, .message = noted.error().message});
  if (!std::exchange(held_ports_, std::nullopt)) return;  // Still fetching, after a restart.
  start_shim();
}

void Attempt::start_shim() {
  ++starts_;
  for (const auto& [name, value] : launch_.secrets) {
    if (!value.empty()) continue;
    return settle({.ending = Ending::NotStarted,
                   .message = fmt::format("the secret for '{}' is not known any more", name)});
  }
  Result<Supervisor> shim =
      context_.zygote.launch({.directory = paths_.directory, .secrets = launch_.secrets});
  if (shim) {
    advance(Phase::Running);
    began_ = context_.clock.now().mono;
    watch(std::move(*shim));
  } else if (shim.error().code == Code::Unavailable) {
    context_.on_broken(shim.error().message);
  } else {
    settle({.ending = Ending::NotStarted, .message = shim.error().message});
  }
}

// ---- Running
// -------------------------------------------------------------------------------------

/// One of our own.
void Attempt::watch(Supervisor shim) {
  supervisor_ = std::move(shim);
  if (is_stopping_) supervisor_->stop();
  context_.loop.watch_readable(supervisor_->fd(), [this] {
    context_.loop.unwatch(supervisor_->fd());
    Supervisor over = *std::exchange(supervisor_, std::nullopt);
    if (over.is_idle_again()) context_.zygote.keep(std::move(over));
    ran_ = context_.clock.now().mono - began_;
    shim_ended();
  });
}

/// One that an agent before us started.
void Attempt::watch(const io::ProcessIdentity& shim) {
  if (shim.pid > 0) shim_ = shim;
  if (is_stopping_) kill();
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
  if (supervisor_) context_.loop.unwatch(supervisor_->fd());
  supervisor_.reset();
  if (shim_handle_) context_.loop.unwatch(shim_handle_.get());
  shim_handle_.reset();
}

void Attempt::shim_ended() {
  unwatch();
  shim_.reset();  // From here on it may be at another's work.
  // The lock first: who held it may have written its end just before it let go.
  Result<io::FileLock> taken = io::FileLock::try_lock(paths_.lock);
  auto lock = taken ? std::make_shared<io::FileLock>(std::move(*taken)) : nullptr;
  if (const auto exit = read_record<ExitRecord>(paths_.exit)) {
    started_at_ = exit->started_at;
    if (exit->is_delivered) return take_up_end(*exit);
    if (!is_held_back(exit->outcome)) finalize(exit->outcome);
  } else if (!lock) {
    find_other_shim();
  } else if (has_no_room_to_begin()) {
    settle({.ending = Ending::NotStarted, .message = name_of_disk(paths_.directory) + " is full"});
  } else if (read_record<ShimRecord>(paths_.shim) || starts_ >= kMostStarts || is_stopping_) {
    clean_up_after_shim(lock);
  } else {
    lock.reset();
    begin_again();
  }
}

bool Attempt::has_no_room_to_begin() const {
  return !read_record<ShimRecord>(paths_.shim) && !full_disk(paths_.directory).empty();
}

/// Ours has found another at work: one that an agent before us started as it died.
void Attempt::find_other_shim() {
  const auto other = read_record<ShimRecord>(paths_.shim);
  if (other && io::is_alive(other->process)) return watch(other->process);
  context_.loop.after(kLookAgain, [this, still = std::weak_ptr<int>(alive_)] {
    if (!still.expired()) shim_ended();
  });
}

/// What was killed had not begun: the command never ran, and cannot any more.
void Attempt::begin_again() {
  if (is_confirmed_) return start_shim();
  phase_ = Phase::Preparing;  // One that we found, and that waits for the server's word.
}

/// A site that takes its node back may send SIGTERM to all of its processes at once. What the job
/// died of may thus be the same signal that is on its way to us.
bool Attempt::is_held_back(const Outcome& outcome) {
  const bool is_sigterm = (outcome.ending == Ending::Signaled && outcome.signal == SIGTERM) ||
                          (outcome.ending == Ending::Exited && outcome.exit_code == 128 + SIGTERM);
  if (!context_.may_be_taken || !is_sigterm || was_held_back_ || !withdrawn_.empty()) return false;
  was_held_back_ = true;
  context_.loop.after(kOnItsWay, [this, still = std::weak_ptr<int>(alive_)] {
    if (!still.expired()) shim_ended();
  });
  return true;
}

/// With the lock held, so that no shim begins what is being given up.
void Attempt::clean_up_after_shim(const std::shared_ptr<io::FileLock>& lock) {
  context_.threads.run([this, still = std::weak_ptr<int>(alive_), lock,
                        paths = paths_]() -> io::Offload::Continuation {
    kill_leftovers(paths);
    return [this, still, lock] {
      if (still.expired()) return;
      settle({.ending = Ending::Lost, .message = "the process that supervised it was killed"});
    };
  });
}

// ---- What the server says
// ------------------------------------------------------------------------

void Attempt::connected() {
  if (phase_ == Phase::Ended) {
    if (!is_forgotten_) report();
    return;
  }
  if (launch_.ships_log) log_.connected();
  if (held_ports_) say_prepared();
}

/// Others that use the connection notice nothing of it.
void Attempt::renew() {
  context_.outbox.send(wire::node::Renew{ref()});
  if (renewing_) return;
  renewing_ = context_.loop.after(kRenewing, [this] {
    renewing_.reset();
    context_.outbox.redial();  // An older server: it repeats every Launch on a new connection.
  });
}

void Attempt::stop_renewing() {
  if (renewing_) context_.loop.cancel(*renewing_);
  renewing_.reset();
}

void Attempt::disconnected() {
  is_confirmed_ = false;
  stop_renewing();
  log_.disconnected();
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->pause();
  }
}

void Attempt::confirm(const Launch& launch) {
  is_confirmed_ = true;
  stop_renewing();
  // Only addresses may differ: the attempt itself never changes.
  if (launch.fetches.size() == launch_.fetches.size()) launch_.fetches = launch.fetches;
  if (launch.deliveries.size() == launch_.deliveries.size()) launch_.deliveries = launch.deliveries;
  for (const auto& [name, value] : launch.secrets) launch_.secrets[name] = value;
  const Status written = note_launch();
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
  } else if (phase_ == Phase::Running) {
    kill();
  }
  is_stopping_ = true;  // What is being sent back has to come to an end, too.
  report_when_done();
}

void Attempt::forget() {
  is_forgotten_ = true;
  if (phase_ == Phase::Ended) return remove();
  is_confirmed_ = false;
  stop();
}

void Attempt::kill() {
  is_stopping_ = true;  // Also for a shim that we are about to find.
  if (supervisor_) return supervisor_->stop();
  const Status sent = shim_ ? io::send_signal(*shim_, SIGTERM) : Status(Done{});
  if (!sent) log::warning("{}", sent.error().message);
}

void Attempt::withdraw(const std::string& reason) {
  withdrawn_ = reason;
  if (phase_ == Phase::Preparing) return settle({.ending = Ending::Lost, .message = reason});
  if (phase_ == Phase::Running) kill();
}

void Attempt::lease_lapsed() {
  if (phase_ == Phase::Preparing) settle({.ending = Ending::Lost, .message = kLeaseLapsed});
}

void Attempt::remove() {
  const bool is_busy =
      (fetching_ && fetching_->is_busy()) || (delivering_ && delivering_->is_busy());
  if (is_busy || freeing_ > 0) {  // Its threads may be writing there.
    context_.loop.after(kLookAgain, [this, still = std::weak_ptr<int>(alive_)] {
      if (!still.expired()) remove();
    });
    return;
  }
  log_.close();
  // Long enough for jobs whose directories are worth keeping, too short to hand them to somebody
  // who writes there when the job is over: a container, a daemon that was there before.
  if (ran_ && *ran_ <= kShortAttempt && context_.directories.take_back(ref())) {
    context_.loop.post([gone = context_.on_gone, attempt = ref()] { gone(attempt); });
    return;
  }
  const auto aside = set_aside(context_.work_root, wire::node::attempt_directory(ref()));
  if (!aside) {
    log::warning("{}", aside.error().message);
    ::unlink(paths_.launch.c_str());  // Without it no agent takes the rest for an attempt.
  }
  context_.threads.run([gone = context_.on_gone, attempt = ref(), root = context_.work_root,
                        path = aside.value_or("")]() -> io::Offload::Continuation {
    if (!path.empty()) remove_set_aside(root, path);
    return [gone, attempt] { gone(attempt); };
  });
}

}  // namespace berth::node
