// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared.h"
#include "model/access.h"
#include "model/node.h"
#include "model/work.h"
#include "model/workspace.h"

namespace berth::model {

/// A job's name is its users' handle and is unique in its workspace.
struct JobKey {
  WorkspaceId workspace{};
  std::string name{};

  friend auto operator<=>(const JobKey&, const JobKey&) = default;
};
BOOST_DESCRIBE_STRUCT(JobKey, (), (workspace, name))

/// The strings are Azure ML's, in its order. docs/states.md has the diagram.
enum class JobStatus {
  NotStarted,
  Starting,
  Provisioning,
  Preparing,
  Queued,
  Running,
  Finalizing,
  CancelRequested,
  Completed,
  Failed,
  Canceled,
  NotResponding,
  Paused,
  Unknown,
};
BOOST_DESCRIBE_ENUM(JobStatus, NotStarted, Starting, Provisioning, Preparing, Queued, Running,
                    Finalizing, CancelRequested, Completed, Failed, Canceled, NotResponding, Paused,
                    Unknown)

bool is_terminal(JobStatus status);

/// What an input or output is. Literals carry `value`, everything else a `uri`.
enum class DataType { Literal, UriFile, UriFolder, MlTable, CustomModel, MlflowModel, TritonModel };
BOOST_DESCRIBE_ENUM(DataType, Literal, UriFile, UriFolder, MlTable, CustomModel, MlflowModel,
                    TritonModel)

/// How data reaches the command. On one machine a mount and a download are both a private copy;
/// `Direct` hands over the URI itself.
enum class DataMode {
  ReadOnlyMount,
  ReadWriteMount,
  Download,
  Upload,
  Direct,
  EvalMount,
  EvalDownload
};
BOOST_DESCRIBE_ENUM(DataMode, ReadOnlyMount, ReadWriteMount, Download, Upload, Direct, EvalMount,
                    EvalDownload)

struct JobInput {
  DataType type = DataType::UriFolder;
  std::string value{};  ///< Literals only.
  std::string uri{};    ///< Everything else.
  std::optional<DataMode> mode{};
  std::string description{};

  friend bool operator==(const JobInput&, const JobInput&) = default;
};
BOOST_DESCRIBE_STRUCT(JobInput, (), (type, value, uri, mode, description))

struct JobOutput {
  DataType type = DataType::UriFolder;
  std::string
      uri{};  ///< Empty: azureml://datastores/workspaceblobstore/paths/azureml/<job>/<output>/
  std::optional<DataMode> mode{};
  std::string description{};
  std::string asset_name{};     ///< Registers the output when the job completes.
  std::string asset_version{};  ///< Empty: the next free one.

  friend bool operator==(const JobOutput&, const JobOutput&) = default;
};
BOOST_DESCRIBE_STRUCT(JobOutput, (), (type, uri, mode, description, asset_name, asset_version))

/// What the user asked for; never changes after the submit. Two submits under one name must agree
/// on all of it.
struct JobSpec {
  Work work{};            ///< What kind of work it is, and what that kind alone says.
  std::string compute{};  ///< Name of the target; empty means the workspace's default.
  std::string experiment_name = "Default";
  std::map<std::string, JobInput> inputs{};
  std::map<std::string, JobOutput> outputs{};
  std::optional<std::chrono::seconds> timeout{};
  int priority = 2;  ///< queue_settings.priority: low 1, medium 2, high 3.
  std::optional<std::string> job_tier{};
  boost::json::value identity = nullptr;      ///< ARM's object, as sent.
  boost::json::value notification = nullptr;  ///< Likewise.
  boost::json::object services{};             ///< Interactive services, as sent.
  std::string component_id{};
  std::string parent_job_name{};

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};
BOOST_DESCRIBE_STRUCT(JobSpec, (),
                      (work, compute, experiment_name, inputs, outputs, timeout, priority, job_tier,
                       identity, notification, services, component_id, parent_job_name))

/// The command that the work is, or that each of its children runs.
const CommandWork& command_of(const JobSpec& spec);
CommandWork& command_of(JobSpec& spec);
/// Null: the work is meant to end.
const ServiceSpec* service_of(const JobSpec& spec);
/// How many nodes an attempt takes at once.
int nodes_of_attempt(const JobSpec& spec);

/// How one attempt ended, as the node saw it.
enum class Ending {
  Exited,       ///< By itself, with exit_code.
  Signaled,     ///< By a signal nobody here sent.
  OutOfMemory,  ///< Killed for its memory.
  TimedOut,     ///< Stopped because limits.timeout was over.
  Stopped,      ///< Stopped because we asked (cancel).
  NotStarted,   ///< Code or inputs could not be had, or the command not be started.
  Undelivered,  ///< It went well, but its outputs could not be kept.
  Lost,         ///< Nobody knows: the node and its supervisor are gone.
};
BOOST_DESCRIBE_ENUM(Ending, Exited, Signaled, OutOfMemory, TimedOut, Stopped, NotStarted,
                    Undelivered, Lost)

struct Outcome {
  Ending ending = Ending::Exited;
  int exit_code = 0;
  int signal = 0;
  std::string message{};  ///< For people, when the ending needs more words.
  /// Which disk had no room left, when that is why it did not go well: "the disk of its node (…)".
  /// Beside the ending and not one of them, so that an older server still understands the rest.
  std::string disk_full{};
  std::vector<std::string> notes{};  ///< What its user should know besides; become warnings.

  friend bool operator==(const Outcome&, const Outcome&) = default;
};
BOOST_DESCRIBE_STRUCT(Outcome, (), (ending, exit_code, signal, message, disk_full, notes))

/// It ended by itself and did all of its work.
inline bool went_well(const Outcome& outcome) {
  return outcome.ending == Ending::Exited && outcome.exit_code == 0 && outcome.disk_full.empty();
}

/// ARM's error object of a job that failed: {code, message}.
struct JobError {
  std::string code{};
  std::string message{};
};
BOOST_DESCRIBE_STRUCT(JobError, (), (code, message))

/// One node's share of an attempt. The first member is the head: its log is the job's.
struct Member {
  NodeId node{};
  JobStatus status = JobStatus::Starting;  ///< Starting, Preparing, Running or Finalizing.
  std::string address{};                   ///< Where its peers find it, once it has prepared.
  int port = 0;                            ///< Free on that node, for a rendezvous.
  std::optional<Outcome> outcome{};        ///< Its share is over.
  std::optional<WallTime> ended_at{};
  std::optional<Endpoint> endpoint{};  ///< Of a service, once the node has said it.
};
BOOST_DESCRIBE_STRUCT(Member, (), (node, status, address, port, outcome, ended_at, endpoint))

// What a job holds while it goes on, by the kind of its work and of its target.

/// It waits, or is over.
struct None {
  static constexpr std::string_view kKind = "None";
};
BOOST_DESCRIBE_STRUCT(None, (), ())
/// The nodes of its attempt, by rank; never empty.
struct Members {
  static constexpr std::string_view kKind = "Members";
  std::vector<Member> members{};
};
BOOST_DESCRIBE_STRUCT(Members, (), (members))
/// An engine (target/engine.h) has taken the attempt, and runs it without nodes of ours.
struct EngineRun {
  static constexpr std::string_view kKind = "EngineRun";
  std::string engine{};                   ///< The compute whose engine it is.
  JobStatus phase = JobStatus::Starting;  ///< Starting, Preparing, Running or Finalizing.
  /// The engine has said that it has it, so if it has it no more, it is lost. Before, the attempt
  /// may be there or not, or come late.
  bool is_taken = false;
  std::string note{};  ///< For people: why it is pending, where it runs, why it is not taken.
};
BOOST_DESCRIBE_STRUCT(EngineRun, (), (engine, phase, is_taken, note))
/// It is made of other jobs, and holds no nodes itself. Which of them go on the State knows; those
/// that are over have left it and are counted here.
struct Children {
  static constexpr std::string_view kKind = "Children";
  int submitted = 0;  ///< So many were made, the first ones that are to be.
  int completed = 0;
  int failed = 0;
  int canceled = 0;

  int going_on() const { return submitted - completed - failed - canceled; }
};
BOOST_DESCRIBE_STRUCT(Children, (), (submitted, completed, failed, canceled))

using Holding = std::variant<None, Members, EngineRun, Children>;

/// What a user submits, and what has become of it.
struct Job {
  JobKey key{};
  std::int64_t sequence = 0;  ///< Order of submission, over the whole server; never used again.
  Shared<JobSpec> spec{};
  // What users may change later:
  std::string display_name{};
  std::string description{};
  std::map<std::string, std::string> tags{};
  std::map<std::string, std::string> properties{};  ///< May be added to, never changed.
  bool is_archived = false;
  // What we know of its run:
  JobStatus status = JobStatus::NotStarted;
  int attempt = 0;      ///< The current or last one; 0 before the first. The fencing token.
  std::string fence{};  ///< Tells the attempt from any other that ever bore its name and number.
  Holding holding{};    ///< What the attempt has, from its placement to its end.
  bool cancel_requested = false;
  bool is_yielding = false;  ///< The attempt is being stopped, to be queued again.
  int requeues = 0;          ///< How often an attempt was taken from it.
  std::string requeue_reason{};
  int restarts = 0;  ///< Of a service: how often its process ended, since it last ran for long.
  std::optional<WallTime> not_before{};  ///< It waits, and is not run again before then.
  std::optional<WallTime> placed_at{};   ///< Of the attempt that goes on.
  std::optional<Outcome> outcome{};
  std::optional<JobError> error{};
  std::vector<std::string> warnings{};
  std::string created_by{};
  UserId created_by_user{};   ///< Empty: the owner, or nobody knows. Names are used again.
  std::string code_digest{};  ///< Of the code as it was when the job was submitted; may be empty.
  WallTime created_at{};
  WallTime modified_at{};
  std::optional<WallTime> started_at{};
  std::optional<WallTime> ended_at{};
};
BOOST_DESCRIBE_STRUCT(Job, (),
                      (key, sequence, spec, display_name, description, tags, properties,
                       is_archived, status, attempt, fence, holding, cancel_requested, is_yielding,
                       requeues, requeue_reason, restarts, not_before, placed_at, outcome, error,
                       warnings, created_by, created_by_user, code_digest, created_at, modified_at,
                       started_at, ended_at))

inline bool holds_nodes(const Job& job) { return std::holds_alternative<Members>(job.holding); }
inline bool holds_anything(const Job& job) { return !std::holds_alternative<None>(job.holding); }
/// The nodes of its attempt, by rank; empty when it holds none.
const std::vector<Member>& members_of(const Job& job);
/// nullptr: no engine has it.
inline const EngineRun* engine_run_of(const Job& job) {
  return std::get_if<EngineRun>(&job.holding);
}
/// The member on that node; nullptr when it is not one of the job's.
const Member* find_member(const Job& job, const NodeId& node);
/// The head's node; empty when the job holds none.
NodeId head_node(const Job& job);

/// The job that it names as its parent, which may not be there. Without one: no name.
inline JobKey parent_of(const Job& job) { return {job.key.workspace, job.spec->parent_job_name}; }

/// "ExperimentRun/dcid.<name>/": where the job's artifacts lie in workspaceartifactstore.
std::string artifact_prefix(const JobKey& key);

/// The output's place: its own uri with ${{default_datastore}}, ${{name}} and ${{output_name}}
/// replaced, or the default one on workspaceblobstore.
std::string output_uri(const Job& job, const std::string& output_name);

}  // namespace berth::model

/// Rows of before say only which members there are.
template <>
struct berth::record::OneOf<berth::model::Holding> {
  static constexpr std::string_view kKey = "holding";
};
