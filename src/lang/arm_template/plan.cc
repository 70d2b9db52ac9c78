// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lang/arm_template/collect.h"
#include "lang/arm_template/order.h"
#include "lang/arm_template/parameters.h"

namespace berth::lang::arm_template {
namespace {

constexpr std::size_t kMostOfEach = 256;  // Parameters, variables, outputs: as in Azure.

tl::unexpected<Error> wrong(std::string message, std::string path) {
  return fail(Code::InvalidArgument, std::move(message), std::move(path));
}

Status check_shape(const json::object& definition) {
  for (const std::string_view name : {"parameters", "variables", "outputs"}) {
    if (TRY(section(definition, name))->size() > kMostOfEach) {
      return wrong(fmt::format("there are more than {}", kMostOfEach), std::string(name));
    }
  }
  const json::value* schema = definition.if_contains("$schema");
  const std::string text =
      schema != nullptr && schema->is_string() ? to_lower(text_of(*schema)) : "";
  if (text.find("deploymenttemplate.json") == std::string::npos) {
    return wrong("must be that of a template for a resource group: …/deploymentTemplate.json#",
                 "$schema");
  }
  if (text.find("subscriptiondeploymenttemplate") != std::string::npos) {
    return wrong("is that of a subscription; Berth deploys to a resource group", "$schema");
  }
  const json::value* version = definition.if_contains("contentVersion");
  if (version == nullptr || !version->is_string()) {
    return wrong("must be a version such as 1.0.0.0", "contentVersion");
  }
  if (!definition.contains("resources")) return wrong("must be a list", "resources");
  for (const char* name : {"parameters", "variables", "functions", "resources", "outputs"}) {
    if (const json::value* part = definition.if_contains(name)) {
      TRY(check_expressions(*part, definition, name));
    }
  }
  return Done{};
}

Result<std::vector<SettledParameter>> settle(Evaluator& evaluator, const json::object& declared) {
  std::vector<SettledParameter> all;
  for (const auto& [key, declaration] : declared) {
    const std::string name(key.data(), key.size());
    const std::string path = "parameters." + name;
    if (!declaration.is_object()) return wrong("must be an object", path);
    const std::string type = type_of(declaration.get_object());
    Result<json::value> value = evaluator.parameter(name);
    if (!value) return fail(located(value.error(), path));
    TRY(check_parameter(declaration.get_object(), *value, path));
    all.push_back({name, type, *std::move(value), is_secure_type(type)});
  }
  return all;
}

/// What the template says of a resource itself, and not of what is to be sent.
bool is_instruction(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"type",      "name", "apiVersion", "dependsOn",
                                               "condition", "copy", "resources",  "comments",
                                               "metadata",  "scope"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

Result<json::object> body_from(Evaluator& evaluator, const PlannedResource& resource,
                               const Frame& frame) {
  json::object body;
  for (const auto& [key, value] : *resource.source) {
    const std::string name(key.data(), key.size());
    if (is_instruction(name)) continue;
    body[name] = TRY(evaluator.evaluate(value, frame, resource.path + "." + name));
  }
  return body;
}

}  // namespace

/// Fills a plan.
class Planner {
 public:
  static Result<std::unique_ptr<Plan>> make(Order order) {
    auto plan = std::make_unique<Plan>();
    plan->definition_ = std::move(order.definition);
    const json::object& definition = plan->definition_;
    TRY(check_shape(definition));
    plan->evaluator_ = std::make_unique<Evaluator>(definition, std::move(order.given),
                                                   std::move(order.place), std::move(order.fresh));
    Evaluator& evaluator = *plan->evaluator_;
    plan->parameters_ = TRY(settle(evaluator, *TRY(section(definition, "parameters"))));
    for (const auto& [name, value] : *TRY(section(definition, "variables"))) {
      if (name != "copy") TRY(evaluator.variable({name.data(), name.size()}));
    }
    Collected collected = TRY(collect_resources(definition, evaluator));
    for (PlannedResource& resource : collected.resources) {
      std::set<std::string> references;
      const Frame frame{.loops = resource.loops, .references = &references};
      TRY(body_from(evaluator, resource, frame));
      TRY(note_dependencies(collected, resource, evaluator, references));
    }
    plan->resources_ = TRY(in_order(std::move(collected.resources)));
    TRY(check_outputs(*plan));
    return plan;
  }

 private:
  static Status check_outputs(const Plan& plan) {
    for (const auto& [key, output] : *TRY(section(plan.definition_, "outputs"))) {
      std::set<std::string> references;
      const std::string path = fmt::format("outputs.{}", std::string_view(key.data(), key.size()));
      if (!output.is_object() || type_of(output.get_object()).empty()) {
        return wrong("must be an object with a type and a value", path);
      }
      const json::value* value = output.get_object().if_contains("value");
      if (value == nullptr && !output.get_object().contains("copy")) {
        return wrong("must have a value", path);
      }
      if (value != nullptr)
        TRY(plan.evaluator_->evaluate(*value, {.references = &references}, path));
    }
    return Done{};
  }
};

Result<std::unique_ptr<Plan>> make_plan(Order order) { return Planner::make(std::move(order)); }

const PlannedResource* Plan::find(std::string_view id_or_name) const {
  const auto found = std::ranges::find_if(resources_, [&](const PlannedResource& each) {
    return equals_ignoring_case(each.id, id_or_name) || equals_ignoring_case(each.name, id_or_name);
  });
  return found == resources_.end() ? nullptr : &*found;
}

/// Names become ids; what is not made here may be there already.
Refer Plan::resolved(const Refer& refer) const {
  return [this, &refer](const std::string& id_or_name, bool is_full) -> Result<json::value> {
    const PlannedResource* made = find(id_or_name);
    if (made != nullptr) return refer(made->id, is_full);
    if (id_or_name.starts_with('/')) return refer(id_or_name, is_full);
    return fail(Code::InvalidArgument,
                fmt::format("reference: the template makes no '{}'; of others give the resource id",
                            id_or_name));
  };
}

Result<json::object> Plan::body_of(const PlannedResource& resource, const Refer& refer) const {
  const Refer by_id = resolved(refer);
  return body_from(*evaluator_, resource, {.loops = resource.loops, .refer = &by_id});
}

Result<json::object> Plan::outputs(const Refer& refer) const {
  const Refer by_id = resolved(refer);
  json::object results;
  for (const auto& [key, output] : *TRY(section(definition_, "outputs"))) {
    const std::string name(key.data(), key.size());
    const std::string path = "outputs." + name;
    const json::object& declared = output.get_object();
    const Frame frame{.refer = &by_id};
    const json::value* condition = declared.if_contains("condition");
    if (condition != nullptr && TRY(evaluator_->evaluate(*condition, frame, path)) != true)
      continue;
    const std::string type = type_of(declared);
    json::value value = TRY(output_value(*evaluator_, declared, frame, path));
    const Status fits = check_parameter(json::object{{"type", type}}, value, path);
    if (!fits) return fail(fits.error());
    json::object result = {{"type", type}};
    if (!is_secure_type(type)) result["value"] = std::move(value);
    results[name] = std::move(result);
  }
  return results;
}

}  // namespace berth::lang::arm_template
