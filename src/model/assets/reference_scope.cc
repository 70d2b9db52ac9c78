// SPDX-License-Identifier: Apache-2.0
#include "model/assets/reference_scope.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"

namespace berth::model {
namespace {

constexpr std::string_view kAzureml = "azureml:";
constexpr std::size_t kGuidSize = 36;
constexpr std::size_t kMostShown = 200;

/// What is left of the '/' of an id: "subscriptions/…/workspaces/…"; nothing for other texts.
std::optional<std::string_view> id_of(std::string_view text) {
  if (starts_with_ignoring_case(text, kAzureml)) text.remove_prefix(kAzureml.size());
  while (text.starts_with('/')) text.remove_prefix(1);
  for (const std::string_view start : {"subscriptions/", "locations/"}) {
    if (starts_with_ignoring_case(text, start)) return text;
  }
  return std::nullopt;
}

/// The segment after the first one called `key`; empty when there is none before the workspace's
/// own things begin.
std::string_view named(const std::vector<std::string_view>& segments, std::string_view key) {
  for (std::size_t i = 0; i + 1 < segments.size(); i += 2) {
    if (equals_ignoring_case(segments[i], key)) return segments[i + 1];
    if (equals_ignoring_case(segments[i], "workspaces")) break;
  }
  return {};
}

bool is_of(const Workspace& workspace, std::string_view id) {
  const auto segments = split(id, '/');
  const std::string_view name = named(segments, "workspaces");
  if (equals_ignoring_case(segments[0], "locations")) {
    return equals_ignoring_case(name, workspace.id.text) ||
           equals_ignoring_case(name, workspace.name);
  }
  return equals_ignoring_case(name, workspace.name) &&
         equals_ignoring_case(named(segments, "subscriptions"), workspace.subscription) &&
         equals_ignoring_case(named(segments, "resourceGroups"), workspace.resource_group);
}

}  // namespace

Status check_workspace(const Workspace& workspace, std::string_view reference) {
  const auto id = id_of(reference);
  if (!id || is_of(workspace, *id)) return Done{};
  std::string shown = to_valid_utf8(reference.substr(0, kMostShown));
  std::erase_if(shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not of this workspace, '{}' of the resource group '{}'; what is "
                          "of another cannot be used here",
                          shown, workspace.name, workspace.resource_group));
}

std::optional<std::string> workspace_of_blob_url(std::string_view url) {
  constexpr std::string_view kMark = "/blob/";
  if (!starts_with_ignoring_case(url, "http://") && !starts_with_ignoring_case(url, "https://")) {
    return std::nullopt;
  }
  url.remove_prefix(url.find("://") + 3);
  const std::string_view path = url.substr(std::min(url.find('/'), url.size()));
  if (!path.starts_with(kMark) || path.size() < kMark.size() + kGuidSize) return std::nullopt;
  return to_lower(path.substr(kMark.size(), kGuidSize));
}

}  // namespace berth::model
