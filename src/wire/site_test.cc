// SPDX-License-Identifier: Apache-2.0
#include "wire/site.h"

#include <gtest/gtest.h>

#include "base/record.h"

namespace berth::wire {
namespace {

using model::Site;

std::string target_of(std::string_view text) {
  const Result<Site> site = site_from_json(*record::parse(text));
  return site ? "accepted" : site.error().target;
}

TEST(SiteJson, ComesBackAsItWent) {
  const Site site{.name = "lab",
                  .provider = model::ProviderKind::Slurm,
                  .capacity = {.nodes = 4, .memory_mib = 1024, .gpus = 2},
                  .slurm = {.partition = "main",
                            .account = "a",
                            .qos = "q",
                            .time_limit = std::chrono::minutes(90),
                            .options = {"--constraint=fast"},
                            .bin_directory = "/opt/slurm/bin",
                            .config = "/etc/slurm.conf",
                            .work_directory = "/scratch"},
                  .server_url = "https://head:8470"};

  const Result<Site> again = site_from_json(to_json(site));

  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider, site.provider);
  EXPECT_EQ(again->capacity, site.capacity);
  EXPECT_EQ(again->slurm, site.slurm);
  EXPECT_EQ(again->server_url, site.server_url);
}

TEST(SiteJson, WhatIsNotSaidIsNotLimited) {
  const Result<Site> site = site_from_json(*record::parse(R"({"provider":"LOCAL"})"));

  ASSERT_TRUE(site);
  EXPECT_EQ(site->capacity, model::SiteCapacity{});
  EXPECT_FALSE(to_json(*site).contains("slurm"));
  EXPECT_TRUE(to_json(*site).at("capacity").at("cores").is_null());
}

TEST(SiteJson, AWrongFieldIsNamed) {
  EXPECT_EQ(target_of("{}"), "provider");
  EXPECT_EQ(target_of(R"({"provider":"cloud"})"), "provider");
  EXPECT_EQ(target_of(R"({"provider":"slurm","capcity":{}})"), "capcity");
  EXPECT_EQ(target_of(R"({"provider":"slurm","capacity":{"nodes":"4"}})"), "capacity.nodes");
  EXPECT_EQ(target_of(R"({"provider":"slurm","capacity":{"nodes":99999999999}})"),
            "capacity.nodes");
  EXPECT_EQ(target_of(R"({"provider":"slurm","capacity":{"node":1}})"), "capacity.node");
  EXPECT_EQ(target_of(R"({"provider":"slurm","slurm":{"partition":5}})"), "slurm.partition");
  EXPECT_EQ(target_of(R"({"provider":"slurm","slurm":{"time_limit_minutes":0}})"),
            "slurm.time_limit_minutes");
  EXPECT_EQ(target_of(R"({"provider":"slurm","slurm":{"options":"-x"}})"), "slurm.options");
  EXPECT_EQ(target_of(R"({"provider":"slurm","slurm":{"options":[1]}})"), "slurm.options");
  EXPECT_EQ(target_of(R"({"provider":"slurm","server_url":[]})"), "server_url");
}

}  // namespace
}  // namespace berth::wire
