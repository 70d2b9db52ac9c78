// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "node/lease.h"
#include "node/pace.h"
#include "sim/machine.h"

namespace berth::sim {

/// `berth node` as src/node/agent.cc and attempt.cc have it, without processes, files and
/// transfers. It speaks the real protocol through the real codec and keeps the real lease and pace;
/// what it does with them follows those files function by function, and must be kept so.
class Agent {
 public:
  explicit Agent(Machine& machine);

  void start();
  /// No destructor runs in a process that is killed; the connection is all that notices.
  void die(bool with_machine);
  void told_to_end();
  void supervisor_ended(const wire::node::AttemptRef& ref);

 private:
  using AttemptRef = wire::node::AttemptRef;
  using Phase = wire::node::Phase;
  enum class Transfer { None, Paused, Going, Done };
  struct Attempt {
    Phase phase = Phase::Preparing;
    bool is_confirmed = false;
    bool is_disowned = false;
    bool is_forgotten = false;
    bool is_removing = false;
    bool waits_for_go = false;  ///< Holds its ports.
    bool is_saying = false;
    Transfer fetching = Transfer::None;
    Transfer delivering = Transfer::None;
    int transfer_number = 0;  ///< A pause makes what was under way void.
    std::optional<Duration> began{};
    std::optional<Duration> ran{};
    model::Outcome outcome{};
  };
  struct Waiting {
    wire::node::Launch launch{};
    int timeline = 0;
  };

  template <typename Work>
  void later(Duration delay, Work work);
  Attempt* find(const AttemptRef& ref);
  Kept& kept(const AttemptRef& ref) { return machine_.kept().at(ref); }
  const Behaviour& behaviour(const AttemptRef& ref);

  // The connection.
  void dial();
  void dial_later();
  void opened(std::shared_ptr<Connection> connection);
  void closed();
  void redial();
  void received(const std::string& data, bool binary);
  void send(const wire::node::ToServer& message);

  void on(const wire::node::Welcome& message);
  void on(const wire::node::Launch& message);
  void on(const wire::node::Go& message);
  void on(const wire::node::LeaseRenewed& message);
  void on(const wire::node::Stop& message);
  void on(const wire::node::Forget& message);
  void on(const wire::node::LogStored&) {}
  void on(const wire::node::Leave& message);

  // The process as a whole.
  void start_waiting();
  bool forget_waiting(const AttemptRef& ref);
  void over(std::optional<Duration> ran);
  void tell_pace();
  void look_at_pace();
  void return_waiting();
  void beat();
  void check_lease();
  void keep_house();
  void end_if_done();
  bool nothing_runs() const;
  void end(const char* why);

  // One attempt.
  void launch(const Waiting& waiting);
  void adopt(const AttemptRef& ref);
  void prepare(const AttemptRef& ref);
  void fetch(const AttemptRef& ref);
  void prepared(const AttemptRef& ref);
  void start_supervisor(const AttemptRef& ref);
  void advance(const AttemptRef& ref, Phase phase);
  void settle(const AttemptRef& ref, model::Outcome outcome);
  void finalize(const AttemptRef& ref, const model::Outcome& outcome);
  void deliver(const AttemptRef& ref);
  void report_when_done(const AttemptRef& ref);
  void report(const AttemptRef& ref);
  void confirm(const AttemptRef& ref, const wire::node::Launch& launch);
  void stop(const AttemptRef& ref);
  void remove(const AttemptRef& ref);

  Machine& machine_;
  Stage& stage_;
  std::map<AttemptRef, Attempt> attempts_{};
  std::deque<Waiting> waiting_{};
  node::Lease lease_{};
  bool has_lease_file_ = false;
  node::Pace pace_;
  int told_ahead_ = 0;
  bool looks_at_pace_ = false;
  std::shared_ptr<Connection> connection_{};
  std::shared_ptr<io::WebSocket> socket_{};
  std::optional<Duration> lost_since_{};
  Duration pause_{50};
  std::optional<std::string> leave_reason_{};
  bool is_withdrawn_ = false;
  std::map<int, std::set<AttemptRef>> given_while_leaving_{};  ///< By timeline.
  bool is_lapsed_ = false;
  int beats_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
