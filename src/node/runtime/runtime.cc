// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/runtime.h"

#include "node/runtime/host_runtime.h"

namespace berth::node {

Runtime& runtime_of(const wire::node::Launch&) { return host_runtime(); }

}  // namespace berth::node
