// SPDX-License-Identifier: Apache-2.0
#include "model/work.h"

namespace berth::model {

std::string_view kind_of(const Work& work) {
  return std::visit([](const auto& kind) { return kind.kKind; }, work);
}

bool has_children(const Work& work) { return std::holds_alternative<ArrayWork>(work); }

}  // namespace berth::model
