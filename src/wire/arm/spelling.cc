// SPDX-License-Identifier: Apache-2.0
// The names of data types and modes: one table each, for ARM and for YAML.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {
namespace {

using model::DataMode;
using model::DataType;

struct TypeName {
  DataType type;
  std::string_view name;
};
constexpr std::array<TypeName, 7> kTypes = {{
    {DataType::Literal, "literal"},
    {DataType::UriFile, "uri_file"},
    {DataType::UriFolder, "uri_folder"},
    {DataType::MlTable, "mltable"},
    {DataType::CustomModel, "custom_model"},
    {DataType::MlflowModel, "mlflow_model"},
    {DataType::TritonModel, "triton_model"},
}};

struct ModeName {
  DataMode mode;
  std::string_view arm;
  std::string_view yaml;
};
constexpr std::array<ModeName, 7> kModes = {{
    {DataMode::ReadOnlyMount, "ReadOnlyMount", "ro_mount"},
    {DataMode::ReadWriteMount, "ReadWriteMount", "rw_mount"},
    {DataMode::Download, "Download", "download"},
    {DataMode::Upload, "Upload", "upload"},
    {DataMode::Direct, "Direct", "direct"},
    {DataMode::EvalMount, "EvalMount", "eval_mount"},
    {DataMode::EvalDownload, "EvalDownload", "eval_download"},
}};

/// "UriFolder" and "uri_folder" both give "urifolder".
std::string folded(std::string_view text) {
  std::string result = to_lower(text);
  std::erase(result, '_');
  return result;
}

template <std::size_t N>
tl::unexpected<Error> unknown(std::string_view text, std::string_view what,
                              const std::array<std::string_view, N>& known) {
  std::string message = fmt::format("'{}' is not a {}", to_valid_utf8(text), what);
  if (const auto near = nearest(to_lower(text), known)) {
    message += fmt::format("; did you mean '{}'?", *near);
  } else {
    message += fmt::format("; known are {}", fmt::join(known, ", "));
  }
  return fail(Code::InvalidArgument, std::move(message));
}

const ModeName& names_of(DataMode mode) {
  for (const ModeName& entry : kModes) {
    if (entry.mode == mode) return entry;
  }
  CHECK(false, "every mode has names");
}

}  // namespace

std::string_view to_arm(DataType type) {
  for (const TypeName& entry : kTypes) {
    if (entry.type == type) return entry.name;
  }
  CHECK(false, "every data type has a name");
}

std::string_view to_arm(DataMode mode) { return names_of(mode).arm; }

std::string_view to_yaml(DataMode mode) { return names_of(mode).yaml; }

Result<DataType> data_type_from(std::string_view text) {
  for (const TypeName& entry : kTypes) {
    if (folded(entry.name) == folded(text)) return entry.type;
  }
  std::array<std::string_view, kTypes.size()> names;
  std::ranges::transform(kTypes, names.begin(), &TypeName::name);
  return unknown(text, "data type", names);
}

Result<DataMode> data_mode_from(std::string_view text) {
  if (equals_ignoring_case(text, "mount")) return DataMode::ReadWriteMount;
  for (const ModeName& entry : kModes) {
    if (folded(entry.arm) == folded(text) || folded(entry.yaml) == folded(text)) return entry.mode;
  }
  std::array<std::string_view, kModes.size()> names;
  std::ranges::transform(kModes, names.begin(), &ModeName::yaml);
  return unknown(text, "mode", names);
}

Status check_input_mode(DataMode mode) {
  if (mode != DataMode::Upload) return Done{};
  return fail(Code::InvalidArgument, "'upload' is a mode of outputs, not of inputs");
}

Status check_output_mode(DataMode mode) {
  if (mode == DataMode::ReadWriteMount || mode == DataMode::Upload || mode == DataMode::Direct) {
    return Done{};
  }
  return fail(
      Code::InvalidArgument,
      fmt::format("'{}' is not a mode of outputs; use rw_mount, upload or direct", to_yaml(mode)));
}

}  // namespace berth::wire::arm
