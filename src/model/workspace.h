// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <map>
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
  boost::json::object recorded{};  ///< ARM properties we keep and show but do not act on.
  WallTime created_at{};
};
BOOST_DESCRIBE_STRUCT(Workspace, (),
                      (id, subscription, resource_group, name, location, display_name, description,
                       tags, recorded, created_at))

/// "/subscriptions/…/workspaces/<name>": the ARM id, and the start of the id of all it owns.
std::string arm_id(const Workspace& workspace);
/// "/mlflow/v1.0/subscriptions/…": where MLflow's clients find it on this server.
std::string mlflow_path(const Workspace& workspace);

}  // namespace berth::model
