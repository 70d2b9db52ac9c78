// SPDX-License-Identifier: Apache-2.0
#include "model/datastore.h"

#include "base/text.h"

namespace berth::model {

std::optional<Datastore> find_datastore(std::string_view name) {
  for (const Datastore& datastore : kDatastores) {
    if (equals_ignoring_case(datastore.name, name)) return datastore;
  }
  return std::nullopt;
}

}  // namespace berth::model
