// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>

#include "base/clock.h"

namespace berth::model {

/// One line of the audit log: somebody changed something, or was refused. Never holds a secret:
/// addresses are kept without their query, tokens by their id.
struct AuditRecord {
  std::int64_t number = 0;  ///< 1, 2, 3 …; the store counts.
  WallTime at{};
  std::string who{};    ///< "owner", a user's name, "job train-7", "nobody".
  std::string token{};  ///< The id of a user's token.
  std::string from{};   ///< The peer's address and port.
  std::string method{};
  std::string action{};  ///< The route's, in Azure's words.
  std::string target{};  ///< The path.
  int status = 0;
  /// Refusals of the same kind since the last one that was recorded: a flood is counted, not kept.
  std::int64_t unrecorded = 0;
};
BOOST_DESCRIBE_STRUCT(AuditRecord, (),
                      (number, at, who, token, from, method, action, target, status, unrecorded))

/// A line as it is stored. Its hash covers the text and the hash before it.
struct AuditLine {
  std::int64_t number = 0;
  std::string text{};  ///< The record's JSON, byte for byte.
  std::string hash{};
};

/// The hash that a line must have; of the first line the one before is empty.
std::string audit_hash(const std::string& before, const std::string& text);

}  // namespace berth::model
