// SPDX-License-Identifier: Apache-2.0
#include "server/plane/site_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/site_kind.h"
#include "target/local/local_provider.h"
#include "target/slurm/settings.h"
#include "target/slurm/slurm_provider.h"

namespace berth::server {
namespace {

using Made = Result<std::unique_ptr<target::NodeProvider>>;

/// What a kind of site can do, beside its traits (model/site_kind.h).
struct Row {
  model::ProviderKind kind;
  Status (*check)(const model::Site& site);
  Made (*make)(const model::Site& site, const ProviderFacts& facts);
};

Status check_nothing(const model::Site&) { return Done{}; }
Status check_slurm(const model::Site& site) { return target::slurm::check_settings(site.slurm); }

Made make_local(const model::Site&, const ProviderFacts& facts) {
  return std::make_unique<target::local::LocalProvider>(facts.executable, facts.home,
                                                        facts.job_directory);
}
Made make_slurm(const model::Site& site, const ProviderFacts& facts) {
  return std::make_unique<target::slurm::SlurmProvider>(
      site.slurm, target::slurm::Owner{facts.installation, site.name}, facts.executable);
}

constexpr Row kRows[] = {
    {model::ProviderKind::Local, check_nothing, make_local},
    {model::ProviderKind::Slurm, check_slurm, make_slurm},
};
static_assert(model::has_a_row_for_every_kind(kRows));

Result<const Row*> find_row(const model::Site& site) {
  const auto found = std::ranges::find(kRows, site.provider, &Row::kind);
  if (found != std::end(kRows)) return &*found;
  return fail(Code::NotSupported, fmt::format("site '{}' has an unknown provider", site.name));
}

}  // namespace

Status check_site_settings(const model::Site& site) { return TRY(find_row(site))->check(site); }

Made make_provider(const model::Site& site, const ProviderFacts& facts) {
  return TRY(find_row(site))->make(site, facts);
}

}  // namespace berth::server
