// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/job.h"
#include "model/node.h"

namespace berth::server {

/// Who is asking.
struct Principal {
  enum class Kind { Nobody, Owner, Node, Job, Signature };
  Kind kind = Kind::Nobody;
  std::string name{};    ///< For people and the audit log.
  model::NodeId node{};  ///< Kind::Node.
  model::JobKey job{};   ///< Kind::Job: a token that lives as long as the attempt.
};

/// What a route asks of its caller. `action` is Azure's name for it, where Azure has one; roles
/// will be sets of actions.
struct Permission {
  enum class Kind {
    Public,     ///< Discovery and liveness: tells nothing a stranger may not know.
    Action,     ///< A bearer token whose holder may do `action`.
    Node,       ///< A node's own token.
    Signature,  ///< A signed URL (blobs); the handler's parameters say of what.
  };
  Kind kind = Kind::Action;
  const char* action = "";
};

bool allows(const Permission& permission, const Principal& principal);

}  // namespace berth::server
