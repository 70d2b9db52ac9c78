// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/state.h"

namespace berth::core {

/// A node of the cluster as its site would give it, without a name; nullopt when its size is not in
/// the catalogue, or its site not there. On this machine it is never larger than the machine.
std::optional<model::Node> blank_node(const State& state, const model::Compute& compute,
                                      const model::Cluster& cluster);

/// Adds the node to what is used of its site, and gives it devices of its own; false, and nothing
/// changes, when there is no room for it.
bool take_room(const model::Site& site, SiteUse& use, model::Node& node, int gpus);

/// Takes the node out of what is used.
void free_room(SiteUse& use, const model::Node& node);

/// "8 of 8 nodes", "4 of 4 cores": what the site lacks for one more such node; empty when it has
/// room.
std::string lacking(const model::Site& site, const SiteUse& use, const model::Node& node, int gpus);

/// What the site's nodes use now.
SiteUse use_of(const State& state, const std::string& site);

}  // namespace berth::core
