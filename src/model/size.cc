// SPDX-License-Identifier: Apache-2.0
#include "model/size.h"

#include "base/text.h"

namespace berth::model {
namespace {

constexpr std::int64_t kGib = 1024;
constexpr double kLowPriorityShare = 0.2;  ///< Of the dedicated price, as users see it in Azure.

struct BuiltIn {
  const char* name;
  const char* family;
  int cores;
  std::int64_t memory_mib;
  int gpus;
  double price_per_hour;
};

constexpr BuiltIn kBuiltIn[] = {
    {"Standard_DS1_v2", "standardDSv2Family", 1, 3584, 0, 0.073},
    {"Standard_DS2_v2", "standardDSv2Family", 2, 7 * kGib, 0, 0.146},
    {"Standard_DS3_v2", "standardDSv2Family", 4, 14 * kGib, 0, 0.293},
    {"Standard_DS4_v2", "standardDSv2Family", 8, 28 * kGib, 0, 0.585},
    {"Standard_DS5_v2", "standardDSv2Family", 16, 56 * kGib, 0, 1.17},
    {"Standard_DS11_v2", "standardDSv2Family", 2, 14 * kGib, 0, 0.185},
    {"Standard_DS12_v2", "standardDSv2Family", 4, 28 * kGib, 0, 0.370},
    {"Standard_DS13_v2", "standardDSv2Family", 8, 56 * kGib, 0, 0.741},
    {"Standard_D1_v2", "standardDv2Family", 1, 3584, 0, 0.073},
    {"Standard_D2_v2", "standardDv2Family", 2, 7 * kGib, 0, 0.146},
    {"Standard_D3_v2", "standardDv2Family", 4, 14 * kGib, 0, 0.293},
    {"Standard_D2s_v3", "standardDSv3Family", 2, 8 * kGib, 0, 0.096},
    {"Standard_D4s_v3", "standardDSv3Family", 4, 16 * kGib, 0, 0.192},
    {"Standard_D8s_v3", "standardDSv3Family", 8, 32 * kGib, 0, 0.384},
    {"Standard_D16s_v3", "standardDSv3Family", 16, 64 * kGib, 0, 0.768},
    {"Standard_D32s_v3", "standardDSv3Family", 32, 128 * kGib, 0, 1.536},
    {"Standard_D64s_v3", "standardDSv3Family", 64, 256 * kGib, 0, 3.072},
    {"Standard_E2s_v3", "standardESv3Family", 2, 16 * kGib, 0, 0.126},
    {"Standard_E4s_v3", "standardESv3Family", 4, 32 * kGib, 0, 0.252},
    {"Standard_E8s_v3", "standardESv3Family", 8, 64 * kGib, 0, 0.504},
    {"Standard_E16s_v3", "standardESv3Family", 16, 128 * kGib, 0, 1.008},
    {"Standard_E32s_v3", "standardESv3Family", 32, 256 * kGib, 0, 2.016},
    {"Standard_F2s_v2", "standardFSv2Family", 2, 4 * kGib, 0, 0.085},
    {"Standard_F4s_v2", "standardFSv2Family", 4, 8 * kGib, 0, 0.169},
    {"Standard_F8s_v2", "standardFSv2Family", 8, 16 * kGib, 0, 0.338},
    {"Standard_F16s_v2", "standardFSv2Family", 16, 32 * kGib, 0, 0.677},
    {"Standard_F32s_v2", "standardFSv2Family", 32, 64 * kGib, 0, 1.353},
    {"Standard_F72s_v2", "standardFSv2Family", 72, 144 * kGib, 0, 3.045},
    {"Standard_NC6", "standardNCFamily", 6, 56 * kGib, 1, 0.90},
    {"Standard_NC12", "standardNCFamily", 12, 112 * kGib, 2, 1.80},
    {"Standard_NC24", "standardNCFamily", 24, 224 * kGib, 4, 3.60},
    {"Standard_NC6s_v3", "standardNCSv3Family", 6, 112 * kGib, 1, 3.06},
    {"Standard_NC12s_v3", "standardNCSv3Family", 12, 224 * kGib, 2, 6.12},
    {"Standard_NC24s_v3", "standardNCSv3Family", 24, 448 * kGib, 4, 12.24},
    {"Standard_NC4as_T4_v3", "standardNCASv3_T4Family", 4, 28 * kGib, 1, 0.526},
    {"Standard_NC8as_T4_v3", "standardNCASv3_T4Family", 8, 56 * kGib, 1, 0.752},
    {"Standard_NC16as_T4_v3", "standardNCASv3_T4Family", 16, 110 * kGib, 1, 1.204},
    {"Standard_NC64as_T4_v3", "standardNCASv3_T4Family", 64, 440 * kGib, 4, 4.352},
    {"Standard_NC24ads_A100_v4", "StandardNCADSA100v4Family", 24, 220 * kGib, 1, 3.673},
    {"Standard_NC48ads_A100_v4", "StandardNCADSA100v4Family", 48, 440 * kGib, 2, 7.346},
    {"Standard_NC96ads_A100_v4", "StandardNCADSA100v4Family", 96, 880 * kGib, 4, 14.692},
    {"Standard_NC40ads_H100_v5", "StandardNCadsH100v5Family", 40, 320 * kGib, 1, 6.98},
    {"Standard_ND40rs_v2", "standardNDv2Family", 40, 672 * kGib, 8, 22.032},
    {"Standard_ND96asr_v4", "standardNDASv4Family", 96, 900 * kGib, 8, 27.197},
    {"Standard_ND96isr_H100_v5", "standardNDSH100v5Family", 96, 1900 * kGib, 8, 98.32},
};

}  // namespace

SizeCatalogue built_in_sizes() {
  SizeCatalogue sizes;
  for (const BuiltIn& each : kBuiltIn) {
    sizes[to_lower(each.name)] = {
        .name = each.name,
        .family = each.family,
        .cores = each.cores,
        .memory_mib = each.memory_mib,
        .gpus = each.gpus,
        .price_per_hour = each.price_per_hour,
        .low_priority_price_per_hour = each.price_per_hour * kLowPriorityShare};
  }
  return sizes;
}

const VmSize* find_size(const SizeCatalogue& sizes, std::string_view name) {
  const auto found = sizes.find(to_lower(name));
  return found == sizes.end() ? nullptr : &found->second;
}

}  // namespace berth::model
