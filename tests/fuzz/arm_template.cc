// SPDX-License-Identifier: Apache-2.0
// Expressions of ARM templates, and whole templates.

#include <boost/json.hpp>

#include "fuzz.h"
#include "lang/arm_template/parameters.h"
#include "lang/arm_template/plan.h"
#include "wire/arm/template_file.h"

using namespace berth;
namespace tmpl = lang::arm_template;
namespace json = boost::json;

namespace {

Result<json::value> anything(const std::string& id, bool) {
  return json::object{{"id", id}, {"list", {1, 2, 3}}};
}

void deploy(const json::object& definition) {
  auto plan = tmpl::make_plan({.definition = definition,
                               .place = {.subscription = "s", .resource_group = "g"},
                               .fresh = {.new_guid = [] { return std::string("new"); }}});
  if (!plan) {
    fuzz::require(!plan.error().message.empty(), "a refusal says why");
    return;
  }
  const auto& resources = (*plan)->resources();
  fuzz::require(resources.size() <= 800, "no plan has more than 800 resources");
  for (std::size_t index = 0; index < resources.size(); ++index) {
    for (const std::size_t other : resources[index].after) {
      fuzz::require(other < index, "what a resource waits for comes before it");
    }
    fuzz::require(resources[index].id.find("/../") == std::string::npos, "no id goes up");
    (void)(*plan)->body_of(resources[index], anything);
  }
  (void)(*plan)->outputs(anything);
}

}  // namespace

FUZZ(input) {
  const Result<json::value> file = wire::arm::value_from_template_file(input);
  if (file && file->is_object()) return deploy(file->get_object());

  const std::string text = "[" + std::string(input) + "]";
  const Result<tmpl::Expression> expression = tmpl::parse_expression(text);
  if (expression) {
    tmpl::for_each_call(*expression, [&](const tmpl::Expression& call) {
      fuzz::require(call.at < text.size(), "a call stands in the text");
    });
  }
  deploy({{"$schema", "deploymentTemplate.json#"},
          {"contentVersion", "1.0.0.0"},
          {"resources", json::array()},
          {"parameters", {{"p", {{"type", "array"}, {"defaultValue", {1, "two", {{"a", 3}}}}}}}},
          {"variables", {{"v", text}}},
          {"outputs", {{"o", {{"type", "string"}, {"value", text}}}}}});
}
