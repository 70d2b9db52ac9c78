// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/loop.h"
#include "io/offload.h"
#include "node/attempt_files.h"
#include "node/directory_pool.h"
#include "node/log_shipper.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/transfer.h"
#include "node/zygote.h"

namespace berth::node {

/// What attempts share.
struct AttemptContext {
  io::Loop& loop;
  io::Offload& threads;
  Zygote& zygote;
  DirectoryPool& directories;
  Outbox& outbox;
  const Clock& clock;
  std::string work_root;
  std::string address;  ///< Where other nodes reach this one.
  std::string boot;
  std::string authority;  ///< The file of the CA that vouches for the server; empty: plain HTTP.
  bool may_be_taken;      ///< The node is its site's, which may end it.
  /// Its command runs no more, and ran for so long if it ever did: another may run.
  std::function<void(std::optional<Duration>)> on_over;
  std::function<void(const wire::node::AttemptRef&)> on_gone;  ///< Its directory is removed.
  std::function<void(std::string_view)> on_broken;  ///< The agent cannot go on; a new one can.
};

/// One attempt, from its Launch to its Forget. Loop thread only.
///
///   Preparing ──(and Go, if it waits for that)──> Running ──> Finalizing ──> Ended ──(Forget)──>
///   gone
///       └───────(could not start, or stopped)──^
class Attempt {
 public:
  /// Told to run by the server.
  static std::unique_ptr<Attempt> launch(AttemptContext& context, wire::node::Launch launch);
  /// Found on disk by a new agent. One that had not begun waits until the server confirms it.
  static std::unique_ptr<Attempt> adopt(AttemptContext& context, LaunchRecord record);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  const wire::node::AttemptRef& ref() const { return launch_.attempt; }
  wire::node::Phase phase() const { return phase_; }
  bool is_forgotten() const { return is_forgotten_; }
  /// Has a slot: it is being prepared, or its command runs.
  bool is_at_work() const;
  /// Since when it is prepared or its command runs; of one that we found, for ever.
  TimePoint began() const { return began_; }

  /// There is a connection, and Hello has been said.
  void connected();
  void disconnected();
  /// The server wants it (still): it may have fresh addresses.
  void confirm(const wire::node::Launch& launch);
  /// Its peers are ready as well.
  void go(const wire::node::Go& message);
  /// Without a Launch on this connection it is nobody's any more: ended, and nothing is sent back.
  void stop();
  void forget();
  void log_stored(std::uint64_t size) { log_.stored(size); }
  /// The state directory has vanished: only ends what runs.
  void kill();
  /// The node's time is over, and not by the server's will: what does not end well is Lost.
  void withdraw(const std::string& reason);
  /// What has not begun does not begin; what runs is ended by its shim.
  void lease_lapsed();

 private:
  Attempt(AttemptContext& context, wire::node::Launch launch);

  void prepare();
  Status lay_out();
  void prepared(const std::vector<Error>& errors);
  void wait_for_go();
  void say_prepared();
  Status note_launch() const;
  void start_shim();
  void watch(Supervisor shim);
  void watch(const io::ProcessIdentity& shim);
  void unwatch();
  void shim_ended();
  bool has_no_room_to_begin() const;
  void find_other_shim();
  void begin_again();
  void clean_up_after_shim(const std::shared_ptr<io::FileLock>& lock);
  void settle(model::Outcome outcome);
  bool is_held_back(const model::Outcome& outcome);
  void finalize(const model::Outcome& outcome);
  void take_up_end(const ExitRecord& exit);
  void deliver();
  void delivered(const std::vector<Error>& errors);
  void free_scratch();
  void free_results(std::function<void()> then);
  void remove_on_thread(std::function<void()> blocking, std::function<void()> then);
  void watch_finalizing();
  void look_at_finalizing();
  bool has_waited_enough(Duration waited);
  bool is_in_the_way();
  void give_up_sending();
  void renew();
  void stop_renewing();
  void report_when_done();
  void report();
  void remove();
  void advance(wire::node::Phase phase);
  void say_nothing_more();

  AttemptContext& context_;
  wire::node::Launch launch_;
  AttemptPaths paths_;
  LogShipper log_;
  wire::node::Phase phase_ = wire::node::Phase::Preparing;
  bool is_confirmed_ = false;  ///< On this connection.
  bool is_disowned_ = false;
  bool is_forgotten_ = false;
  bool is_stopping_ = false;
  int starts_ = 0;  ///< Of shims.
  bool was_held_back_ = false;
  std::string withdrawn_{};                ///< Why, once it is.
  int port_ = 0;                           ///< Said in Prepared; 0: not yet.
  std::optional<HeldPorts> held_ports_{};  ///< While it waits for Go.
  std::shared_ptr<Transfer> fetching_{};
  std::shared_ptr<Transfer> delivering_{};
  std::optional<Supervisor> supervisor_{};     ///< Of a shim that we started.
  std::optional<io::ProcessIdentity> shim_{};  ///< One that we found.
  io::Descriptor shim_handle_{};               ///< Its handle.
  TimePoint began_{};
  std::optional<Duration> ran_{};
  std::optional<WallTime> started_at_{};  ///< The command, as its shim wrote it down.
  std::optional<io::Loop::TimerId> saying_{};
  std::optional<io::Loop::TimerId> renewing_{};  ///< Fresh addresses were asked for.
  model::Outcome outcome_{};
  int freeing_ = 0;  ///< Threads that remove files of it.
  bool has_freed_scratch_ = false;
  bool has_freed_results_ = false;
  std::uint64_t progress_ = 0;  ///< Of what is sent back, when it was last looked at.
  TimePoint progress_at_{};
  std::optional<bool> holds_much_{};  ///< Of its disk; unknown until it matters.
  bool is_delivered_ = false;
  bool is_log_stored_ = false;
  std::vector<std::string> delivery_errors_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< For what comes back from threads.
};

}  // namespace berth::node
