// SPDX-License-Identifier: Apache-2.0
// Calls: of the functions that need more than their arguments, of those that the template defines,
// and of all others.
#include <fmt/format.h>

#include "base/text.h"
#include "lang/arm_template/evaluate.h"

namespace berth::lang::arm_template {
namespace {

struct Special {
  std::string_view name;
  int least;
  int most;
};

constexpr Special kSpecials[] = {
    {"parameters", 1, 1}, {"variables", 1, 1}, {"if", 3, 3},     {"copyIndex", 0, 2},
    {"reference", 1, 3},  {"newGuid", 0, 0},   {"utcNow", 0, 1},
};

const Special* find_special(std::string_view name) {
  for (const Special& special : kSpecials) {
    if (equals_ignoring_case(special.name, name)) return &special;
  }
  return nullptr;
}

bool is_call_of(const Expression& call, std::string_view name) {
  return equals_ignoring_case(call.name, name);
}

/// The function "namespace.name" that the template defines; nullptr when it does not.
const json::object* find_defined(const json::object& definition, std::string_view name) {
  const std::size_t dot = name.find('.');
  const json::value* functions = definition.if_contains("functions");
  if (dot == std::string_view::npos || functions == nullptr || !functions->is_array())
    return nullptr;
  for (const json::value& group : functions->get_array()) {
    if (!group.is_object()) continue;
    const json::value* space = group.get_object().if_contains("namespace");
    const json::value* members = group.get_object().if_contains("members");
    if (space == nullptr || !space->is_string() || members == nullptr || !members->is_object())
      continue;
    if (!equals_ignoring_case(text_of(*space), name.substr(0, dot))) continue;
    const json::value* found = find_member(members->get_object(), name.substr(dot + 1));
    if (found != nullptr && found->is_object()) return &found->get_object();
  }
  return nullptr;
}

tl::unexpected<Error> unknown_function(const Expression& call) {
  std::vector<std::string_view> names = function_names();
  for (const Special& special : kSpecials) names.push_back(special.name);
  std::string message =
      fmt::format("unknown function '{}' at character {}", call.name.substr(0, 80), call.at + 1);
  if (const auto near = nearest(call.name, names))
    message += fmt::format("; did you mean '{}'?", *near);
  return fail(Code::InvalidArgument, std::move(message));
}

Status check_count(const Expression& call, int least, int most) {
  const int given = static_cast<int>(call.parts.size());
  if (given >= least && given <= most) return Done{};
  const std::string wanted = least == most        ? fmt::format("{}", least)
                             : most == kAnyNumber ? fmt::format("at least {}", least)
                                                  : fmt::format("{} to {}", least, most);
  return fail(Code::InvalidArgument, fmt::format("{} takes {} arguments, not {} (character {})",
                                                 call.name, wanted, given, call.at + 1));
}

Status check_call(const Expression& call, const json::object& definition) {
  if (const Special* special = find_special(call.name)) {
    return check_count(call, special->least, special->most);
  }
  if (const Function* function = find_function(call.name)) {
    return check_count(call, function->least, function->most);
  }
  if (find_defined(definition, call.name) != nullptr) return Done{};
  return unknown_function(call);
}

}  // namespace

Status check_expressions(const json::value& value, const json::object& definition,
                         const std::string& path) {
  if (const json::array* list = value.if_array()) {
    for (std::size_t index = 0; index < list->size(); ++index) {
      TRY(check_expressions((*list)[index], definition, fmt::format("{}[{}]", path, index)));
    }
  } else if (const json::object* object = value.if_object()) {
    for (const auto& [key, member] : *object) {
      const std::string name(key.data(), key.size());
      TRY(check_expressions(member, definition, path.empty() ? name : path + "." + name));
    }
  } else if (value.is_string() && is_expression(text_of(value))) {
    const Result<Expression> expression = parse_expression(text_of(value));
    if (!expression) return fail(located(expression.error(), path));
    Status checked = Done{};
    for_each_call(*expression, [&](const Expression& call) {
      if (checked) checked = check_call(call, definition);
    });
    if (!checked) return fail(located(checked.error(), path));
  }
  return Done{};
}

Result<json::value> Evaluator::call(const Expression& call, const Frame& frame) {
  TRY(budget_.spend(1 + call.name.size()));
  bool is_special = false;
  Result<json::value> special = call_special(call, frame, is_special);
  if (!is_special) {
    const Function* function = find_function(call.name);
    if (function == nullptr) {
      special = call_defined(call, frame);
    } else {
      TRY(check_count(call, function->least, function->most));
      Arguments arguments{.function = function->name, .place = place_};
      for (const Expression& part : call.parts) {
        arguments.values.push_back(TRY(evaluate_part(part, frame)));
      }
      special = function->run(arguments);
      if (!special) {
        special.error().message += fmt::format(" (character {})", call.at + 1);
        return special;
      }
    }
  }
  if (special) TRY(budget_.spend(*special));
  return special;
}

Result<json::value> Evaluator::call_special(const Expression& call, const Frame& frame,
                                            bool& is_special) {
  const Special* special = find_special(call.name);
  is_special = special != nullptr;
  if (!is_special) return nullptr;
  TRY(check_count(call, special->least, special->most));
  if (special->name == "if") return choose(call, frame);
  if (special->name == "copyIndex") return index_of_copy(call, frame);
  if (special->name == "reference") return refer(call, frame);
  if (special->name == "newGuid" || special->name == "utcNow") return fresh(call, frame);
  const std::string name = TRY(name_argument(call, frame));
  if (frame.own_parameters != nullptr) {
    const json::value* own =
        special->name == "parameters" ? find_member(*frame.own_parameters, name) : nullptr;
    if (own != nullptr) return *own;
    return fail(Code::InvalidArgument,
                fmt::format("a defined function knows only its own parameters, not '{}'", name));
  }
  return special->name == "parameters" ? parameter(name) : variable(name);
}

Result<std::string> Evaluator::name_argument(const Expression& call, const Frame& frame) {
  const json::value name = TRY(evaluate_part(call.parts[0], frame));
  if (name.is_string()) return std::string(text_of(name));
  return fail(Code::InvalidArgument,
              fmt::format("{}: argument 1 must be text, not {} (character {})", call.name,
                          kind_of(name), call.at + 1));
}

/// Only the branch that is chosen is evaluated.
Result<json::value> Evaluator::choose(const Expression& call, const Frame& frame) {
  const json::value condition = TRY(evaluate_part(call.parts[0], frame));
  if (!condition.is_bool()) {
    return fail(Code::InvalidArgument,
                fmt::format("if: argument 1 must be true or false, not {} (character {})",
                            kind_of(condition), call.at + 1));
  }
  return evaluate_part(call.parts[condition.get_bool() ? 1 : 2], frame);
}

Result<json::value> Evaluator::index_of_copy(const Expression& call, const Frame& frame) {
  std::string name;
  std::int64_t offset = 0;
  for (const Expression& part : call.parts) {
    const json::value value = TRY(evaluate_part(part, frame));
    if (value.is_string() && &part == &call.parts[0]) {
      name = std::string(text_of(value));
    } else if (value.is_int64() && &part == &call.parts.back()) {
      offset = value.get_int64();
    } else {
      return fail(Code::InvalidArgument, "copyIndex takes the name of a copy, and where to begin");
    }
  }
  const Loop* loop = nullptr;
  for (const Loop& each : frame.loops) {
    if (name.empty() ? !each.is_of_property : equals_ignoring_case(each.name, name)) loop = &each;
  }
  if (loop == nullptr && name.empty() && !frame.loops.empty()) loop = &frame.loops.back();
  std::int64_t index = 0;
  if (loop == nullptr || __builtin_add_overflow(loop->index, offset, &index)) {
    return fail(Code::InvalidArgument,
                fmt::format("copyIndex: there is no copy '{}' around this (character {})", name,
                            call.at + 1));
  }
  return index;
}

Result<json::value> Evaluator::fresh(const Expression& call, const Frame& frame) {
  if (!frame.is_default) {
    return fail(Code::InvalidArgument,
                fmt::format("{} may stand only in the default of a parameter (character {})",
                            call.name, call.at + 1));
  }
  if (is_call_of(call, "newGuid")) return json::value(fresh_.new_guid());
  const std::string format = call.parts.empty() ? "" : TRY(name_argument(call, frame));
  return json::value(TRY(format_time(fresh_.now, format)));
}

Result<json::value> Evaluator::refer(const Expression& call, const Frame& frame) {
  if (frame.refer == nullptr) {
    return fail(
        Code::InvalidArgument,
        fmt::format("reference may stand only in the properties of a resource and in outputs "
                    "(character {})",
                    call.at + 1));
  }
  const std::string id = TRY(name_argument(call, frame));
  bool is_full = false;
  if (call.parts.size() > 2) {
    const json::value full = TRY(evaluate_part(call.parts[2], frame));
    is_full = full.is_string() && equals_ignoring_case(text_of(full), "Full");
    if (!is_full) return fail(Code::InvalidArgument, "reference: argument 3 can only be 'Full'");
  }
  return (*frame.refer)(id, is_full);
}

/// Whether it asks for resources, and for which.
Status Evaluator::note_references(const Expression& whole, const Frame& frame, bool& has_any) {
  std::vector<const Expression*> calls;
  for_each_call(whole, [&](const Expression& call) {
    if (is_call_of(call, "reference")) calls.push_back(&call);
  });
  has_any = !calls.empty();
  Frame inner = frame;
  inner.references = nullptr;
  for (const Expression* call : calls) {
    if (call->parts.empty()) return check_count(*call, 1, 3);
    frame.references->insert(TRY(name_argument(*call, inner)));
  }
  return Done{};
}

Result<json::value> Evaluator::call_defined(const Expression& call, const Frame& frame) {
  const json::object* function = find_defined(definition_, call.name);
  if (function == nullptr) return unknown_function(call);
  if (frame.own_parameters != nullptr) {
    return fail(Code::InvalidArgument, "a defined function cannot call another one");
  }
  const json::value* declared = function->if_contains("parameters");
  const json::value* output = function->if_contains("output");
  const json::value* value = output != nullptr && output->is_object()
                                 ? output->get_object().if_contains("value")
                                 : nullptr;
  if (value == nullptr || (declared != nullptr && !declared->is_array())) {
    return fail(Code::InvalidArgument,
                fmt::format("the function '{}' is not well defined", call.name));
  }
  const std::size_t count = declared == nullptr ? 0 : declared->get_array().size();
  TRY(check_count(call, static_cast<int>(count), static_cast<int>(count)));
  json::object own;
  for (std::size_t index = 0; index < count; ++index) {
    const json::value& parameter = declared->get_array()[index];
    const json::value* name =
        parameter.is_object() ? parameter.get_object().if_contains("name") : nullptr;
    if (name == nullptr || !name->is_string()) {
      return fail(Code::InvalidArgument, fmt::format("a parameter of '{}' has no name", call.name));
    }
    own[text_of(*name)] = TRY(evaluate_part(call.parts[index], frame));
  }
  return evaluate(*value, {.own_parameters = &own}, "functions." + call.name);
}

}  // namespace berth::lang::arm_template
