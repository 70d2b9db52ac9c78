// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "node/core/event.h"
#include "sim/network.h"
#include "sim/stage.h"
#include "target/node_provider.h"
#include "wire/node/message.h"

namespace berth::sim {

/// How a submission's command behaves, wherever it runs.
struct Behaviour {
  Duration runs{1'000};
  int exit_code = 0;
  bool ignores_sigterm = false;
  Duration fetches{0};  ///< Code and inputs.
  Duration delivers{0};
};
using Behaviours = std::map<Submission, Behaviour>;

/// An attempt's directory and its supervisor, which outlive the agent.
struct Kept {
  wire::node::Launch launch{};
  int port = 0;
  Judge::Run run{};
  bool was_begun = false;  ///< There was a supervisor.
  bool runs = false;
  WallTime started_at{};
  std::optional<node::core::Exit> exit{};  ///< As it was written down.
};

class Agent;

/// One node: a disk with attempts, supervisors that keep the lease, and at times an agent.
class Machine {
 public:
  struct Parts {
    Stage& stage;
    Network& network;
    const Behaviours& behaviours;
    /// A site that owns the machine takes it back when its agent ends; on the server's own machine
    /// only a process ends.
    bool is_remote = false;
  };
  Machine(Parts parts, target::NodeSpec spec);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const target::NodeSpec& spec() const { return spec_; }
  const Parts& parts() const { return parts_; }
  bool has_agent() const { return agent_ != nullptr; }
  bool holds_attempts() const { return !kept_.empty(); }
  bool is_destroyed() const { return is_destroyed_; }

  void start_agent();
  /// SIGKILL, or what ends it from outside. Supervisors and their work go on.
  void kill_agent();
  /// SIGTERM from its site.
  void withdraw();
  /// The machine is gone, and all that was on it.
  void destroy();
  /// kill -9 of the supervisor of something that runs.
  void kill_some_supervisor();

  // For the agent.

  std::map<wire::node::AttemptRef, Kept>& kept() { return kept_; }
  void start_supervisor(const wire::node::AttemptRef& attempt);
  void stop_supervisor(const wire::node::AttemptRef& attempt);
  void set_lease(const node::core::Deadline& deadline);
  void forget_lease() { lease_.reset(); }
  void agent_ended();

 private:
  void finish(const wire::node::AttemptRef& attempt, model::Outcome outcome);
  void tell_agent(const wire::node::AttemptRef& attempt);
  void look_at_lease();
  template <typename Work>
  void later(Duration delay, Work work);

  Parts parts_;
  target::NodeSpec spec_;
  std::map<wire::node::AttemptRef, Kept> kept_{};
  std::unique_ptr<Agent> agent_{};
  std::optional<node::core::Deadline> lease_{};  ///< The file; none: there is none.
  bool is_destroyed_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
