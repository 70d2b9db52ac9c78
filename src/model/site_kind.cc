// SPDX-License-Identifier: Apache-2.0
#include "model/site_kind.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/check.h"

namespace berth::model {
namespace {

using TimeLimit = std::optional<std::chrono::seconds>;

constexpr SiteKind kKinds[] = {
    {.kind = ProviderKind::Local,
     .name = "local",
     .traits = {.shares_machine = true, .has_lease = false, .numbers_devices = true},
     .has_settings = [](const Site&) { return false; },
     .time_limit = [](const Site&) { return TimeLimit(); }},
    {.kind = ProviderKind::Slurm,
     .name = "slurm",
     .traits = {.look_every = std::chrono::seconds(2)},
     .has_settings = [](const Site& site) { return !(site.slurm == SlurmSettings{}); },
     .time_limit = [](const Site& site) { return TimeLimit(site.slurm.time_limit); }},
};
static_assert(has_a_row_for_every_kind(kKinds));

}  // namespace

std::span<const SiteKind> site_kinds() { return kKinds; }

const SiteKind& site_kind(ProviderKind kind) {
  const auto found = std::ranges::find(kKinds, kind, &SiteKind::kind);
  CHECK(found != std::end(kKinds), "every kind of site has a row");
  return *found;
}

std::string names_of_site_kinds() {
  std::string names;
  for (const SiteKind& kind : kKinds) {
    if (!names.empty()) names += &kind == std::end(kKinds) - 1 ? " and " : ", ";
    names += kind.name;
  }
  return names;
}

}  // namespace berth::model
