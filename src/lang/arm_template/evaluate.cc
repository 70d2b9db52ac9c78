// SPDX-License-Identifier: Apache-2.0
// Values, and where parameters and variables come from. Calls are in evaluate_call.cc.
#include "lang/arm_template/evaluate.h"

#include <fmt/format.h>

#include "base/text.h"
#include "lang/arm_template/parameters.h"

namespace berth::lang::arm_template {
namespace {

constexpr int kDeepest = 500;
constexpr std::size_t kEachExpression = 256;  // Time, in the currency of the budget.

/// A variable's definition, or the element of `variables.copy` that makes it.
const json::value* copied_variable(const json::object& variables, std::string_view name) {
  const json::value* copies = variables.if_contains("copy");
  if (copies == nullptr || !copies->is_array()) return nullptr;
  for (const json::value& copy : copies->get_array()) {
    const json::value* its_name =
        copy.is_object() ? copy.get_object().if_contains("name") : nullptr;
    const bool is_it = its_name != nullptr && its_name->is_string() &&
                       equals_ignoring_case(text_of(*its_name), name);
    if (is_it) return &copy;
  }
  return nullptr;
}

}  // namespace

Error located(Error error, const std::string& path) {
  if (error.target.empty()) error.target = path;
  return error;
}

Result<const json::object*> section(const json::object& definition, std::string_view name) {
  static const json::object kNone;
  const json::value* found = definition.if_contains(name);
  if (found == nullptr || found->is_null()) return &kNone;
  if (found->is_object()) return &found->get_object();
  return fail(Code::InvalidArgument, fmt::format("must be an object, not {}", kind_of(*found)),
              std::string(name));
}

Evaluator::Evaluator(const json::object& definition, json::object given, Place place, Fresh fresh)
    : definition_(definition), place_(std::move(place)), fresh_(std::move(fresh)) {
  for (auto& [name, value] : given) {
    parameters_.emplace(to_lower({name.data(), name.size()}), std::move(value));
  }
}

// ---- Values ------------------------------------------------------------------------------------

Result<json::value> Evaluator::evaluate(const json::value& value, const Frame& frame,
                                        const std::string& path) {
  if (value.is_string()) {
    Result<json::value> result = evaluate_string(text_of(value), frame);
    if (!result) return fail(located(result.error(), path));
    return result;
  }
  if (value.is_object()) return evaluate_object(value.get_object(), frame, path);
  if (value.is_array()) {
    json::array list;
    for (std::size_t index = 0; index < value.get_array().size(); ++index) {
      list.push_back(
          TRY(evaluate(value.get_array()[index], frame, fmt::format("{}[{}]", path, index))));
    }
    return list;
  }
  return value;
}

Result<json::value> Evaluator::evaluate_object(const json::object& object, const Frame& frame,
                                               const std::string& path) {
  json::object result;
  for (const auto& [key, value] : object) {
    const std::string name(key.data(), key.size());
    const std::string below = path.empty() ? name : path + "." + name;
    if (name == "copy" && value.is_array()) {
      for (std::size_t index = 0; index < value.get_array().size(); ++index) {
        TRY(write_out(value.get_array()[index], result, frame,
                      fmt::format("{}[{}]", below, index)));
      }
    } else {
      json::value evaluated = TRY(evaluate(value, frame, below));
      result[name] = std::move(evaluated);
    }
  }
  return result;
}

/// {"name", "count", "input"}: a list of that name.
Status Evaluator::write_out(const json::value& copy, json::object& into, const Frame& frame,
                            const std::string& path) {
  const json::object* parts = copy.if_object();
  const json::value* name = parts == nullptr ? nullptr : parts->if_contains("name");
  const json::value* count = parts == nullptr ? nullptr : parts->if_contains("count");
  const json::value* input = parts == nullptr ? nullptr : parts->if_contains("input");
  if (name == nullptr || !name->is_string() || count == nullptr || input == nullptr) {
    return fail(Code::InvalidArgument, "a copy of a property has a name, a count and an input",
                path);
  }
  const std::int64_t times = TRY(evaluate_count(*count, frame, path + ".count"));
  Frame inner = frame;
  inner.loops.push_back({.name = std::string(text_of(*name)), .is_of_property = true});
  json::array list;
  for (std::int64_t index = 0; index < times; ++index) {
    inner.loops.back().index = index;
    list.push_back(TRY(evaluate(*input, inner, path + ".input")));
    const Status paid = budget_.spend(list.back());
    if (!paid) return fail(located(paid.error(), path));
  }
  into[text_of(*name)] = std::move(list);
  return Done{};
}

Result<std::int64_t> Evaluator::evaluate_count(const json::value& value, const Frame& frame,
                                               const std::string& path) {
  const json::value count = TRY(evaluate(value, frame, path));
  if (count.is_int64() && count.get_int64() >= 0 && count.get_int64() <= kMostCopies) {
    return count.get_int64();
  }
  return fail(Code::InvalidArgument,
              fmt::format("must be a whole number from 0 to {}", kMostCopies), path);
}

Result<std::string> Evaluator::evaluate_text(const json::value& value, const Frame& frame,
                                             const std::string& path) {
  const json::value text = TRY(evaluate(value, frame, path));
  if (text.is_string()) return std::string(text_of(text));
  return fail(Code::InvalidArgument, fmt::format("must be text, not {}", kind_of(text)), path);
}

Result<json::value> Evaluator::evaluate_string(std::string_view text, const Frame& frame) {
  TRY(budget_.spend(kEachExpression + text.size()));
  if (!is_expression(text)) return json::value(literal_of(text));
  const Expression expression = TRY(parse_expression(text));
  if (frame.references != nullptr) {
    bool has_references = false;
    TRY(note_references(expression, frame, has_references));
    if (has_references) return json::value(json::string(text));
  }
  return evaluate_part(expression, frame);
}

Result<json::value> Evaluator::evaluate_part(const Expression& part, const Frame& frame) {
  struct Level {
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    int& depth_;
  } level(depth_);
  if (depth_ > kDeepest) return fail(Code::TooLarge, "expressions are nested too deep");
  switch (part.kind) {
    case Expression::Kind::Text: return json::value(json::string(part.name));
    case Expression::Kind::Number: return json::value(part.number);
    case Expression::Kind::Call: return call(part, frame);
    case Expression::Kind::Member:
    case Expression::Kind::Index: break;
  }
  const json::value of = TRY(evaluate_part(part.parts[0], frame));
  const json::value key = part.kind == Expression::Kind::Member
                              ? json::value(json::string(part.name))
                              : TRY(evaluate_part(part.parts[1], frame));
  if (of.is_object() && key.is_string()) {
    if (const json::value* found = find_member(of.get_object(), text_of(key))) {
      TRY(budget_.spend(*found));
      return *found;
    }
  } else if (of.is_array() && key.is_int64()) {
    const auto index = static_cast<std::size_t>(key.get_int64());
    if (key.get_int64() >= 0 && index < of.get_array().size()) {
      TRY(budget_.spend(of.get_array()[index]));
      return of.get_array()[index];
    }
  } else if (!part.is_safe || !of.is_null()) {
    return fail(Code::InvalidArgument,
                fmt::format("{} has no {} (character {})", kind_of(of),
                            key.is_string() ? "members" : "elements", part.at + 1));
  }
  if (part.is_safe) return nullptr;
  return fail(Code::InvalidArgument,
              fmt::format("there is no {} '{}' (character {})",
                          of.is_object() ? "member" : "element", to_text(key), part.at + 1));
}

// ---- Parameters and variables

Result<json::value> Evaluator::parameter(std::string_view name) {
  const std::string key = to_lower(name);
  if (const auto found = parameters_.find(key); found != parameters_.end()) return found->second;
  const json::object& declared = *TRY(section(definition_, "parameters"));
  const json::value* declaration = find_member(declared, name);
  const std::string path = fmt::format("parameters.{}", name);
  if (declaration == nullptr || !declaration->is_object()) {
    return fail(Code::InvalidArgument, fmt::format("the template has no parameter '{}'", name));
  }
  const json::value* otherwise = declaration->get_object().if_contains("defaultValue");
  if (otherwise == nullptr) {
    return fail(Code::InvalidArgument,
                fmt::format("the parameter '{}' has no default and was not given", name), path);
  }
  if (!under_way_.insert("p:" + key).second) {
    return fail(Code::InvalidArgument, fmt::format("the default of '{}' depends on itself", name),
                path);
  }
  json::value value = TRY(evaluate(*otherwise, {.is_default = true}, path + ".defaultValue"));
  under_way_.erase("p:" + key);
  TRY(check_parameter(declaration->get_object(), value, path));
  return parameters_[key] = std::move(value);
}

Result<json::value> Evaluator::variable(std::string_view name) {
  const std::string key = to_lower(name);
  if (const auto found = variables_.find(key); found != variables_.end()) return found->second;
  const json::object& variables = *TRY(section(definition_, "variables"));
  const json::value* copy = copied_variable(variables, name);
  const json::value* found = copy != nullptr ? copy : find_member(variables, name);
  if (found == nullptr) {
    return fail(Code::InvalidArgument, fmt::format("the template has no variable '{}'", name));
  }
  const std::string path = fmt::format("variables.{}", name);
  if (!under_way_.insert("v:" + key).second) {
    return fail(Code::InvalidArgument, fmt::format("the variable '{}' depends on itself", name),
                path);
  }
  json::value value;
  if (copy != nullptr) {
    json::object made;
    TRY(write_out(*copy, made, {}, path));
    value = made.begin()->value();
  } else {
    value = TRY(evaluate(*found, {}, path));
  }
  under_way_.erase("v:" + key);
  return variables_[key] = std::move(value);
}

}  // namespace berth::lang::arm_template
