// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "model/workspace.h"

namespace berth::model {

/// A compute's name is unique in its workspace, whatever its case.
struct ComputeKey {
  WorkspaceId workspace{};
  std::string name{};  ///< In lower case.

  friend auto operator<=>(const ComputeKey&, const ComputeKey&) = default;
};
BOOST_DESCRIBE_STRUCT(ComputeKey, (), (workspace, name))

enum class Tier { Dedicated, LowPriority };
BOOST_DESCRIBE_ENUM(Tier, Dedicated, LowPriority)

struct ScaleSettings {
  int min_nodes = 0;
  int max_nodes = 4;
  std::chrono::seconds idle_before_scale_down{120};

  friend bool operator==(const ScaleSettings&, const ScaleSettings&) = default;
};
BOOST_DESCRIBE_STRUCT(ScaleSettings, (), (min_nodes, max_nodes, idle_before_scale_down))

/// A cluster (AmlCompute): nodes of one size that come when there is work and go when there is
/// none.
struct Compute {
  ComputeKey key{};
  std::string name{};      ///< As its maker wrote it.
  std::string location{};  ///< As given; an Azure region nobody defined means the default site.
  std::string site{};      ///< What the location stands for.
  std::string size{};
  Tier tier = Tier::Dedicated;
  ScaleSettings scale{};
  std::string description{};
  std::map<std::string, std::string> tags{};
  boost::json::object recorded{};  ///< ARM properties we keep and show but do not act on.
  boost::json::value identity = nullptr;
  bool is_deleting = false;   ///< Goes when its last node has gone.
  std::string start_error{};  ///< Why its nodes cannot be started, while that is so.
  WallTime created_at{};
  WallTime modified_at{};
  WallTime allocation_changed_at{};  ///< When the number of wanted nodes was last reached or left.
};
BOOST_DESCRIBE_STRUCT(Compute, (),
                      (key, name, location, site, size, tier, scale, description, tags, recorded,
                       identity, is_deleting, start_error, created_at, modified_at,
                       allocation_changed_at))

/// "/subscriptions/…/computes/<name>".
std::string arm_id(const Workspace& workspace, const Compute& compute);

}  // namespace berth::model
