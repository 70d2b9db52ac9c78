// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/quota.h"

#include <fmt/format.h>

#include <limits>

#include "base/text.h"
#include "wire/arm/field.h"

namespace berth::wire::arm {
namespace {

Result<QuotaRequest> quota_from(const Fields& from) {
  QuotaRequest quota{.id = TRY(from.required_text("id"))};
  quota.name = quota.id.substr(quota.id.rfind('/') + 1);
  const std::string unit = TRY(from.text("unit"));
  if (!unit.empty() && !equals_ignoring_case(unit, "Count")) {
    return from.wrong("unit", "must be Count");
  }
  if (from.find("limit") == nullptr) return from.wrong("limit", "is missing");
  quota.limit = TRY(from.integer("limit", -1));
  if (quota.limit < -1 || quota.limit == 0 || quota.limit > std::numeric_limits<int>::max()) {
    return from.wrong("limit", "must be at least 1, or -1 for none");
  }
  return quota;
}

}  // namespace

Result<std::vector<QuotaRequest>> quotas_from_json(const json::value& body) {
  const Fields root = TRY(Fields::of(body, ""));
  const json::value* list = root.find("value");
  if (list == nullptr || !list->is_array()) return root.wrong("value", "must be a list of quotas");
  std::vector<QuotaRequest> quotas;
  for (const json::value& each : list->get_array()) {
    const std::string path = fmt::format("value[{}]", quotas.size());
    const Fields fields = TRY(Fields::of(each, path));
    quotas.push_back(TRY(quota_from(fields)));
  }
  return quotas;
}

json::object to_json(const QuotaRequest& quota, std::string_view status) {
  return {{"id", quota.id},
          {"type", "Microsoft.MachineLearningServices/locations/quotas"},
          {"limit", quota.limit},
          {"unit", "Count"},
          {"status", status}};
}

}  // namespace berth::wire::arm
