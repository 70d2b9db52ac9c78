// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/id.h"

namespace berth::model {

/// The workspace's GUID: what rows, blob addresses and tokens refer to. Names can be used again
/// after a delete; ids never are.
using WorkspaceId = Id<struct WorkspaceTag>;

inline constexpr const char* kDefaultSubscription = "00000000-0000-0000-0000-000000000000";
inline constexpr const char* kDefaultResourceGroup = "berth";
inline constexpr const char* kDefaultWorkspace = "default";

/// What the token of a job reaches in its workspace. Each includes the one before.
enum class JobAccess {
  Own,    ///< Its own run, its children, its inputs and outputs, and what it makes.
  Read,   ///< It reads all experiments, runs and models.
  Write,  ///< It also logs to runs of others, and changes models.
};
BOOST_DESCRIBE_ENUM(JobAccess, Own, Read, Write)

/// How long what is over is kept, from a job's end on. What is not given is kept for ever.
struct Retention {
  std::optional<std::chrono::seconds> keep_jobs{};    ///< Then the job goes with all it left.
  std::optional<std::chrono::seconds> keep_failed{};  ///< The same, for failed and canceled ones.
  std::optional<std::chrono::seconds> keep_logs{};    ///< Then its logs go, and the job stays.

  friend bool operator==(const Retention&, const Retention&) = default;
};
BOOST_DESCRIBE_STRUCT(Retention, (), (keep_jobs, keep_failed, keep_logs))

/// A job with this tag is never deleted by a retention rule, unless its value is "false".
inline constexpr const char* kKeepTag = "berth.keep";

/// Owns everything below it; its people share it.
struct Workspace {
  WorkspaceId id{};
  std::string subscription = kDefaultSubscription;
  std::string resource_group = kDefaultResourceGroup;
  std::string name{};
  std::string location = "local";
  std::string display_name{};
  std::string description{};
  std::map<std::string, std::string> tags{};
  JobAccess job_access = JobAccess::Own;
  boost::json::object recorded{};  ///< ARM properties we keep and show but do not act on.
  Retention retention{};
  WallTime created_at{};
};
BOOST_DESCRIBE_STRUCT(Workspace, (),
                      (id, subscription, resource_group, name, location, display_name, description,
                       tags, job_access, recorded, retention, created_at))

/// "/subscriptions/…/workspaces/<name>": the ARM id, and the start of the id of all it owns.
std::string arm_id(const Workspace& workspace);
/// "/mlflow/v1.0/subscriptions/…": where MLflow's clients find it on this server.
std::string mlflow_path(const Workspace& workspace);

}  // namespace berth::model
