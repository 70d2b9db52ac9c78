// SPDX-License-Identifier: Apache-2.0
// What happens to an agent. Its shell (node/agent.cc, or tests/sim/agent.cc) feeds it; several of
// these answer an action of node/core/action.h.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "model/job.h"
#include "node/core/lease.h"
#include "wire/node/message.h"

namespace berth::node::core {

using wire::node::AttemptRef;

/// The time at which an event happens, on each of the clocks that decisions go by.
struct Moment {
  TimePoint mono{};
  WallTime wall{};
  Duration since_boot{};  ///< For the lease, which supervisors keep as well.
};

/// What an agent waits for. One timer of each kind runs at most, for each attempt if it has one.
struct Timer {
  enum class Kind {
    House,         ///< The next look at whether to end.
    Beat,          ///< The next Heartbeat.
    Pace,          ///< The next look at how long attempts run.
    StartWaiting,  ///< A slot is free.
    Say,           ///< The attempt's phase is to be told.
    Renew,         ///< The server has not sent fresh addresses.
    HeldBack,      ///< The end of the attempt may be taken for its own.
    Look,          ///< The next look at what is sent back.
    Probe,         ///< The service is to be probed.
  };
  Kind kind = Kind::House;
  AttemptRef attempt{};  ///< For the last five.

  friend auto operator<=>(const Timer&, const Timer&) = default;
};

// ---- The process as a whole

/// Every attempt on the disk has been Found, and the agent begins to dial.
struct Started {};

/// The disk has this attempt, which an agent before this one began.
struct Found {
  wire::node::Launch launch{};
  int port = 0;                 ///< That was said in Prepared; 0: none.
  bool is_of_this_boot = true;  ///< False: the machine was restarted since.
  bool has_supervisor = false;  ///< There is one, or was, or it has written the end down.
};

struct Connected {};
struct Disconnected {};

/// The server says something.
struct Heard {
  wire::node::ToNode message{};
};

struct TimerFired {
  Timer timer{};
};

/// Answers LookAtHouse.
struct HouseSeen {
  bool has_work_root = true;
  /// The server of this machine was stopped and has taken its address with it. One that crashed
  /// comes back soon.
  bool was_server_stopped = false;
};

/// Answers WriteLease.
struct LeaseWritten {
  std::optional<std::string> not_made{};  ///< Why there cannot be a file of the lease.
  bool is_written = true;  ///< False: supervisors go by the deadline before this one.
  std::optional<wire::node::LeaseRenewed> for_message{};  ///< Of WriteLease.
};

/// SIGTERM or SIGINT.
struct ToldToEnd {};

// ---- One attempt

/// Answers LayOut. No error, here and below: it went well.
struct LaidOut {
  AttemptRef attempt{};
  std::optional<std::string> error{};
};

/// Everything that Fetch was to bring is there, or an error says what cannot be had.
struct Fetched {
  AttemptRef attempt{};
  std::optional<std::string> error{};
};

/// The signature of an address that is fetched from or delivered to is not valid any more.
struct AddressesRefused {
  AttemptRef attempt{};
};

/// What its commands run in is ready, and that is written down; or it cannot be had.
struct RuntimePrepared {
  AttemptRef attempt{};
  std::optional<std::string> error{};
};

/// Answers HoldPorts.
struct PortsHeld {
  AttemptRef attempt{};
  int port = 0;  ///< The first of them.
  std::optional<std::string> error{};
};

/// Answers NoteGo.
struct GoNoted {
  AttemptRef attempt{};
  std::optional<std::string> error{};
};

/// Answers StartSupervisor.
struct SupervisorStarted {
  AttemptRef attempt{};
};

/// Answers StartSupervisor.
struct SupervisorFailed {
  AttemptRef attempt{};
  std::string error{};
  bool needs_new_agent = false;  ///< This agent can start none any more.
};

/// Answers ProbeService.
struct Probed {
  AttemptRef attempt{};
  bool is_good = false;
};

/// How an attempt ended, as its supervisor or an agent has written it down.
struct Exit {
  model::Outcome outcome{};
  WallTime started_at{};
  /// Nothing of it is left to be sent: its log and its outputs are with the server, or were given
  /// up, and may be gone from here.
  bool is_delivered = false;
  std::vector<std::string> delivery_errors{};
};

/// The attempt has no supervisor any more, and this is what lies in its directory.
struct SupervisorEnded {
  AttemptRef attempt{};
  bool is_ours = false;        ///< This agent started it.
  std::optional<Exit> exit{};  ///< None: the supervisor was killed.
  bool was_begun = false;      ///< The supervisor had begun: the command may have run.
  std::string full_disk{};     ///< The name of the attempt's disk when it has no room left.
};

/// Answers CleanUp.
struct CleanedUp {
  AttemptRef attempt{};
};

/// The server has all of the log.
struct LogShipped {
  AttemptRef attempt{};
};

/// Answers Deliver, once everything is with the server or cannot be taken.
struct Delivered {
  AttemptRef attempt{};
  std::vector<std::string> errors{};
  std::vector<std::string> notes{};
};

/// Answers LookAtSending.
struct SendingSeen {
  AttemptRef attempt{};
  std::uint64_t progress = 0;  ///< Grows with every part that the server has taken.
  bool has_file_under_way = false;
  bool lacks_room = false;  ///< The last that was heard of the server is that its disk is full.
  bool has_queue = false;   ///< The connection has messages that are not sent yet.
  std::string full_disk{};  ///< As in SupervisorEnded.
};

/// Answers MeasureRoom.
struct RoomMeasured {
  AttemptRef attempt{};
  bool holds_much = false;  ///< Removing the attempt's files is likely to help.
};

/// Answers GiveUpSending.
struct SendingGivenUp {
  AttemptRef attempt{};
  std::uint64_t unsent_log = 0;      ///< Bytes.
  std::vector<std::string> notes{};  ///< Of the delivery.
  std::string full_disk{};           ///< As in SupervisorEnded.
};

/// Answers FreeResults.
struct ResultsFreed {
  AttemptRef attempt{};
};

/// Answers Remove: the directory is gone.
struct Removed {
  AttemptRef attempt{};
};

using Event = std::variant<Started, Found, Connected, Disconnected, Heard, TimerFired, HouseSeen,
                           LeaseWritten, ToldToEnd, LaidOut, Fetched, AddressesRefused,
                           RuntimePrepared, PortsHeld, GoNoted, SupervisorStarted, SupervisorFailed,
                           Probed, SupervisorEnded, CleanedUp, LogShipped, Delivered, SendingSeen,
                           RoomMeasured, SendingGivenUp, ResultsFreed, Removed>;

}  // namespace berth::node::core
