// SPDX-License-Identifier: Apache-2.0
// How an attempt is laid out, fetched and run.
#include "node/attempt.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/log.h"
#include "node/files/disk_room.h"
#include "node/shim/leftovers.h"
#include "node/transfer/fetch.h"

namespace berth::node {

namespace {

constexpr Duration kLookAgain(20);

std::optional<std::string> why(const Status& status) {
  if (status) return std::nullopt;
  return status.error().message;
}

/// What is said before the command starts is the beginning of its log. What finds no room is lost:
/// the supervisor sees whether there is any.
void append_to_log(const std::string& path, std::string_view text) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  const io::Descriptor file(::open(path.c_str(), flags, 0600));
  if (file) (void)io::write_all(file.get(), text);
}

}  // namespace

Attempt::Attempt(AttemptContext& context, const wire::node::AttemptRef& ref)
    : context_(context),
      ref_(ref),
      paths_(context.state.settings.work_root + "/" + wire::node::attempt_directory(ref)),
      log_(context.loop, context.outbox, ref, paths_.log) {}

Attempt::~Attempt() {
  unwatch();
  preparing_.request_stop();
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->abort();
  }
}

core::Found Attempt::find(LaunchRecord record) {
  const auto shim = read_record<ShimRecord>(paths_.shim);
  const bool is_over = ::access(paths_.exit.c_str(), F_OK) == 0;
  // The shim of one that is over may be at another's work; one that has the lock has begun or is
  // about to.
  if (shim && !is_over) found_ = shim->process;
  runtime_ = std::move(record.runtime);
  return {.launch = std::move(record.launch),
          .port = record.port,
          .is_of_this_boot = record.boot == context_.boot,
          .has_supervisor = shim || is_over || !io::FileLock::try_lock(paths_.lock)};
}

// ---- Its directory

void Attempt::perform(const core::LayOut&) {
  log::debug("launching '{}'", wire::node::attempt_directory(ref_));
  if (launch().ships_log) log_.begin_at_start();
  const Status laid_out = context_.directories.lay_out(launch());
  context_.feed(core::LaidOut{ref_, why(laid_out ? note_launch() : laid_out)});
}

Status Attempt::note_launch() const {
  LaunchRecord record{context_.boot, launch(), state().port, runtime_};
  // Of secrets only which there are: the server tells a later agent their values again.
  for (auto& [name, value] : record.launch.secrets) value.clear();
  return write_record(paths_.launch, record);
}

void Attempt::perform(const core::NoteLaunch&) {
  const Status noted = note_launch();
  if (!noted) log::warning("{}", noted.error().message);
}

void Attempt::perform(const core::NoteGo&) {
  context_.feed(core::GoNoted{ref_, why(note_launch())});
}

// ---- What it needs before it can run

std::shared_ptr<Transfer> Attempt::make_transfer(TransferOptions options) {
  options.authority = settings().authority;
  auto made = std::make_shared<Transfer>(context_.loop, context_.threads, paths_.directory,
                                         std::move(options));
  made->on_refused([this] { context_.feed(core::AddressesRefused{ref_}); });
  return made;
}

void Attempt::perform(const core::Fetch&) {
  fetching_ = make_transfer({.stop_at_first_error = true});
  fetching_->start(fetch_steps(launch()), [this](const std::vector<Error>& errors) {
    core::Fetched fetched{.attempt = ref_};
    if (!errors.empty()) fetched.error = errors.front().message;
    context_.feed(std::move(fetched));
  });
}

void Attempt::perform(const core::Resume&) {
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->resume(launch());
  }
}

void Attempt::perform(const core::Hold&) {
  log_.disconnected();
  for (const auto& transfer : {fetching_, delivering_}) {
    if (transfer) transfer->pause();
  }
}

void Attempt::perform(const core::AbortFetch&) {
  if (fetching_) fetching_->abort();
}

void Attempt::perform(const core::PrepareRuntime&) {
  Runtime& runtime = context_.runtime_of(launch());
  if (!runtime.takes_time()) return runtime_prepared(runtime.prepare(paths_, launch(), {}));
  preparing_ = std::stop_source();
  const auto prepared = std::make_shared<Result<RuntimeRecord>>(RuntimeRecord{});
  on_thread(
      context_.preparers,
      [&runtime, prepared, paths = paths_, launch = launch(), cancelled = preparing_.get_token()] {
        *prepared = runtime.prepare(paths, launch,
                                    {.cancelled = cancelled, .say = [&](std::string_view text) {
                                       if (!cancelled.stop_requested())
                                         append_to_log(paths.log, text);
                                     }});
      },
      [this, prepared] { runtime_prepared(std::move(*prepared)); });
}

/// Noted before it is told: the supervisor reads it.
void Attempt::runtime_prepared(Result<RuntimeRecord> prepared) {
  if (preparing_.stop_requested()) return;
  if (!prepared) {
    return context_.feed(core::RuntimePrepared{ref_, std::move(prepared.error().message)});
  }
  const bool is_noted = *prepared == runtime_;
  runtime_ = std::move(*prepared);
  context_.feed(core::RuntimePrepared{ref_, why(is_noted ? Status(Done{}) : note_launch())});
}

void Attempt::perform(const core::CancelRuntime&) { preparing_.request_stop(); }

void Attempt::perform(const core::HoldPorts& action) {
  const std::string address = action.is_loopback ? "127.0.0.1" : settings().address;
  Result<HeldPorts> ports = HeldPorts::take(address, action.count, action.preferred);
  // The peers may know the old ones already; but those that cannot be had are of no use to them.
  if (!ports) ports = HeldPorts::take(address, action.count);
  if (!ports) {
    return context_.feed(core::PortsHeld{.attempt = ref_, .error = ports.error().message});
  }
  held_ports_ = std::move(*ports);
  context_.feed(core::PortsHeld{.attempt = ref_, .port = held_ports_->first()});
}

void Attempt::perform(const core::ReleasePorts&) { held_ports_.reset(); }

// ---- Its supervisor

void Attempt::perform(const core::StartSupervisor&) {
  lock_.reset();  // The shim takes it.
  Result<Supervisor> shim =
      context_.zygote.launch({.directory = paths_.directory, .secrets = launch().secrets});
  if (shim) {
    watch(std::move(*shim));
    context_.feed(core::SupervisorStarted{ref_});
  } else {
    context_.feed(
        core::SupervisorFailed{.attempt = ref_,
                               .error = shim.error().message,
                               .needs_new_agent = shim.error().code == Code::Unavailable});
  }
}

void Attempt::perform(const core::WatchSupervisor&) { watch(found_); }

void Attempt::perform(const core::StopSupervisor&) {
  is_stopping_ = true;
  if (supervisor_) return supervisor_->stop();
  const Status sent = shim_ ? io::send_signal(*shim_, SIGTERM) : Status(Done{});
  if (!sent) log::warning("{}", sent.error().message);
}

/// One of our own.
void Attempt::watch(Supervisor shim) {
  supervisor_ = std::move(shim);
  if (is_stopping_) supervisor_->stop();
  context_.loop.watch_readable(supervisor_->fd(), [this] {
    context_.loop.unwatch(supervisor_->fd());
    Supervisor over = *std::exchange(supervisor_, std::nullopt);
    if (over.is_idle_again()) context_.zygote.keep(std::move(over));
    shim_ended(true);
  });
}

/// One that an agent before us started.
void Attempt::watch(const io::ProcessIdentity& shim) {
  if (shim.pid > 0) shim_ = shim;
  if (is_stopping_) perform(core::StopSupervisor{ref_});
  Result<io::Descriptor> handle = io::open_process(shim);
  if (handle) {
    shim_handle_ = std::move(*handle);
    context_.loop.watch_readable(shim_handle_.get(), [this] { shim_ended(false); });
    return;
  }
  // It is over; or this kernel has no such handles, and we look now and then.
  context_.loop.after(io::is_alive(shim) ? kLookAgain : Duration(0),
                      [this, shim, still = std::weak_ptr<int>(alive_)] {
                        if (still.expired()) return;
                        io::is_alive(shim) ? watch(shim) : shim_ended(false);
                      });
}

void Attempt::unwatch() {
  if (supervisor_) context_.loop.unwatch(supervisor_->fd());
  supervisor_.reset();
  if (shim_handle_) context_.loop.unwatch(shim_handle_.get());
  shim_handle_.reset();
}

/// Called by the loop, so that it is decided how to go on when feed() returns: until then the lock
/// keeps others from beginning it.
void Attempt::shim_ended(bool is_ours) {
  unwatch();
  shim_.reset();  // From here on it may be at another's work.
  // The lock first: who held it may have written its end just before it let go.
  Result<io::FileLock> taken = io::FileLock::try_lock(paths_.lock);
  if (taken) lock_ = std::make_shared<io::FileLock>(std::move(*taken));
  core::SupervisorEnded ended{.attempt = ref_, .is_ours = is_ours};
  if (auto exit = read_record<ExitRecord>(paths_.exit)) {
    ended.exit = core::Exit{std::move(exit->outcome), exit->started_at, exit->is_delivered,
                            std::move(exit->delivery_errors)};
  } else if (!lock_) {
    return find_other_shim();
  } else {
    ended.was_begun = read_record<ShimRecord>(paths_.shim).has_value();
    ended.full_disk = full_disk(paths_.directory);
  }
  context_.feed(std::move(ended));
  lock_.reset();
}

/// Ours has found another at work: one that an agent before us started as it died.
void Attempt::find_other_shim() {
  const auto other = read_record<ShimRecord>(paths_.shim);
  if (other && io::is_alive(other->process)) return watch(other->process);
  context_.loop.after(kLookAgain, [this, still = std::weak_ptr<int>(alive_)] {
    if (!still.expired()) shim_ended(false);
  });
}

/// With the lock held, so that no shim begins what is being given up.
void Attempt::perform(const core::CleanUp&) {
  context_.threads.run([this, still = std::weak_ptr<int>(alive_), lock = std::move(lock_),
                        paths = paths_,
                        runtime_of = context_.runtime_of]() -> io::Offload::Continuation {
    kill_leftovers(paths, runtime_of);
    return [this, still, lock] {
      if (!still.expired()) context_.feed(core::CleanedUp{ref_});
    };
  });
}

}  // namespace berth::node
