// SPDX-License-Identifier: Apache-2.0
#include "model/site_kind.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth::model {
namespace {

struct Row {
  ProviderKind kind;
};

TEST(SiteKinds, ATableWithoutARowOrWithTwoOfAKindIsNoticed) {
  constexpr Row kNoSlurm[] = {{ProviderKind::Local}};
  constexpr Row kTwice[] = {{ProviderKind::Local}, {ProviderKind::Slurm}, {ProviderKind::Local}};
  static_assert(!has_a_row_for_every_kind(kNoSlurm));
  static_assert(!has_a_row_for_every_kind(kTwice));
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

TEST(Sites, HaveTheSameSettingsWhenTheirProvidersAreMadeAlike) {
  const Site site{.name = "lab", .provider = ProviderKind::Slurm, .slurm = {.partition = "gpu"}};
  const auto differs = [&](const auto& change) {
    Site other = site;
    change(other);
    return !has_same_settings(site, other);
  };
  EXPECT_TRUE(differs([](Site& other) { other.name = "attic"; }));
  EXPECT_TRUE(differs([](Site& other) { other.provider = ProviderKind::Local; }));
  EXPECT_TRUE(differs([](Site& other) { other.slurm.partition = "cpu"; }));
  EXPECT_FALSE(differs([](Site& other) { other.capacity.nodes = 1; }));
  EXPECT_FALSE(differs([](Site& other) { other.server_url = "https://head"; }));
  EXPECT_FALSE(differs([](Site& other) { other.job_environment["A"] = "1"; }));
  EXPECT_FALSE(differs([](Site& other) { other.created_at += std::chrono::seconds(1); }));
}

TEST(SiteKinds, AreNamedInMessages) {
  const std::string names = names_of_site_kinds();
  for (const SiteKind& kind : site_kinds()) {
    EXPECT_NE(names.find(kind.name), names.npos) << names;
  }
  EXPECT_TRUE(names.starts_with("local")) << names;
  EXPECT_TRUE(names.ends_with(fmt::format(" and {}", site_kinds().back().name))) << names;
}

}  // namespace
}  // namespace berth::model
