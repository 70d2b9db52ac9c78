// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/providers.h"

namespace berth::server {

Result<Providers::Entry> Providers::of(const model::Site& site) {
  Kept& kept = kept_[site.name];
  const bool is_current = kept.provider && model::has_same_settings(kept.site, site);
  if (!is_current) {
    kept.provider = TRY(make_(site));
    kept.site = site;
  }
  if (!kept.thread) kept.thread = make_thread_();
  return Entry{kept.provider, *kept.thread};
}

}  // namespace berth::server
