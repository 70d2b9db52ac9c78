// SPDX-License-Identifier: Apache-2.0
// Which workspace an id or an address is of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/workspace.h"

namespace berth::model {

/// Refuses an ARM id (/subscriptions/…, with or without "azureml:") or an address (azureml://…)
/// that names another workspace: another name, resource group or subscription, or another GUID.
/// What names no workspace is of the one it is said in.
Status check_workspace(const Workspace& workspace, std::string_view reference);

/// The GUID in http…/blob/<workspace>/…, as our own blob addresses have it; nothing in others.
std::optional<std::string> workspace_of_blob_url(std::string_view url);

}  // namespace berth::model
