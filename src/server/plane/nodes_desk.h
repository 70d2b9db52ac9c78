// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/node.h"
#include "server/plane/desk.h"
#include "wire/node/message.h"

namespace berth::server {

/// What nodes and their providers report. Reports of an older attempt, or for another node's job,
/// change nothing. See desk.h.
class NodesDesk {
 public:
  NodesDesk(const DeskParts& parts, Effects& effects)
      : parts_(parts), state_(parts.ledger.state()), effects_(effects) {}

  using Held = wire::node::AttemptRef;
  struct Joining {
    int slots = 1;
    std::string work_root{};
    std::string address{};
    std::optional<WallTime> ends_at{};
    bool is_leaving = false;  ///< As withdrew() says.
  };
  /// The node is here and holds these attempts: launches what it should have and has not, stops
  /// what it should not have.
  Status joined(const model::NodeId& node, const Joining& joining, const std::vector<Held>& held);
  void works_ahead(const model::NodeId& node, int attempts);
  void detached(const model::NodeId& node);
  /// It says that it goes, and not by our will: what it holds may end there, and nothing more is
  /// given to it.
  void withdrew(const model::NodeId& node);
  /// Its provider has taken it; `note` is what the site says of it.
  void started(const model::NodeId& node, const std::string& note);
  void start_failed(const model::NodeId& node, const std::string& error);
  void gone(const model::NodeId& node);
  /// The server is about to stop: the node may go on without it until then.
  void extend_lease(const core::NodeLeaseExtended& lease);

  // Of an attempt that it holds.

  void job_advanced(const model::NodeId& node, const Held& attempt, model::JobStatus status);
  void member_prepared(const model::NodeId& node, const Held& attempt, const std::string& address,
                       int port);
  /// Whether the service answers, by its node's probes.
  void endpoint_changed(const model::NodeId& node, const Held& attempt,
                        const model::Endpoint& endpoint);
  /// It was not begun there and is queued again; one that is to be cancelled is over.
  void job_returned(const model::NodeId& node, const Held& attempt);
  /// Its command was started then; recorded with its end, which must follow.
  void job_began(const model::NodeId& node, const Held& attempt, WallTime at);
  /// `more` are rows that belong to the end (its log). The end is acknowledged by Effects::forget.
  void job_ended(const model::NodeId& node, const Held& attempt, model::Outcome outcome,
                 store::Batch more);

 private:
  void launch_or_settle(const model::Job& job, const model::NodeId& node,
                        const std::vector<Held>& held);
  void after_loss(const model::JobKey& job);

  DeskParts parts_;
  const core::State& state_;
  Effects& effects_;
};

}  // namespace berth::server
