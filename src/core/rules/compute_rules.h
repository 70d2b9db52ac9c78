// SPDX-License-Identifier: Apache-2.0
// What clusters and sites must satisfy to be accepted.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/state.h"

namespace berth::core {

/// Azure's own bound for one cluster, once it has been asked for.
inline constexpr int kMostNodes = 65'000;
inline constexpr std::chrono::seconds kLongestIdle = std::chrono::hours(24 * 30);

/// A size for those who do not choose one, as in Azure.
inline constexpr const char* kDefaultSize = "Standard_DS3_v2";

/// Nobody changes or deletes the built-in one.
Status check_may_change(const model::Compute& compute);

/// 3 to 24 letters, digits and '-', the first a letter, and a letter somewhere behind each '-'.
Status check_compute_name(std::string_view name);

/// The compute of that name in any case, the built-in one included; nullptr when there is none.
const model::Compute* find_compute(const State& state, const model::WorkspaceId& workspace,
                                   std::string_view name);

Status check_scale(const model::ScaleSettings& scale);

/// The site a location stands for: one of that name, else 'local', for which an Azure region nobody
/// has defined and no location at all stand too.
std::string site_of(const State& state, std::string_view location);

struct CheckedCompute {
  model::Compute compute{};
  std::string notice{};  ///< Worth telling its maker: "nobody has defined 'westeurope' …".
};

/// The draft with its size, location and site filled in, or what is wrong with it. `existing` is
/// the cluster that it changes, of which size, tier and location stay; nullptr: it is new.
Result<CheckedCompute> check_compute(const State& state, model::Compute draft,
                                     const model::Compute* existing);

/// Name, capacity and address; what belongs to a provider is checked by its target. `existing` as
/// above.
Status check_site(const model::Site& site, const model::Site* existing);

/// The error of a size that is not in the catalogue, with those that come near.
tl::unexpected<Error> unknown_size(const model::SizeCatalogue& sizes, std::string_view name);

}  // namespace berth::core
