// SPDX-License-Identifier: Apache-2.0
// What job, data and environment files have in common: places of files, and inline environments.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/assets/asset.h"
#include "wire/yaml/document.h"
#include "wire/yaml/job.h"

namespace berth::wire::yaml {

/// Puts the node's place in front of an error from somewhere that does not know it.
tl::unexpected<Error> at(const Mark& mark, Error error);

/// Whether a `path` is an address ("azureml:…", "https://…", "/subscriptions/…", "runs:/…", or one
/// with an expression in it) and not a file of this machine.
bool is_address(std::string_view path);

/// The file or folder a `path` or `code` means, which must exist. Takes file: and file:// too.
Result<LocalPath> find_local(const Node& node, std::string_view key,
                             const std::string& base_directory);

/// `node`'s member as text; empty when there is none or it is null.
Result<std::string> text_member(const Node& node, std::string_view key);

/// A member out of a closed set, ignoring case; empty when absent.
Result<std::string> choice_member(const Node& node, std::string_view key,
                                  std::span<const std::string_view> known);

/// `datastore:` says where to upload; only the default one can be.
Status check_datastore(const Node& node);

/// Name, version, description, tags and properties.
Status read_labels(const Node& node, model::Asset& asset);

struct EnvironmentDefinition {
  model::Asset asset{};
  std::optional<LocalPath> build_context{};
};
/// An environment's mapping, in a file of its own or inline.
Result<EnvironmentDefinition> read_environment(const Node& node, const std::string& base_directory);

/// `environment:` of a job: a reference, "file:<path>", or a mapping.
Result<EnvironmentSpec> read_environment_spec(const Node& node, const std::string& base_directory);

}  // namespace berth::wire::yaml
