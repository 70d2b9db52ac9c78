// SPDX-License-Identifier: Apache-2.0
#include "model/secret.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace berth::model {
namespace {

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

tl::unexpected<Error> wrong(std::string message) {
  return fail(Code::InvalidArgument, std::move(message),
              fmt::format("properties.{}", kSecretsProperty));
}

}  // namespace

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [](char letter) {
    return is_letter(letter) || (letter >= '0' && letter <= '9');
  });
}

Status add_secret_variable(std::string_view text, SecretVariables& variables) {
  const std::size_t equals = text.find('=');
  const std::string name(trim(text.substr(0, equals)));
  const std::string variable(equals == text.npos ? name : trim(text.substr(equals + 1)));
  if (!is_resource_name(name)) {
    return wrong(fmt::format("'{}' is not the name of a secret", to_valid_utf8(name)));
  }
  if (!is_variable_name(variable)) {
    return wrong(
        fmt::format("'{0}' cannot name an environment variable; say which one the secret "
                    "goes into: {1}=VARIABLE",
                    to_valid_utf8(variable), name));
  }
  const auto [entry, is_new] = variables.try_emplace(variable, name);
  if (is_new || entry->second == name) return Done{};
  return wrong(
      fmt::format("secrets '{}' and '{}' both go into '{}'", entry->second, name, variable));
}

Result<SecretVariables> secret_variables_from(std::string_view text) {
  SecretVariables variables;
  for (const std::string_view part : split(text, ',')) {
    if (!trim(part).empty()) TRY(add_secret_variable(part, variables));
  }
  return variables;
}

std::string to_text(const SecretVariables& variables) {
  std::string text;
  for (const auto& [variable, name] : variables) {
    if (!text.empty()) text += ',';
    text += name == variable ? name : fmt::format("{}={}", name, variable);
  }
  return text;
}

}  // namespace berth::model
