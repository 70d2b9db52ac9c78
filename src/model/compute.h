// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/record.h"
#include "model/compute_key.h"
#include "model/workspace.h"

namespace berth::model {

enum class Tier { Dedicated, LowPriority };
BOOST_DESCRIBE_ENUM(Tier, Dedicated, LowPriority)

struct ScaleSettings {
  int min_nodes = 0;
  int max_nodes = 4;
  std::chrono::seconds idle_before_scale_down{120};

  friend bool operator==(const ScaleSettings&, const ScaleSettings&) = default;
};
BOOST_DESCRIBE_STRUCT(ScaleSettings, (), (min_nodes, max_nodes, idle_before_scale_down))

// What a compute is. model/compute_kind.h says what is true of each kind.

/// AmlCompute: nodes of one size that come when there is work and go when there is none.
struct Cluster {
  static constexpr std::string_view kKind = "Cluster";
  std::string size{};
  Tier tier = Tier::Dedicated;
  ScaleSettings scale{};
  WallTime allocation_changed_at{};  ///< When the number of wanted nodes was last reached or left.

  friend bool operator==(const Cluster&, const Cluster&) = default;
};
BOOST_DESCRIBE_STRUCT(Cluster, (), (size, tier, scale, allocation_changed_at))

enum class InstanceWish { Running, Stopped };
BOOST_DESCRIBE_ENUM(InstanceWish, Running, Stopped)

/// ComputeInstance: one node of somebody's own. None can be made yet.
struct Instance {
  static constexpr std::string_view kKind = "Instance";
  std::string size{};
  std::optional<std::chrono::seconds> idle_before_stop{};  ///< None: it is stopped by hand.
  InstanceWish wish = InstanceWish::Running;
};
BOOST_DESCRIBE_STRUCT(Instance, (), (size, idle_before_stop, wish))

/// A machine that is there anyway and that we only use. The one of today is 'local'.
struct Attached {
  static constexpr std::string_view kKind = "Attached";
  std::string machine{};  ///< The id of its node, which is the same every time it is started.
  int slots = 1;          ///< How many jobs it takes at once.
};
BOOST_DESCRIBE_STRUCT(Attached, (), (machine, slots))

/// Something that takes whole attempts and runs them without nodes of ours (target/engine.h), and
/// has a queue of its own. None can be made yet.
struct AttachedEngine {
  static constexpr std::string_view kKind = "AttachedEngine";
  std::optional<int> at_once{};  ///< So many of our attempts at most; none: as many as there are.
};
BOOST_DESCRIBE_STRUCT(AttachedEngine, (), (at_once))

using ComputeKind = std::variant<Cluster, Instance, Attached, AttachedEngine>;

/// Where jobs run.
struct Compute {
  ComputeKey key{};
  std::string name{};      ///< As its maker wrote it.
  std::string location{};  ///< As given; an Azure region nobody defined means the default site.
  std::string site{};      ///< What the location stands for.
  ComputeKind kind{};
  std::string description{};
  std::map<std::string, std::string> tags{};
  boost::json::object recorded{};  ///< ARM properties we keep and show but do not act on.
  boost::json::value identity = nullptr;
  bool is_deleting = false;   ///< Goes when its last node has gone.
  std::string start_error{};  ///< Why its nodes cannot be started, while that is so.
  WallTime created_at{};
  WallTime modified_at{};
};
BOOST_DESCRIBE_STRUCT(Compute, (),
                      (key, name, location, site, kind, description, tags, recorded, identity,
                       is_deleting, start_error, created_at, modified_at))

/// nullptr: it is no cluster, or none at all.
inline const Cluster* cluster_in(const Compute* compute) {
  return compute == nullptr ? nullptr : std::get_if<Cluster>(&compute->kind);
}
inline Cluster* cluster_in(Compute* compute) {
  return compute == nullptr ? nullptr : std::get_if<Cluster>(&compute->kind);
}

/// The server's own machine. Nobody makes it and nothing of it is stored.
Compute local_compute(int slots);
inline bool is_built_in(const Compute& compute) { return compute.key.workspace.text.empty(); }

/// "/subscriptions/…/computes/<name>".
std::string arm_id(const Workspace& workspace, const Compute& compute);

}  // namespace berth::model

/// Rows of before computes had kinds say nothing, and are clusters.
template <>
struct berth::record::OneOf<berth::model::ComputeKind> {
  static constexpr std::string_view kKey = "kind";
};
