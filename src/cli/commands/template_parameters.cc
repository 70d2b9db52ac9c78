// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/template_parameters.h"

#include "base/record.h"
#include "base/text.h"
#include "io/files/file.h"
#include "wire/arm/template_file.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

/// The type that the template declares for the parameter, in lower case; "" when it has none.
std::string declared_type(const json::object& definition, std::string_view name) {
  const json::value* parameters = definition.if_contains("parameters");
  if (parameters == nullptr || !parameters->is_object()) return {};
  for (const auto& [key, declaration] : parameters->get_object()) {
    if (!equals_ignoring_case({key.data(), key.size()}, name) || !declaration.is_object()) continue;
    const json::value* type = declaration.get_object().if_contains("type");
    if (type != nullptr && type->is_string()) return to_lower(std::string(type->get_string()));
  }
  return {};
}

/// Text stays text, whatever it looks like, when the template wants text.
Result<json::value> typed(const std::string& name, const std::string& text,
                          const std::string& type) {
  if (type == "string" || type == "securestring") return json::value(text);
  if (type == "bool" && equals_ignoring_case(text, "true")) return json::value(true);
  if (type == "bool" && equals_ignoring_case(text, "false")) return json::value(false);
  Result<json::value> value = wire::arm::value_from_template_file(text);
  if (value) return value;
  if (type.empty()) return json::value(text);
  // The value is not repeated: it may be a secret.
  return fail(Code::InvalidArgument,
              fmt::format("the parameter '{}' is of type {}, and its value is none", name, type));
}

/// A whole parameter file, or only what is in its "parameters".
Result<json::object> parameters_in(const json::object& file) {
  const json::value* inner = file.if_contains("parameters");
  const bool is_whole = inner != nullptr && inner->is_object() &&
                        (file.contains("$schema") || file.contains("contentVersion"));
  return is_whole ? inner->get_object() : file;
}

/// What `@FILE` has become before a command sees it (word_file.h).
bool is_content(std::string_view word) {
  word = trim(word);
  return word.starts_with('{') || word.starts_with("//") || word.starts_with("/*");
}

/// Whether a word is key=value and not the name of a file with a '=' in it.
bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return word.substr(0, equals).find_first_of("/\\{") == std::string_view::npos;
}

Status assign(const json::object& definition, const std::string& word, json::object& parameters) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  json::value value = TRY(typed(name, word.substr(equals + 1), declared_type(definition, name)));
  parameters[name] = json::object{{"value", std::move(value)}};
  return Done{};
}

}  // namespace

Result<json::object> read_template_file(const Place& place, const std::string& file) {
  const std::string text = TRY(io::read_file(place.absolute(file)));
  const Result<json::value> value = wire::arm::value_from_template_file(text);
  if (!value)
    return fail(Code::InvalidArgument, fmt::format("{}: {}", file, value.error().message));
  if (value->is_object()) return value->get_object();
  return fail(Code::InvalidArgument, fmt::format("{}: this is not a JSON object", file));
}

Result<json::object> template_parameters(const Place& place, const json::object& definition,
                                         const std::vector<std::string>& words) {
  json::object parameters;
  for (const std::string& word : words) {
    if (is_assignment(word)) {
      TRY(assign(definition, word, parameters));
      continue;
    }
    json::object given;
    if (is_content(word)) {
      const json::value value = TRY(wire::arm::value_from_template_file(word));
      if (!value.is_object()) return fail(Code::InvalidArgument, "-p takes a JSON object");
      given = value.get_object();
    } else {
      given = TRY(read_template_file(place, word.starts_with('@') ? word.substr(1) : word));
    }
    const json::object found = TRY(parameters_in(given));
    for (const auto& [name, value] : found) parameters[name] = value;
  }
  return parameters;
}

}  // namespace berth::cli
