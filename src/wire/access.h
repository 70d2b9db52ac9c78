// SPDX-License-Identifier: Apache-2.0
// Users and tokens as /berth/v1 has them.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/access.h"

namespace berth::wire {

boost::json::object to_json(const model::User& user);
/// Without its hash.
boost::json::object to_json(const model::Token& token, WallTime now);

// Bodies of PUT. A key that they do not have is an error: a misspelt limit must not vanish, and
// nobody sets what is not theirs to set.

Result<std::string> display_name_from_json(const boost::json::value& body);

struct TokenRequest {
  std::string name{};
  std::optional<WallTime> expires_at{};
  std::string workspace{};  ///< Empty: wherever its user may.
  std::string resource_group = model::kDefaultResourceGroup;
  std::string subscription = model::kDefaultSubscription;
};
Result<TokenRequest> token_from_json(const boost::json::value& body);

}  // namespace berth::wire
