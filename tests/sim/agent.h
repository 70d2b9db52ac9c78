// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>

#include "node/core/agent.h"
#include "sim/machine.h"

namespace berth::sim {

/// `berth node`: node/core decides, as it does in src/node/agent.cc, and this carries it out on a
/// simulated disk, with simulated supervisors and transfers. It decides nothing itself. It speaks
/// the real protocol through the real codec.
class Agent {
 public:
  explicit Agent(Machine& machine);

  void start();
  /// No destructor runs in a process that is killed; the connection is all that notices.
  void die(bool with_machine);
  void told_to_end() { turns_.feed(node::core::ToldToEnd{}); }
  void supervisor_ended(const wire::node::AttemptRef& ref);

 private:
  friend class node::core::Turns<Agent>;
  using AttemptRef = wire::node::AttemptRef;

  /// Something that takes its time while there is a connection, and begins anew after a pause.
  struct Transfer {
    enum class State { None, Paused, Going, Over };
    State state = State::None;
    int number = 0;  ///< A pause makes what was under way void.
  };
  struct Transfers {
    Transfer fetching{};
    Transfer preparing{};  ///< What the commands run in; no connection is needed for it.
    Transfer delivering{};
  };

  template <typename Work>
  void later(Duration delay, Work work);
  Kept& kept(const AttemptRef& ref) { return machine_.kept().at(ref); }
  const Behaviour& behaviour(const AttemptRef& ref);
  node::core::Moment now() const;

  // The connection.
  void dial();
  void dial_later();
  void opened(std::shared_ptr<Connection> connection);
  void closed();
  void received(const std::string& data, bool binary);
  void told_to_launch(wire::node::Launch& launch);

  // What node/core decides. Logs and full disks are not simulated: a log is with the server as soon
  // as it is to be.
  void perform(const node::core::Send& action);
  void perform(const node::core::Redial& action);
  void perform(const node::core::SetTimer& action);
  void perform(const node::core::CancelTimer& action) { timers_.erase(action.timer); }
  void perform(const node::core::LookAtHouse&) { turns_.feed(node::core::HouseSeen{}); }
  void perform(const node::core::WriteLease& action);
  void perform(const node::core::Warn&) {}
  void perform(const node::core::End& action);
  void perform(const node::core::LayOut& action);
  void perform(const node::core::NoteLaunch& action) { note_launch(action.attempt); }
  void perform(const node::core::NoteGo& action);
  void perform(const node::core::Fetch& action);
  void perform(const node::core::Resume& action);
  void perform(const node::core::Hold& action);
  void perform(const node::core::AbortFetch& action);
  void perform(const node::core::PrepareRuntime& action);
  void perform(const node::core::CancelRuntime& action);
  void perform(const node::core::HoldPorts& action);
  void perform(const node::core::ReleasePorts&) {}
  void perform(const node::core::StartSupervisor& action);
  void perform(const node::core::WatchSupervisor& action);
  void perform(const node::core::ProbeService& action);
  void perform(const node::core::OpenWay&) {}  // Nobody asks it for anything.
  void perform(const node::core::CloseWay&) {}
  void perform(const node::core::StopSupervisor& action);
  void perform(const node::core::CleanUp& action);
  void perform(const node::core::WriteExit& action);
  void perform(const node::core::AskForLog&) {}
  void perform(const node::core::NoteLogStored&) {}
  void perform(const node::core::FinishLog& action);
  void perform(const node::core::GiveUpLog&) {}
  void perform(const node::core::Deliver& action);
  void perform(const node::core::AbortDelivery& action);
  void perform(const node::core::LookAtSending& action);
  void perform(const node::core::MeasureRoom& action);
  void perform(const node::core::GiveUpSending& action);
  void perform(const node::core::FreeScratch&) {}
  void perform(const node::core::FreeResults& action);
  void perform(const node::core::Report& action);
  void perform(const node::core::Remove& action);

  void note_launch(const AttemptRef& ref);
  void resume(const AttemptRef& ref, Transfer Transfers::*which, Duration takes,
              node::core::Event done);
  static void stop(Transfer& transfer, Transfer::State state);

  Machine& machine_;
  Stage& stage_;
  node::core::AgentState state_;
  node::core::Turns<Agent> turns_{state_, *this};
  std::map<node::core::Timer, int> timers_{};  ///< The number of the one that counts.
  int last_timer_ = 0;
  std::map<AttemptRef, Transfers> transfers_{};
  std::set<AttemptRef> started_{};         ///< Whose supervisors this agent has started.
  std::map<AttemptRef, int> timelines_{};  ///< In which it was told to launch them.
  std::map<int, std::set<AttemptRef>> given_while_leaving_{};  ///< By timeline.
  std::shared_ptr<Connection> connection_{};
  std::shared_ptr<io::WebSocket> socket_{};
  int failures_ = 0;  ///< Connections in a row that could not be had.
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
