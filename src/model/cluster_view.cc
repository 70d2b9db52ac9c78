// SPDX-License-Identifier: Apache-2.0
#include "model/cluster_view.h"

#include "base/text.h"

namespace berth::model {

std::string word_of(NodeState state) {
  return to_lower(boost::describe::enum_to_string(state, "Unusable"));
}

}  // namespace berth::model
