// SPDX-License-Identifier: Apache-2.0
// Services as /berth/v1/…/services has them; Azure has no word for them.
#pragma once

#include <boost/json.hpp>

#include "base/result.h"
#include "model/job.h"

namespace berth::wire {

/// Reads a PUT body: {"job": {…the properties of a command job, as ARM has them…}, "port": 8000,
/// "probe": {…}, "restart": {…}}. A key that is not one of a service is an error. Whose it is, and
/// what it is called, is the caller's.
Result<model::Job> service_from_json(const boost::json::value& body);

/// The service, live or over, without what users say of its job. `address` is where it is reached.
boost::json::object to_json(const model::Job& service, const std::string& address);

}  // namespace berth::wire
