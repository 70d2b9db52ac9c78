// SPDX-License-Identifier: Apache-2.0
// What an agent decides to do. Its shell carries actions out in their order, and then feeds the
// events that answer them.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "node/core/event.h"

namespace berth::node::core {

// ---- The process as a whole

/// Dropped while there is no connection: Hello says it all again.
struct Send {
  wire::node::ToServer message{};
};

/// Dial anew: the server repeats every Launch then, with addresses that are valid again.
struct Redial {};

/// Replaces one of the same name that runs.
struct SetTimer {
  Timer timer{};
  Duration delay{};
};
struct CancelTimer {
  Timer timer{};
};

/// Answered by HouseSeen.
struct LookAtHouse {};

/// Puts the deadline where supervisors read it. Answered by LeaseWritten.
struct WriteLease {
  Deadline deadline{};
  bool is_first = false;  ///< The file has to be made.
  std::optional<wire::node::LeaseRenewed> for_message{};
};

/// For the agent's own log.
struct Warn {
  std::string text{};
};

/// The process ends. Supervisors and their jobs go on, and the next agent takes them up.
struct End {
  std::string reason{};
};

// ---- One attempt. The shell reads its launch in AgentState.

/// Make its directory and write the launch down: from there on it is this node's. Answered by
/// LaidOut.
struct LayOut {
  AttemptRef attempt{};
};

/// Write the launch down again. A failure is only worth a warning.
struct NoteLaunch {
  AttemptRef attempt{};
};

/// Write the launch down with what was added to it, by Go or as a service's port: this is what the
/// supervisor runs. Answered by GoNoted.
struct NoteGo {
  AttemptRef attempt{};
};

/// Begin to fetch code and inputs, from Resume on. Answered by Fetched.
struct Fetch {
  AttemptRef attempt{};
};

/// Transfers use the addresses of the launch from here on.
struct Resume {
  AttemptRef attempt{};
};

/// There is no connection: transfers pause, and so does the log.
struct Hold {
  AttemptRef attempt{};
};

/// Whatever is fetched is not needed any more. Not answered.
struct AbortFetch {
  AttemptRef attempt{};
};

/// Make ready what the attempt's commands run in. May take long. Answered by RuntimePrepared.
struct PrepareRuntime {
  AttemptRef attempt{};
};

/// PrepareRuntime is to come to an end, and is not answered any more.
struct CancelRuntime {
  AttemptRef attempt{};
};

/// See that nobody else takes so many consecutive ports. Answered by PortsHeld.
struct HoldPorts {
  AttemptRef attempt{};
  int count = 1;
  int preferred = 0;         ///< The first of those that the peers may know already; 0: none.
  bool is_loopback = false;  ///< Of the machine itself, and not where peers reach this node.
};
struct ReleasePorts {
  AttemptRef attempt{};
};

/// Answered by SupervisorStarted or SupervisorFailed, and by SupervisorEnded when it is over.
struct StartSupervisor {
  AttemptRef attempt{};
};

/// Watch the one that was found. Answered by SupervisorEnded.
struct WatchSupervisor {
  AttemptRef attempt{};
};

/// Ask the service at its port whether it answers. Answered by Probed.
struct ProbeService {
  AttemptRef attempt{};
  int port = 0;
};

/// From here on the server finds spare connections to the service, until CloseWay.
struct OpenWay {
  AttemptRef attempt{};
  int port = 0;
};
struct CloseWay {
  AttemptRef attempt{};
};

/// End what runs. Also holds for a supervisor that is about to be found.
struct StopSupervisor {
  AttemptRef attempt{};
};

/// End what a supervisor left that was killed, before any other can begin. Answered by CleanedUp.
struct CleanUp {
  AttemptRef attempt{};
};

/// An ending that no supervisor wrote down.
struct WriteExit {
  AttemptRef attempt{};
  model::Outcome outcome{};
};

/// Ask the server how much of the log it has, and go on from there.
struct AskForLog {
  AttemptRef attempt{};
};

/// The server has the log up to this size.
struct NoteLogStored {
  AttemptRef attempt{};
  std::uint64_t size = 0;
};

/// The log grows no more. Answered by LogShipped.
struct FinishLog {
  AttemptRef attempt{};
};

/// The rest of the log stays here. FinishLog is not answered any more.
struct GiveUpLog {
  AttemptRef attempt{};
};

/// Begin to send outputs back, from Resume on. Answered by Delivered, at once when there are none.
struct Deliver {
  AttemptRef attempt{};
  bool was_success = false;
};

/// Deliver is not answered any more.
struct AbortDelivery {
  AttemptRef attempt{};
};

/// Answered by SendingSeen.
struct LookAtSending {
  AttemptRef attempt{};
};

/// Looks at every file, so only for when there is no room. Answered by RoomMeasured.
struct MeasureRoom {
  AttemptRef attempt{};
};

/// Stop sending log and outputs. Answered by SendingGivenUp.
struct GiveUpSending {
  AttemptRef attempt{};
};

/// Remove what the job left and nobody asked for.
struct FreeScratch {
  AttemptRef attempt{};
};

/// Remove all but the attempt's end, which says that nothing else is left. Answered by
/// ResultsFreed.
struct FreeResults {
  AttemptRef attempt{};
  Exit exit{};
};

/// Send its end, with the size that its log has.
struct Report {
  AttemptRef attempt{};
  wire::node::Ended ended{};
};

/// Remove its directory. Answered by Removed.
struct Remove {
  AttemptRef attempt{};
  bool may_be_reused = false;  ///< The directory, by the next attempt.
};

using Action =
    std::variant<Send, Redial, SetTimer, CancelTimer, LookAtHouse, WriteLease, Warn, End, LayOut,
                 NoteLaunch, NoteGo, Fetch, Resume, Hold, AbortFetch, PrepareRuntime, CancelRuntime,
                 HoldPorts, ReleasePorts, StartSupervisor, WatchSupervisor, ProbeService, OpenWay,
                 CloseWay, StopSupervisor, CleanUp, WriteExit, AskForLog, NoteLogStored, FinishLog,
                 GiveUpLog, Deliver, AbortDelivery, LookAtSending, MeasureRoom, GiveUpSending,
                 FreeScratch, FreeResults, Report, Remove>;
using Actions = std::vector<Action>;

}  // namespace berth::node::core
