// SPDX-License-Identifier: Apache-2.0
#include "model/site_kind.h"

#include <gtest/gtest.h>

#include <boost/mp11.hpp>

namespace berth::model {
namespace {

TEST(SiteKinds, EveryKindHasARow) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<ProviderKind>>([](auto kind) {
    const auto rows = site_kinds();
    EXPECT_EQ(std::ranges::count(rows, kind.value, &SiteKind::kind), 1) << kind.name;
  });
}

TEST(SiteKinds, SettingsBelongToOneKind) {
  const Site site{.provider = ProviderKind::Slurm, .slurm = {.partition = "gpu"}};
  for (const SiteKind& kind : site_kinds()) {
    EXPECT_EQ(kind.has_settings(site), kind.kind == ProviderKind::Slurm) << kind.name;
  }
}

TEST(SiteKinds, SayForHowLongTheyGiveANode) {
  const Site slurm{.provider = ProviderKind::Slurm,
                   .slurm = {.time_limit = std::chrono::minutes(5)}};
  EXPECT_EQ(time_limit_of(slurm), std::chrono::seconds(300));
  EXPECT_FALSE(time_limit_of(Site{.provider = ProviderKind::Slurm}));
  EXPECT_FALSE(time_limit_of(Site{}));
}

TEST(SiteKinds, AreNamedInMessages) { EXPECT_EQ(names_of_site_kinds(), "local and slurm"); }

}  // namespace
}  // namespace berth::model
