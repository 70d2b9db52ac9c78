// SPDX-License-Identifier: Apache-2.0
// Sites as /berth/v1/sites has them; Azure has no word for them.
#pragma once

#include <boost/json.hpp>

#include "base/result.h"
#include "model/site.h"

namespace berth::wire {

boost::json::object to_json(const model::Site& site);

/// Reads a PUT body, which is the whole site: what it does not mention is not set. Name and times
/// are the caller's. A key that is not one of a site is an error: a misspelt limit must not vanish.
Result<model::Site> site_from_json(const boost::json::value& body);

/// "slurm", "Local", …
Result<model::ProviderKind> provider_from(std::string_view text);

}  // namespace berth::wire
