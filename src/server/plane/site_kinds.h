// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "model/site.h"
#include "target/node_provider.h"

namespace berth::server {

/// What providers need to know of the server.
struct ProviderFacts {
  std::string executable{};
  std::string home{};
  std::string job_directory{};  ///< Empty: below home.
  std::string installation{};
};

/// Whether a site may be made with the settings of its kind.
Status check_site_settings(const model::Site& site);

Result<std::unique_ptr<target::NodeProvider>> make_provider(const model::Site& site,
                                                            const ProviderFacts& facts);

}  // namespace berth::server
