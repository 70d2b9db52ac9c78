// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/plan.h"

#include <gtest/gtest.h>

#include "lang/arm_template/parameters.h"

namespace berth::lang::arm_template {
namespace {

constexpr std::string_view kWorkspaces = "Microsoft.MachineLearningServices/workspaces";

json::object with_head(std::string_view rest) {
  json::object whole = json::parse(rest).get_object();
  whole["$schema"] =
      "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#";
  whole["contentVersion"] = "1.0.0.0";
  return whole;
}

Result<std::unique_ptr<Plan>> plan_of(std::string_view rest, json::object given = {}) {
  const json::object definition = with_head(rest);
  json::object wrapped;
  for (const auto& [name, value] : given) wrapped[name] = json::object{{"value", value}};
  Result<json::object> values = given_values(definition, wrapped);
  if (!values) return fail(values.error());
  return make_plan({.definition = definition,
                    .given = *values,
                    .place = {.subscription = "s", .resource_group = "g", .deployment = "d"},
                    .fresh = {.new_guid = [] { return std::string("new"); }}});
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedResource& each : plan.resources()) names.push_back(each.name);
  return names;
}

Result<json::value> no_reference(const std::string& id, bool) {
  return fail(Code::NotFound, "no " + id);
}

std::string workspace(const std::string& name, const std::string& more = "") {
  return fmt::format(R"({{"type": "{}", "apiVersion": "2024-04-01", "name": "{}"{}}})", kWorkspaces,
                     name, more);
}

std::string compute(const std::string& name, const std::string& more = "") {
  return fmt::format(R"({{"type": "{}/computes", "apiVersion": "2024-04-01", "name": "{}"{}}})",
                     kWorkspaces, name, more);
}

std::string resources(const std::vector<std::string>& all) {
  return fmt::format(R"({{"resources": [{}]}})", fmt::join(all, ","));
}

std::string target_of(std::string_view text, json::object given = {}) {
  const auto plan = plan_of(text, std::move(given));
  return plan ? "planned" : plan.error().target;
}
std::string message_of(std::string_view text, json::object given = {}) {
  const auto plan = plan_of(text, std::move(given));
  return plan ? "planned" : plan.error().message;
}

TEST(Plan, PutsParentsBeforeTheirChildrenWhateverTheOrderInTheTemplate) {
  const auto plan = plan_of(resources({compute("w/cpu"), workspace("w")}));

  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_of(**plan), (std::vector<std::string>{"w", "w/cpu"}));
  EXPECT_EQ((*plan)->resources()[1].after, std::vector<std::size_t>{0});
  EXPECT_EQ((*plan)->resources()[1].id,
            "/subscriptions/s/resourceGroups/g/providers/"
            "Microsoft.MachineLearningServices/workspaces/w/computes/cpu");
}

TEST(Plan, FollowsDependsOnByNameIdTypeAndCopy) {
  for (const std::string on :
       {"w2", "[resourceId('Microsoft.MachineLearningServices/workspaces', 'w2')]",
        "Microsoft.MachineLearningServices/workspaces/w2", "loop"}) {
    const auto plan =
        plan_of(resources({workspace("w1", fmt::format(R"(, "dependsOn": ["{}"])", on)),
                           workspace("[concat('w', add(copyIndex(), 2))]",
                                     R"(, "copy": {"name": "loop", "count": 1})")}));

    ASSERT_TRUE(plan) << on << plan.error().message;
    EXPECT_EQ(names_of(**plan), (std::vector<std::string>{"w2", "w1"})) << on;
  }
}

TEST(Plan, WaitsForWhatPropertiesReferTo) {
  const auto plan = plan_of(resources(
      {workspace("w1", R"(, "properties": {"description": "[reference('w2').workspaceId]"})"),
       workspace("w2")}));

  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_of(**plan), (std::vector<std::string>{"w2", "w1"}));
  const auto body = (*plan)->body_of(
      (*plan)->resources()[1], [](const std::string& id, bool) -> Result<json::value> {
        return json::object{{"workspaceId", "of " + id.substr(id.rfind('/') + 1)}};
      });
  EXPECT_EQ(json::serialize(*body), R"({"properties":{"description":"of w2"}})");
}

TEST(Plan, NamesTheResourcesThatWaitForEachOther) {
  const std::string text = resources({workspace("a", R"(, "dependsOn": ["c"])"),
                                      workspace("b", R"(, "dependsOn": ["a"])"),
                                      workspace("c", R"(, "dependsOn": ["b"])"), workspace("d")});

  EXPECT_EQ(message_of(text), "these wait for each other: 'a' → 'c' → 'b' → 'a'");
}

TEST(Plan, GivesChildrenTheNameAndTypeOfTheirParent) {
  const auto plan = plan_of(resources(
      {workspace("w", R"(, "resources": [{"type": "data", "apiVersion": "x", "name": "rows",
             "resources": [{"type": "versions", "apiVersion": "x", "name": "1",
                            "properties": {"dataUri": "[concat('azureml://', parameters('p'))]"}}]}]}], "parameters":
             {"p": {"type": "string", "defaultValue": "q"}}, "x": [{"a": 1)")}));

  ASSERT_TRUE(plan) << plan.error().message << plan.error().target;
  EXPECT_EQ(names_of(**plan), (std::vector<std::string>{"w", "w/rows", "w/rows/1"}));
  EXPECT_EQ((*plan)->resources()[2].type, std::string(kWorkspaces) + "/data/versions");
  const auto body = (*plan)->body_of((*plan)->resources()[2], no_reference);
  EXPECT_EQ(json::serialize(*body), R"({"properties":{"dataUri":"azureml://q"}})");
}

TEST(Plan, WritesCopiesOut) {
  const auto plan = plan_of(resources(
      {workspace("w"),
       compute(
           "[format('w/c{0}', copyIndex(1))]",
           R"(, "copy": {"name": "cs", "count": 3, "mode": "Serial", "batchSize": 1}, "location": "[string(copyIndex())]")")}));

  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_of(**plan), (std::vector<std::string>{"w", "w/c1", "w/c2", "w/c3"}));
  EXPECT_EQ(json::serialize(*(*plan)->body_of((*plan)->resources()[3], no_reference)),
            R"({"location":"2"})");
}

TEST(Plan, LeavesOutWhatItsConditionExcludesAndNothingWaitsForIt) {
  const auto plan = plan_of(
      resources({R"({"type": "Microsoft.Network/virtualNetworks", "apiVersion": "x", "name": "v",
                     "condition": "[equals(1, 2)]"})",
                 workspace("w", R"(, "dependsOn": ["v"])")}));

  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_of(**plan), std::vector<std::string>{"w"});
}

TEST(Plan, RefusesTypesThatBerthCannotMakeByName) {
  const std::string text = resources(
      {workspace("w"),
       R"({"type": "Microsoft.Network/virtualNetworks", "apiVersion": "x", "name": "v"})"});

  EXPECT_NE(message_of(text).find("cannot make a 'Microsoft.Network/virtualNetworks'"),
            std::string::npos);
  EXPECT_EQ(target_of(text), "resources[1].type");
}

TEST(Plan, KnowsWhatAzureNeedsBesideAWorkspace) {
  const auto plan = plan_of(resources(
      {R"({"type": "microsoft.storage/storageAccounts", "apiVersion": "x", "name": "st"})"}));

  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ((*plan)->resources()[0].treatment, Treatment::Satisfied);
  EXPECT_EQ((*plan)->resources()[0].type, "Microsoft.Storage/storageAccounts");
}

TEST(Plan, RefusesWhatIsWrongWithTheTemplate) {
  struct Wrong {
    std::string text;
    std::string target;
  };
  const Wrong all[] = {
      {R"({"resources": {}, "parameters": []})", "parameters"},
      {R"({"resources": [1]})", "resources[0]"},
      {R"({"resources": [{"type": "a/b", "name": "n"}]})", "resources[0].apiVersion"},
      {resources({workspace("a b")}), "resources[0].name"},
      {resources({workspace("a/b")}), "resources[0].name"},
      {resources({workspace("..")}), "resources[0].name"},
      {resources({workspace("w"), workspace("W")}), "resources[1].name"},
      {resources({workspace("w", R"(, "dependsOn": ["x"])")}), "resources[0].dependsOn"},
      {resources({workspace("w", R"(, "copy": {"name": "c"})")}), "resources[0].copy"},
      {resources({workspace("w", R"(, "copy": {"name": "c", "count": 801})")}),
       "resources[0].copy.count"},
      {resources({workspace("w", R"(, "copy": {"name": "c", "count": -1})")}),
       "resources[0].copy.count"},
      {resources({workspace("w", R"(, "condition": "yes")")}), "resources[0].condition"},
      {resources({workspace("w", R"(, "properties": {"a": "[nope()]"})")}),
       "resources[0].properties.a"},
      {resources({workspace("[reference('x').y]")}), "resources[0].name"},
      {R"({"resources": [], "outputs": {"o": {"type": "string"}}})", "outputs.o"},
      {R"({"resources": [], "outputs": {"o": {"type": "string", "value": "[nope()]"}}})",
       "outputs.o.value"},
      {R"({"resources": [], "parameters": {"p": {"type": "text", "defaultValue": "x"}}})",
       "parameters.p.type"},
      {R"({"resources": [], "parameters": {"p": {"type": "string"}}})", "parameters.p"},
      {R"({"resources": [], "variables": {"v": "[variables('v')]"}})", "variables.v"},
  };
  for (const Wrong& each : all) EXPECT_EQ(target_of(each.text), each.target) << each.text;
}

TEST(Plan, RefusesMoreThan800Resources) {
  const std::string text = resources(
      {workspace("[format('a{0}', copyIndex())]", R"(, "copy": {"name": "c", "count": 500})"),
       workspace("[format('b{0}', copyIndex())]", R"(, "copy": {"name": "d", "count": 500})")});

  EXPECT_EQ(message_of(text), "there are more than 800");
}

TEST(Plan, RefusesOtherSchemas) {
  json::object definition = with_head(R"({"resources": []})");
  definition["$schema"] = "https://x/subscriptionDeploymentTemplate.json#";

  const auto plan = make_plan({.definition = definition});

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().target, "$schema");
}

// ---- Parameters --------------------------------------------------------------------------------

constexpr std::string_view kWithParameters = R"({"resources": [], "parameters": {
  "size": {"type": "string", "defaultValue": "small", "allowedValues": ["small", "large"]},
  "count": {"type": "int", "defaultValue": 2, "minValue": 1, "maxValue": 4},
  "tag": {"type": "string", "defaultValue": "abc", "minLength": 2, "maxLength": 4},
  "key": {"type": "secureString", "defaultValue": "open", "minLength": 3},
  "list": {"type": "array", "defaultValue": [], "maxLength": 2}
}})";

TEST(Parameters, AreSettledFromWhatIsGivenAndDefaults) {
  const auto plan = plan_of(kWithParameters, {{"SIZE", "large"}, {"count", 3}});

  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ((*plan)->parameters()[0].value, "large");
  EXPECT_EQ((*plan)->parameters()[1].value, 3);
  EXPECT_EQ((*plan)->parameters()[2].value, "abc");
  EXPECT_TRUE((*plan)->parameters()[3].is_secure);
}

TEST(Parameters, ThatDoNotFitAreRefusedByName) {
  struct Wrong {
    json::object given;
    std::string target;
    std::string message;
  };
  const Wrong all[] = {
      {{{"size", "huge"}}, "parameters.size", R"(the value is not one of ["small","large"])"},
      {{{"size", 7}}, "parameters.size", "must be of type string, but is a whole number"},
      {{{"count", "3"}}, "parameters.count", "must be of type int, but is text"},
      {{{"count", 0}}, "parameters.count", "the value is not what it must be: at least 1"},
      {{{"count", 5}}, "parameters.count", "the value is not what it must be: at most 4"},
      {{{"tag", "a"}}, "parameters.tag", "its length is 1, but must be at least 2"},
      {{{"tag", "abcde"}}, "parameters.tag", "its length is 5, but must be at most 4"},
      {{{"list", {1, 2, 3}}}, "parameters.list", "its length is 3, but must be at most 2"},
      {{{"nobody", 1}}, "parameters.nobody", "the template has no parameter 'nobody'"},
  };
  for (const Wrong& each : all) {
    EXPECT_EQ(target_of(kWithParameters, each.given), each.target);
    EXPECT_EQ(message_of(kWithParameters, each.given), each.message);
  }
}

TEST(Parameters, ThatAreSecureAreNotRepeatedInErrors) {
  EXPECT_EQ(message_of(kWithParameters, {{"key", "xy"}}).find("xy"), std::string::npos);
}

// ---- Outputs -----------------------------------------------------------------------------------

TEST(Outputs, HaveTypesAndValuesButNoSecrets) {
  const auto plan = plan_of(
      R"({"resources": [], "parameters": {"k": {"type": "secureString", "defaultValue": "s3cret"}},
    "outputs": {
      "a": {"type": "string", "value": "[toUpper('x')]"},
      "secret": {"type": "secureString", "value": "[parameters('k')]"},
      "many": {"type": "array", "copy": {"count": 3, "input": "[mul(2, copyIndex())]"}},
      "not": {"condition": "[false()]", "type": "string", "value": "x"}
    }})");

  ASSERT_TRUE(plan) << plan.error().message;
  const auto outputs = (*plan)->outputs(no_reference);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(json::serialize(*outputs),
            R"({"a":{"type":"string","value":"X"},"secret":{"type":"secureString"},)"
            R"("many":{"type":"array","value":[0,2,4]}})");
}

TEST(Outputs, OfAnotherTypeThanDeclaredAreErrors) {
  const auto plan =
      plan_of(R"({"resources": [], "outputs": {"a": {"type": "int", "value": "x"}}})");

  ASSERT_TRUE(plan);
  const auto outputs = (*plan)->outputs(no_reference);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().target, "outputs.a");
}

}  // namespace
}  // namespace berth::lang::arm_template
