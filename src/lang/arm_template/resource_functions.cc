// SPDX-License-Identifier: Apache-2.0
// Ids of resources, and what is known of the place they are made in.
#include <fmt/format.h>

#include "base/text.h"
#include "lang/arm_template/functions.h"
#include "lang/arm_template/resource_id.h"

namespace berth::lang::arm_template {

Result<std::string> provider_path(std::string_view type, std::string_view name) {
  const auto types = split(type, '/');
  const auto names = split(name, '/');
  if (types.size() < 2 || types.size() != names.size() + 1) {
    return fail(Code::InvalidArgument,
                fmt::format("the type '{}' has {} names, not {}", type,
                            types.size() < 2 ? 0 : types.size() - 1, names.size()));
  }
  std::string path = fmt::format("/providers/{}", types[0]);
  for (std::size_t index = 0; index < names.size(); ++index) {
    path += fmt::format("/{}/{}", types[index + 1], names[index]);
  }
  return path;
}

std::string group_id(std::string_view subscription, std::string_view group) {
  return fmt::format("/subscriptions/{}/resourceGroups/{}", subscription, group);
}

namespace {

constexpr std::string_view kNoTenant = "00000000-0000-0000-0000-000000000000";

struct Named {
  std::size_t type = 0;  ///< Which argument it is.
  std::string path{};    ///< Of type and names.
};

/// The type is the first argument with a '/'; what stands before it says where it is.
Result<Named> named(const Arguments& given, std::size_t most_before) {
  std::vector<std::string_view> texts;
  for (std::size_t index = 0; index < given.size(); ++index)
    texts.push_back(TRY(given.text(index)));
  Named result;
  while (result.type < texts.size() && texts[result.type].find('/') == std::string_view::npos) {
    ++result.type;
  }
  if (result.type > most_before || result.type + 1 >= texts.size()) {
    return given.wrong(
        "takes a type such as Microsoft.MachineLearningServices/workspaces, and names");
  }
  std::string name(texts[result.type + 1]);
  for (std::size_t index = result.type + 2; index < texts.size(); ++index) {
    name += fmt::format("/{}", texts[index]);
  }
  const Result<std::string> path = provider_path(texts[result.type], name);
  if (!path) return given.wrong(path.error().message);
  result.path = *path;
  return result;
}

Result<json::value> resource_id(const Arguments& given) {
  const Named found = TRY(named(given, 2));
  const std::string_view subscription =
      found.type == 2 ? TRY(given.text(0)) : std::string_view(given.place.subscription);
  const std::string_view group = found.type >= 1 ? TRY(given.text(found.type - 1))
                                                 : std::string_view(given.place.resource_group);
  return json::value(group_id(subscription, group) + found.path);
}

Result<json::value> subscription_resource_id(const Arguments& given) {
  const Named found = TRY(named(given, 1));
  const std::string_view subscription =
      found.type == 1 ? TRY(given.text(0)) : std::string_view(given.place.subscription);
  return json::value(fmt::format("/subscriptions/{}{}", subscription, found.path));
}

Result<json::value> tenant_resource_id(const Arguments& given) {
  return json::value(TRY(named(given, 0)).path);
}

/// What extends another resource: the id of that comes first.
Result<json::value> extension_resource_id(const Arguments& given) {
  const std::string_view base = TRY(given.text(0));
  Arguments rest{.function = given.function, .place = given.place};
  rest.values.assign(given.values.begin() + 1, given.values.end());
  return json::value(std::string(base) + TRY(named(rest, 0)).path);
}

Result<json::value> resource_group(const Arguments& given) {
  const Place& place = given.place;
  return json::object{{"id", group_id(place.subscription, place.resource_group)},
                      {"name", place.resource_group},
                      {"type", "Microsoft.Resources/resourceGroups"},
                      {"location", place.location},
                      {"tags", json::object()},
                      {"properties", {{"provisioningState", "Succeeded"}}}};
}

Result<json::value> subscription(const Arguments& given) {
  return json::object{{"id", "/subscriptions/" + given.place.subscription},
                      {"subscriptionId", given.place.subscription},
                      {"tenantId", kNoTenant},
                      {"displayName", "Berth"}};
}

Result<json::value> deployment(const Arguments& given) {
  return json::object{{"name", given.place.deployment},
                      {"properties", {{"mode", "Incremental"}, {"provisioningState", "Accepted"}}}};
}

Result<json::value> tenant(const Arguments&) {
  return json::object{{"tenantId", kNoTenant}, {"displayName", "Berth"}};
}

constexpr Function kFunctions[] = {
    {"resourceId", 2, kAnyNumber, resource_id},
    {"subscriptionResourceId", 2, kAnyNumber, subscription_resource_id},
    {"tenantResourceId", 2, kAnyNumber, tenant_resource_id},
    {"extensionResourceId", 3, kAnyNumber, extension_resource_id},
    {"resourceGroup", 0, 0, resource_group},
    {"subscription", 0, 0, subscription},
    {"deployment", 0, 0, deployment},
    {"tenant", 0, 0, tenant},
};

}  // namespace

std::span<const Function> resource_functions() { return kFunctions; }

}  // namespace berth::lang::arm_template
