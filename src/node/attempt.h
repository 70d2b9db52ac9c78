// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "io/loop.h"
#include "io/offload.h"
#include "node/core/action.h"
#include "node/core/state.h"
#include "node/files/attempt_files.h"
#include "node/files/directory_pool.h"
#include "node/log_shipper.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/runtime/runtime.h"
#include "node/service_ways.h"
#include "node/shim/zygote.h"
#include "node/transfer/transfer.h"

namespace berth::node {

/// What attempts share.
struct AttemptContext {
  io::Loop& loop;
  io::Offload& threads;
  io::Offload& preparers;  ///< For what may take as long as an image takes to build.
  RuntimeOf runtime_of;
  Zygote& zygote;
  DirectoryPool& directories;
  ServiceWays& ways;
  Outbox& outbox;
  const Clock& clock;
  const core::AgentState& state;
  std::string boot;
  std::function<void(core::Event)> feed;
  std::function<void(const wire::node::AttemptRef&)> on_gone;  ///< Its directory is removed.
};

/// The files, processes and transfers of one attempt: carries out what node/core decides of it, and
/// tells it what comes of that. Decides nothing itself. Loop thread only.
class Attempt {
 public:
  /// One that the server has just told us to run.
  Attempt(AttemptContext& context, const wire::node::AttemptRef& ref);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  /// What its directory says, which an agent before us has left.
  core::Found find(LaunchRecord record);

  void perform(const core::LayOut& action);
  void perform(const core::NoteLaunch& action);
  void perform(const core::NoteGo& action);
  void perform(const core::Fetch& action);
  void perform(const core::Resume& action);
  void perform(const core::Hold& action);
  void perform(const core::AbortFetch& action);
  void perform(const core::PrepareRuntime& action);
  void perform(const core::CancelRuntime& action);
  void perform(const core::HoldPorts& action);
  void perform(const core::ReleasePorts& action);
  void perform(const core::StartSupervisor& action);
  void perform(const core::WatchSupervisor& action);
  void perform(const core::ProbeService& action);
  void perform(const core::OpenWay& action);
  void perform(const core::CloseWay& action);
  void perform(const core::StopSupervisor& action);
  void perform(const core::CleanUp& action);
  void perform(const core::WriteExit& action);
  void perform(const core::AskForLog& action);
  void perform(const core::NoteLogStored& action);
  void perform(const core::FinishLog& action);
  void perform(const core::GiveUpLog& action);
  void perform(const core::Deliver& action);
  void perform(const core::AbortDelivery& action);
  void perform(const core::LookAtSending& action);
  void perform(const core::MeasureRoom& action);
  void perform(const core::GiveUpSending& action);
  void perform(const core::FreeScratch& action);
  void perform(const core::FreeResults& action);
  void perform(const core::Report& action);
  void perform(const core::Remove& action);

 private:
  const core::AttemptState& state() const { return context_.state.attempts.at(ref_); }
  const wire::node::Launch& launch() const { return state().launch; }
  const core::Settings& settings() const { return context_.state.settings; }
  Status note_launch() const;
  std::shared_ptr<Transfer> make_transfer(TransferOptions options);
  void watch(Supervisor shim);
  void watch(const io::ProcessIdentity& shim);
  void unwatch();
  void shim_ended(bool is_ours);
  void find_other_shim();
  void runtime_prepared(Result<RuntimeRecord> prepared);
  /// Its directory is not removed before that is over.
  void on_thread(io::Offload& threads, std::function<void()> blocking, std::function<void()> then);
  void remove_when_idle(bool may_be_reused);
  void remove(bool may_be_reused);

  AttemptContext& context_;
  wire::node::AttemptRef ref_;
  AttemptPaths paths_;
  LogShipper log_;
  std::optional<HeldPorts> held_ports_{};
  std::shared_ptr<Transfer> fetching_{};
  std::shared_ptr<Transfer> delivering_{};
  io::ProcessIdentity found_{};                ///< The shim that its directory names.
  std::optional<Supervisor> supervisor_{};     ///< Of a shim that we started.
  std::optional<io::ProcessIdentity> shim_{};  ///< One that we found.
  io::Descriptor shim_handle_{};               ///< Its handle.
  bool is_stopping_ = false;                   ///< Also for a shim that we are about to find.
  std::shared_ptr<io::FileLock> lock_{};       ///< While it is decided how to go on without a shim.
  std::stop_source preparing_{};               ///< Of its runtime.
  RuntimeRecord runtime_{};                    ///< Once that is prepared.
  int at_work_ = 0;                            ///< Threads that are in its directory.
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< For what comes back from threads.
};

}  // namespace berth::node
