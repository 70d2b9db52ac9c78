// SPDX-License-Identifier: Apache-2.0
// Everything that an agent knows, in one place. Only node/core changes it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/core/event.h"
#include "node/core/lease.h"
#include "node/core/pace.h"

namespace berth::node::core {

/// What does not change while the agent lives.
struct Settings {
  model::NodeId node{};
  std::string version{};
  int slots = 1;
  std::string work_root{};
  std::string address{};              ///< Where other nodes of the cluster reach this one.
  std::optional<WallTime> ends_at{};  ///< When the site takes this node back.
  bool is_remote = false;   ///< The node is its site's, which may end it; else it is the server's.
  std::string authority{};  ///< The file of the CA that vouches for the server; empty: plain HTTP.
  Duration lonely_after = std::chrono::seconds(60);
  Duration housekeeping = std::chrono::seconds(1);
};

/// One attempt, from its Launch to its Forget.
///
///   Preparing ──(and Go, if it waits for that)──> Running ──> Finalizing ──> Ended ──(Forget)──>
///   gone
///       └───────(could not start, or stopped)──^
struct AttemptState {
  wire::node::Launch launch{};  ///< With the newest addresses, and with what Go added.
  wire::node::Phase phase = wire::node::Phase::Preparing;
  bool is_confirmed = false;  ///< The server wants it, and has said so on this connection.
  bool is_disowned = false;   ///< Nobody wants it: nothing is sent back.
  bool is_forgotten = false;
  bool is_removing = false;
  bool is_stopping = false;
  std::string withdrawn{};  ///< Why its node is taken back, once it is.

  // Preparing and running.
  bool is_fetching = false;         ///< Fetch was asked for, if only in the past.
  bool is_making_runtime = false;   ///< PrepareRuntime is not answered yet.
  int port = 0;                     ///< Said in Prepared; 0: not yet.
  bool holds_ports = false;         ///< While it waits for Go.
  int starts = 0;                   ///< Of supervisors.
  std::optional<Exit> held_back{};  ///< An end that is not believed yet.
  TimePoint began{};  ///< Since when it is prepared or its command runs; of a found one, for ever.
  std::optional<Duration> ran{};
  std::optional<WallTime> started_at{};  ///< The command, as its supervisor wrote it down.

  // A service, while its command runs.
  std::optional<model::EndpointState> endpoint{};  ///< None: an agent before us knew.
  int failed_probes = 0;                           ///< In a row.
  bool has_way = false;                            ///< OpenWay was decided.

  // What is told to the server.
  bool is_saying = false;    ///< A timer runs.
  bool is_renewing = false;  ///< Fresh addresses were asked for, and a timer runs.

  // Finalizing.
  model::Outcome outcome{};
  bool is_delivered = false;
  bool is_log_stored = false;
  std::vector<std::string> delivery_errors{};
  bool was_looked_at = false;
  std::uint64_t progress = 0;  ///< Of what is sent back, when it was last looked at.
  TimePoint progress_at{};
  std::optional<bool> holds_much{};  ///< Of its disk; unknown until it matters.
  bool has_freed_scratch = false;
  bool has_freed_results = false;
};

/// Has a slot: it is being prepared, or its command runs.
inline bool is_at_work(const AttemptState& attempt) {
  return attempt.phase == wire::node::Phase::Preparing ||
         attempt.phase == wire::node::Phase::Running;
}

struct AgentState {
  explicit AgentState(Settings fixed) : settings(std::move(fixed)), pace(settings.slots) {}

  Settings settings;
  std::map<AttemptRef, AttemptState> attempts{};
  std::deque<wire::node::Launch> waiting{};  ///< More than we run at once; not begun.

  bool is_connected = false;
  std::optional<TimePoint> lost_since{};  ///< Since when there has been no connection.
  bool was_server_stopped = false;        ///< As of the last look.

  Pace pace;
  int told_ahead = 0;               ///< The WorkAhead that the server knows of.
  bool is_looking_at_pace = false;  ///< A timer runs.

  Lease lease{};
  bool has_lease_file = false;  ///< Once there has been a lease.
  bool is_lapsed = false;

  std::optional<std::string> leave_reason{};
  bool is_withdrawn = false;  ///< The site takes the node back.
  bool has_ended = false;     ///< End was decided: nothing more is.
};

}  // namespace berth::node::core
