// SPDX-License-Identifier: Apache-2.0
// How log and outputs of an attempt go to the server, and how its directory goes.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "node/attempt.h"
#include "node/files/disk_room.h"
#include "node/transfer/deliver.h"

namespace berth::node {

namespace {

constexpr Duration kLookAgain(20);

}  // namespace

void Attempt::perform(const core::WriteExit& action) {
  const WallTime now = context_.clock.now().wall;
  const Status written = write_record(paths_.exit, ExitRecord{action.outcome, now, now});
  if (!written) log::warning("{}", written.error().message);
}

// ---- Its log

void Attempt::perform(const core::AskForLog&) { log_.connected(); }

void Attempt::perform(const core::NoteLogStored& action) { log_.stored(action.size); }

void Attempt::perform(const core::FinishLog&) {
  log_.finish([this] { context_.feed(core::LogShipped{ref_}); });
}

void Attempt::perform(const core::GiveUpLog&) { log_.give_up(); }

// ---- Its outputs

void Attempt::perform(const core::Deliver& action) {
  const auto is_untouched = [this](std::string_view folder) {
    return context_.directories.is_untouched(ref_, folder);
  };
  if (!has_deliveries(launch(), paths_.directory, is_untouched)) {
    return context_.feed(core::Delivered{.attempt = ref_});
  }
  delivering_ = make_transfer({.is_patient = true});
  delivering_->start(deliver_steps(launch(), action.was_success),
                     [this](const std::vector<Error>& errors) {
                       core::Delivered delivered{.attempt = ref_, .notes = delivering_->notes()};
                       for (const Error& each : errors) delivered.errors.push_back(each.message);
                       context_.feed(std::move(delivered));
                     });
}

void Attempt::perform(const core::AbortDelivery&) {
  if (delivering_) delivering_->abort();
}

// ---- When it takes long

void Attempt::perform(const core::LookAtSending&) {
  core::SendingSeen seen{.attempt = ref_,
                         .progress = log_.stored_size(),
                         .has_queue = context_.outbox.queued_bytes() > 0,
                         .full_disk = full_disk(paths_.directory)};
  if (delivering_) {
    seen.progress += delivering_->progress();
    seen.has_file_under_way = delivering_->is_busy();
    seen.lacks_room = delivering_->lacks_room();
  }
  context_.feed(std::move(seen));
}

void Attempt::perform(const core::MeasureRoom&) {
  context_.feed(core::RoomMeasured{ref_, holds_much_of_its_disk(paths_.directory)});
}

void Attempt::perform(const core::GiveUpSending&) {
  const std::uint64_t size = log_.size();
  core::SendingGivenUp given_up{.attempt = ref_,
                                .unsent_log = size - std::min(size, log_.stored_size()),
                                .full_disk = full_disk(paths_.directory)};
  log_.give_up();
  if (delivering_) {
    given_up.notes = delivering_->notes();
    delivering_->abort();
  }
  context_.feed(std::move(given_up));
}

void Attempt::perform(const core::FreeScratch&) {
  std::vector<std::string> kept;
  for (const wire::node::Deliver& delivery : launch().deliveries) kept.push_back(delivery.source);
  on_thread(
      context_.threads, [paths = paths_, kept] { remove_scratch(paths, kept); }, [] {});
}

void Attempt::perform(const core::FreeResults& action) {
  const core::Exit& exit = action.exit;
  const ExitRecord record{exit.outcome, exit.started_at, context_.clock.now().wall,
                          exit.is_delivered, exit.delivery_errors};
  const Status noted = overwrite_file(paths_.exit, record::encode_text(record));
  if (!noted) {
    log::warning("{}", noted.error().message);
    return context_.feed(core::ResultsFreed{ref_});
  }
  log_.close();
  on_thread(
      context_.threads, [paths = paths_] { remove_results(paths); },
      [this] { context_.feed(core::ResultsFreed{ref_}); });
}

void Attempt::on_thread(io::Offload& threads, std::function<void()> blocking,
                        std::function<void()> then) {
  ++at_work_;
  threads.run([this, still = std::weak_ptr<int>(alive_), blocking = std::move(blocking),
               then = std::move(then)]() -> io::Offload::Continuation {
    blocking();
    return [this, still, then] {
      if (still.expired()) return;
      --at_work_;
      then();
    };
  });
}

// ---- Its end

void Attempt::perform(const core::Report& action) {
  wire::node::Ended ended = action.ended;
  ended.log_size = launch().ships_log ? log_.size() : 0;
  context_.outbox.send(ended);
}

void Attempt::perform(const core::Remove& action) { remove_when_idle(action.may_be_reused); }

void Attempt::remove_when_idle(bool may_be_reused) {
  const bool is_busy =
      (fetching_ && fetching_->is_busy()) || (delivering_ && delivering_->is_busy());
  if (is_busy || at_work_ > 0) {  // Its threads may be writing there.
    context_.loop.after(kLookAgain, [this, may_be_reused, still = std::weak_ptr<int>(alive_)] {
      if (!still.expired()) remove_when_idle(may_be_reused);
    });
    return;
  }
  Runtime& runtime = context_.runtime_of(launch());
  const auto clean_up = [&runtime, paths = paths_] {
    const Status cleaned = runtime.clean_up(paths);
    if (!cleaned) log::warning("'{}': {}", paths.directory, cleaned.error().message);
  };
  // Its supervisor has done so, if it had one.
  if (runtime.takes_time()) {
    return on_thread(context_.threads, clean_up, [this, may_be_reused] { remove(may_be_reused); });
  }
  clean_up();
  remove(may_be_reused);
}

void Attempt::remove(bool may_be_reused) {
  log_.close();
  if (may_be_reused && context_.directories.take_back(ref_)) {
    context_.loop.post([gone = context_.on_gone, attempt = ref_] { gone(attempt); });
    return;
  }
  context_.directories.forget(ref_);
  const std::string& root = settings().work_root;
  const auto aside = set_aside(root, wire::node::attempt_directory(ref_));
  if (!aside) {
    log::warning("{}", aside.error().message);
    ::unlink(paths_.launch.c_str());  // Without it no agent takes the rest for an attempt.
  }
  context_.threads.run([gone = context_.on_gone, attempt = ref_, root,
                        path = aside.value_or("")]() -> io::Offload::Continuation {
    if (!path.empty()) remove_set_aside(root, path);
    return [gone, attempt] { gone(attempt); };
  });
}

}  // namespace berth::node
