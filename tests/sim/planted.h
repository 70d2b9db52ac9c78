// SPDX-License-Identifier: Apache-2.0
// Mistakes a server could have, made in what surrounds the real one. The simulator must find them.
#pragma once

#include <memory>

#include "io/http/websocket.h"
#include "server/plane/control_plane.h"
#include "sim/disk.h"
#include "target/engine.h"

namespace berth::sim {

enum class Bug {
  None,
  ActsBeforeTheCommit,
  IgnoresLeases,        ///< A node whose connection breaks is taken for gone at once.
  IgnoresLeaving,       ///< A node that says that it leaves is given work as before.
  TakesOldReports,      ///< An end is taken for the current attempt's, whatever its number.
  TakesSilenceForLoss,  ///< An engine that does not answer is taken for one that has nothing.
  TellsBeforeItMakes,   ///< The line of a resource is written, and then the resource.
};

std::unique_ptr<SimStore> make_store(Bug bug, Stage& stage, Disk& disk);

/// The socket as the hub is to see it.
std::shared_ptr<io::WebSocket> plant(Bug bug, server::ControlPlane& plane,
                                     const model::NodeId& node,
                                     std::shared_ptr<io::WebSocket> socket);

/// The engine as its keeper is to see it.
std::unique_ptr<target::Engine> plant(Bug bug, std::unique_ptr<target::Engine> engine);

}  // namespace berth::sim
