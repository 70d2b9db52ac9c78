// SPDX-License-Identifier: Apache-2.0
#include "server/principal.h"

namespace berth::server {

bool allows(const Permission& permission, const Principal& principal) {
  const bool is_owner = principal.kind == Principal::Kind::Owner;
  switch (permission.kind) {
    case Permission::Kind::Public: return true;
    case Permission::Kind::Action: return is_owner;
    case Permission::Kind::Node: return principal.kind == Principal::Kind::Node;
    case Permission::Kind::Signature:
      return is_owner || principal.kind == Principal::Kind::Signature;
  }
  return false;
}

}  // namespace berth::server
