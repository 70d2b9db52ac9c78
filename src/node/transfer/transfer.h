// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/loop.h"
#include "io/offload.h"
#include "wire/node/message.h"

namespace berth::node {

/// What a blocking step may look at, from its own thread.
struct TransferView {
  std::shared_ptr<const wire::node::Launch> launch{};  ///< With the newest signed addresses.
  std::string directory{};                             ///< The attempt's.
  std::shared_ptr<const std::atomic<bool>> is_aborted{};
  std::string authority{};  ///< The file of the CA that vouches for the server.
};

/// One step: a file, or a listing that turns into more steps.
struct TransferStep {
  std::function<Result<std::vector<TransferStep>>(const TransferView&)> run{};
  std::string what{};  ///< "input 'rows'", for messages.
  int tries = 0;
};

/// Nothing to do, only something that its user should know.
inline TransferStep note_step(std::string note) { return {.run = {}, .what = std::move(note)}; }

struct TransferOptions {
  bool stop_at_first_error = false;
  /// Steps that fail because the server is unwell are repeated for as long as it takes.
  bool is_patient = false;
  std::string authority{};  ///< See TransferView.
};

/// Runs steps a few at a time on other threads, repeats those that may yet work, and says once what
/// went wrong. Starts paused; pauses while the server is away. Loop thread only, always held by a
/// shared_ptr: steps under way keep it.
class Transfer : public std::enable_shared_from_this<Transfer> {
 public:
  using OnDone = std::function<void(std::vector<Error>)>;

  Transfer(io::Loop& loop, io::Offload& threads, std::string directory, TransferOptions options);

  void start(std::vector<TransferStep> steps, OnDone done);
  void pause() { is_paused_ = true; }
  void resume(const wire::node::Launch& launch);
  /// When a signature is refused: called instead of failing; then it waits for resume() with fresh
  /// ones. Once, and once more after each step that went well: signatures grow old again.
  void on_refused(std::function<void()> refresh) { refresh_ = std::move(refresh); }
  void abort();  ///< `done` is not called any more.
  bool is_busy() const { return under_way_ > 0; }
  /// How many steps have gone well.
  std::uint64_t progress() const { return progress_; }
  /// The last that was heard of the server is that its disk is full.
  bool lacks_room() const { return lacks_room_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void pump();
  void run(TransferStep step);
  void finished(TransferStep step, Result<std::vector<TransferStep>> outcome);
  void went_well(std::vector<TransferStep> more);
  void failed(TransferStep step, Error error);
  bool may_repeat(const TransferStep& step, const Error& error) const;
  void settle();

  io::Loop& loop_;
  io::Offload& threads_;
  std::string directory_;
  TransferOptions options_;
  std::shared_ptr<const wire::node::Launch> launch_{};
  std::shared_ptr<std::atomic<bool>> is_aborted_ = std::make_shared<std::atomic<bool>>(false);
  std::deque<TransferStep> waiting_{};
  std::vector<Error> errors_{};
  OnDone done_{};
  std::function<void()> refresh_{};
  bool is_paused_ = true;
  int under_way_ = 0;
  int sleeping_ = 0;  ///< Steps that wait for their next try.
  bool was_refreshed_ = false;
  bool lacks_room_ = false;
  std::uint64_t progress_ = 0;
  std::vector<std::string> notes_{};
};

}  // namespace berth::node
