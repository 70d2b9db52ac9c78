// SPDX-License-Identifier: Apache-2.0
// Requests whose work goes on after their answer.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace berth::cli {

struct Operation {
  json::object answer{};
  std::string status_path{};  ///< Where to ask how far it is; empty: it is done.
};

/// Sends a request that may begin an operation; shows what the server wants its user to know.
Result<Operation> begin(Context& context, io::ClientRequest request);
io::ClientRequest json_request(std::string method, std::string path, const json::object& body);

/// Waits for its end, unless --no-wait was given. `doing` ("deleting 'cpu'") is shown meanwhile.
Status finish(Context& context, const Operation& operation, const std::string& doing);

}  // namespace berth::cli
