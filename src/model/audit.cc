// SPDX-License-Identifier: Apache-2.0
#include "model/audit.h"

#include "base/digest.h"
#include "base/text.h"

namespace berth::model {

std::string audit_hash(const std::string& before, const std::string& text) {
  return to_hex(sha256(before + "\n" + text));
}

}  // namespace berth::model
