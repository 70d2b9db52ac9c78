// SPDX-License-Identifier: Apache-2.0
// What the commands of all asset groups have in common.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/given.h"
#include "model/assets/asset.h"

namespace berth::cli {

/// Gives the asset a version when it has none, puts it and prints it. A version that somebody else
/// took meanwhile is tried again with the next one.
Result<int> put_asset(Context& context, model::Asset asset);

Result<int> list_assets(Context& context, model::AssetKind kind);
Result<int> show_asset(Context& context, model::AssetKind kind);
/// The version that -v or -l names, as ARM has it; the latest one when neither is given.
Result<json::object> chosen_asset(Context& context, model::AssetKind kind);
Result<int> update_asset(Context& context, model::AssetKind kind);
/// The version, or without one the whole asset.
Result<int> archive_asset(Context& context, model::AssetKind kind, bool archived);

inline constexpr Flag kAssetName = {"-n,--name,NAME", Takes::Value, "NAME", "the asset's name",
                                    true};
inline constexpr Flag kAssetVersion = {"-v,--version", Takes::Value, "VERSION", "its version"};
inline constexpr Flag kAssetLabel = {"-l,--label", Takes::Value, "LABEL",
                                     "latest: the version made last"};
inline constexpr Flag kAssetTags = {"--tags", Takes::Several, "key=value", "its tags"};
inline constexpr Flag kAssetDescription = {"--description", Takes::Value, "TEXT", "what it is"};

inline constexpr Flag kAssetRegistry = {"--registry-name", Takes::Value, "NAME",
                                        "registries are not supported yet"};

inline constexpr Flag kAssetListFlags[] = {
    {"-n,--name,NAME", Takes::Value, "NAME", "list the versions of this one"},
    {"-r,--max-results", Takes::Value, "N", "at most so many (50)"},
    {"--all-results", Takes::Nothing, "", "all there are"},
    {"--include-archived", Takes::Nothing, "", "archived ones too"},
    {"--archived-only", Takes::Nothing, "", "archived ones only"},
    kAssetRegistry,
};
inline constexpr Flag kAssetShowFlags[] = {kAssetName, kAssetVersion, kAssetLabel, kAssetRegistry};
inline constexpr Flag kAssetArchiveFlags[] = {kAssetName, kAssetVersion, kAssetLabel,
                                              kAssetRegistry};
inline constexpr Flag kAssetUpdateFlags[] = {
    kAssetName, kAssetVersion, kAssetLabel, kEditSet,
    kEditAdd,   kEditRemove,   kEditText,   kAssetRegistry,
};

}  // namespace berth::cli
