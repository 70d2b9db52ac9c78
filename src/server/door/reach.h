// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace berth::server {

/// Where a server answers, and under which names.
struct Reach {
  std::vector<std::string> addresses{};  ///< To listen on. Loopback is always among them.
  std::vector<std::string> names{};      ///< Beside loopback's own: for the certificate.
  std::string host = "127.0.0.1";        ///< How nodes of other machines are told to call us.
};

/// `bind` is what was asked for: names or addresses of this machine, or 0.0.0.0 or :: for all of
/// them; nothing: only loopback. Blocks for names to be found.
Result<Reach> find_reach(const std::vector<std::string>& bind, const std::string& host_name);

}  // namespace berth::server
