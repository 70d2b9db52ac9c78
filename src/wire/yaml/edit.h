// SPDX-License-Identifier: Apache-2.0
// --set, --add and --remove: changes to a document by the path of a key, as `az` writes them.
#pragma once

#include <boost/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/yaml/document.h"

namespace berth::wire::yaml {

/// `--set a.b[0].c=value`: a value that starts with a bracket, brace or quote is read as YAML, any
/// other is the text it looks like. Makes missing mappings; refuses to step into a scalar
/// ("--set environment.image=…: 'environment' is the text 'azureml:x', not a mapping"). Elements of
/// a list are named by [index], from its end by [-1], or by [key=value]. `as_text`: whatever the
/// value looks like.
Status set(Node& root, std::string_view assignment, bool as_text = false);

/// `--add a.list value…`: appends to a list, which is made if need be; key=value words that follow
/// each other become one mapping.
Status add(Node& root, std::span<const std::string> words);

/// `--remove a.key`, or `--remove a.list 0`: takes a key or an element away.
Status remove(Node& root, std::span<const std::string> words);

/// The same value as a document; texts are quoted.
Node to_node(const boost::json::value& value);

}  // namespace berth::wire::yaml
