// SPDX-License-Identifier: Apache-2.0
// What server and node say to each other, over one WebSocket that the node dials.
//
// A text frame is one JSON object {"kind": "<struct name>", …members…}. A binary frame is a
// LogChunk: its JSON header, a newline, then the raw bytes. Unknown kinds are ignored, so that
// either side may be newer.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/attempt.h"
#include "model/job.h"

namespace berth::wire::node {

using model::AttemptRef;
using model::Deliver;
using model::Fetch;

// Server to node.

struct Welcome {
  std::string server_version{};
  /// How long the node may go on without hearing from the server; none: for ever. A node with a
  /// lease sends a Heartbeat every third of it.
  std::optional<Duration> lease{};
};
BOOST_DESCRIBE_STRUCT(Welcome, (), (server_version, lease))

/// One process of an attempt that runs several on its node.
struct RankProcess {
  std::map<std::string, std::string> environment{};  ///< Beside the attempt's own.
  std::string log{};  ///< "user_logs/std_log_process_01.txt"; the first one's is the node's log.
};
BOOST_DESCRIBE_STRUCT(RankProcess, (), (environment, log))

/// How an attempt's processes are started.
enum class Starter {
  Shim,     ///< By the node itself.
  Mpirun,   ///< By mpirun, which runs here and starts them on all members (BERTH_MPI_HOSTS).
  MpiHost,  ///< By the mpirun of another member, which asks for it at this node's port.
};
BOOST_DESCRIBE_ENUM(Starter, Shim, Mpirun, MpiHost)

/// Everything needed to run an attempt: the plan, whose root is the attempt's directory, and what
/// only a node has to know. Repeating it starts nothing new.
struct Launch : model::LaunchPlan {
  AttemptRef attempt{};
  std::optional<std::uint64_t> memory_limit_bytes{};
  std::optional<double> cpu_limit{};             ///< Cores.
  std::optional<std::uint64_t> process_limit{};  ///< Processes and threads; none: the node's own.
  /// More than one: the command is started so often. The first to fail ends the others.
  std::vector<RankProcess> processes{};
  Starter starter = Starter::Shim;
  /// Its peers must be ready too: say Prepared after fetching, and start when Go comes.
  bool waits_for_go = false;
  bool ships_log = true;  ///< False: the log is one of the deliveries.
  std::string run_as{};   ///< A Unix user of the node's machine; empty: the agent's own.
  /// It answers requests at a port, and is probed: see Serving.
  std::optional<model::ServiceSpec> service{};
};
// The members of the plan are among the others: so older nodes and servers know them.
BOOST_DESCRIBE_STRUCT(Launch, (),
                      (attempt, command, working_directory, environment, secrets, fetches,
                       directories, deliveries, timeout, memory_limit_bytes, cpu_limit,
                       process_limit, processes, starter, waits_for_go, ships_log, run_as, service))

/// Every member of the attempt has prepared: start, with these variables beside the Launch's. In
/// each value, and in the command, nothing is left to be replaced. Repeating it changes nothing.
struct Go {
  AttemptRef attempt{};
  std::map<std::string, std::string> environment{};
  /// Beside those of Launch::processes, in their order; may be shorter.
  std::vector<std::map<std::string, std::string>> processes{};
};
BOOST_DESCRIBE_STRUCT(Go, (), (attempt, environment, processes))

/// The lease runs for `lease` from when the Heartbeat that this answers was sent, or, with number
/// 0, from when this arrives: so a server that stops in good order gives a long one, and runs
/// nothing elsewhere before that is over. None: no lease any more.
struct LeaseRenewed {
  std::int64_t heartbeat = 0;  ///< Heartbeat::number; these begin at 1.
  std::optional<Duration> lease{};
};
BOOST_DESCRIBE_STRUCT(LeaseRenewed, (), (heartbeat, lease))

/// End it: SIGTERM to the tree, grace, SIGKILL. Of something unknown: answered by Ended{Lost}.
struct Stop {
  AttemptRef attempt{};
};
BOOST_DESCRIBE_STRUCT(Stop, (), (attempt))

/// The end is on the server's disk: delete the attempt's directory and forget it.
struct Forget {
  AttemptRef attempt{};
};
BOOST_DESCRIBE_STRUCT(Forget, (), (attempt))

/// The log is stored up to `size`; the node need not send that part again.
struct LogStored {
  AttemptRef attempt{};
  std::uint64_t size = 0;
};
BOOST_DESCRIBE_STRUCT(LogStored, (), (attempt, size))

/// Exit, once nothing runs.
struct Leave {
  std::string reason{};
};
BOOST_DESCRIBE_STRUCT(Leave, (), (reason))

// Node to server.

enum class Phase { Preparing, Running, Finalizing, Ended };
BOOST_DESCRIBE_ENUM(Phase, Preparing, Running, Finalizing, Ended)

struct HeldAttempt {
  AttemptRef attempt{};
  Phase phase = Phase::Preparing;
};
BOOST_DESCRIBE_STRUCT(HeldAttempt, (), (attempt, phase))

/// First message after dialling, every time: who it is and what it still holds. An attempt that the
/// server believes is there and that is not in `attempts` was lost.
struct Hello {
  model::NodeId node{};
  std::string version{};
  int slots = 1;
  std::string work_root{};
  std::string address{};              ///< Where other nodes of its cluster reach it.
  std::optional<WallTime> ends_at{};  ///< When its site takes it back, if that is known.
  bool is_leaving = false;            ///< As Leaving says; that was said while nobody listened.
  std::vector<HeldAttempt> attempts{};
};
BOOST_DESCRIBE_STRUCT(Hello, (),
                      (node, version, slots, work_root, address, ends_at, is_leaving, attempts))

/// Asks for the lease to be renewed. Numbered, so that an answer counts from when it was asked for.
struct Heartbeat {
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(Heartbeat, (), (number))

/// The lease that came without being asked for (LeaseRenewed with number 0) is where supervisors
/// read it: a server that stops waits for this. A node of an earlier version does not say it.
struct LeaseNoted {
  std::optional<Duration> lease{};
};
BOOST_DESCRIBE_STRUCT(LeaseNoted, (), (lease))

/// The node's site takes it back, or somebody ends it: it takes no more work, and goes when what it
/// holds is over.
struct Leaving {
  std::string reason{};
};
BOOST_DESCRIBE_STRUCT(Leaving, (), (reason))

/// Code and inputs are there and a port was found; the attempt waits for Go. Repeated with every
/// Hello while it waits, with the same port unless that is gone. Where the launch has several
/// processes, as many ports from `port` on are free.
struct Prepared {
  AttemptRef attempt{};
  std::string address{};
  int port = 0;
};
BOOST_DESCRIBE_STRUCT(Prepared, (), (attempt, address, port))

/// How many attempts beyond its slots the node wants to have at hand from now on: they wait there
/// for their turn.
struct WorkAhead {
  int attempts = 0;
};
BOOST_DESCRIBE_STRUCT(WorkAhead, (), (attempts))

/// The attempt waited here for its turn and has not been begun: somebody else may have it.
struct Returned {
  AttemptRef attempt{};
};
BOOST_DESCRIBE_STRUCT(Returned, (), (attempt))

/// The addresses of the attempt's Launch are refused: say Launch again, with fresh ones. A server
/// that does not know this says nothing; the node dials anew then, and every Launch is repeated.
struct Renew {
  AttemptRef attempt{};
};
BOOST_DESCRIBE_STRUCT(Renew, (), (attempt))

struct Advanced {
  AttemptRef attempt{};
  Phase phase = Phase::Running;
};
BOOST_DESCRIBE_STRUCT(Advanced, (), (attempt, phase))

/// Whether the service answers, and where on its node. Said when it changes, and with every Hello.
struct Serving {
  AttemptRef attempt{};
  model::Endpoint endpoint{};
};
BOOST_DESCRIBE_STRUCT(Serving, (), (attempt, endpoint))

/// The tree is gone, outputs are delivered, the log is stored. Repeated until Forget comes.
struct Ended {
  AttemptRef attempt{};
  model::Outcome outcome{};
  std::uint64_t log_size = 0;
  std::vector<std::string> delivery_errors{};
  /// How long ago its command was started, if it was. A short attempt says nothing before its end.
  std::optional<Duration> since_start{};
};
BOOST_DESCRIBE_STRUCT(Ended, (), (attempt, outcome, log_size, delivery_errors, since_start))

/// Bytes of user_logs/std_log.txt from `offset` on (binary frame).
struct LogChunk {
  AttemptRef attempt{};
  std::uint64_t offset = 0;
  std::string bytes{};
};
BOOST_DESCRIBE_STRUCT(LogChunk, (), (attempt, offset))

using ToNode = std::variant<Welcome, Launch, Go, Stop, Forget, LogStored, LeaseRenewed, Leave>;
using ToServer = std::variant<Hello, Heartbeat, LeaseNoted, Leaving, Prepared, WorkAhead, Returned,
                              Renew, Advanced, Serving, Ended, LogChunk>;

/// What a node calls the connections that it parks at the server (io::Park), below
/// parking_path().
inline constexpr const char* kParkProtocol = "berth-service";
/// Where the node parks connections to its service.
std::string parking_path(const model::NodeId& node, const AttemptRef& attempt);

struct Frame {
  std::string data{};
  bool binary = false;
};

Frame encode(const ToNode& message);
Frame encode(const ToServer& message);
/// nullopt: a kind this version does not know.
Result<std::optional<ToNode>> decode_to_node(std::string_view data, bool binary);
Result<std::optional<ToServer>> decode_to_server(std::string_view data, bool binary);

/// Where a node keeps an attempt, relative to its work root: "<workspace>/<job>/<attempt>-<fence>".
/// Both sides use it: the server to replace ${{inputs.x}} by a path, the node to make it.
std::string attempt_directory(const AttemptRef& attempt);

}  // namespace berth::wire::node
