// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/evaluate.h"

#include <gtest/gtest.h>

namespace berth::lang::arm_template {
namespace {

json::value parsed(std::string_view text) { return json::parse(text); }

const json::object& definition() {
  static const json::object kDefinition = parsed(R"({
    "parameters": {
      "name": {"type": "string", "defaultValue": "ada"},
      "sizes": {"type": "array", "defaultValue": [3, 1, 2]},
      "id": {"type": "string", "defaultValue": "[newGuid()]"},
      "day": {"type": "string", "defaultValue": "[utcNow('yyyy-MM-dd')]"},
      "again": {"type": "string", "defaultValue": "[concat(parameters('name'), '!')]"},
      "first": {"type": "string", "defaultValue": "[parameters('second')]"},
      "second": {"type": "string", "defaultValue": "[parameters('first')]"}
    },
    "variables": {
      "greeting": "[concat('hi ', parameters('name'))]",
      "nested": {"a": {"b": [10, {"c": "deep"}]}, "quoted": "[[not evaluated]"},
      "left": "[variables('right')]",
      "right": "[variables('left')]",
      "copy": [{"name": "squares", "count": 4, "input": "[mul(copyIndex('squares'), copyIndex('squares'))]"}]
    },
    "functions": [{"namespace": "own", "members": {
      "twice": {"parameters": [{"name": "x", "type": "string"}],
                "output": {"type": "string", "value": "[concat(parameters('x'), parameters('x'))]"}},
      "nosy": {"parameters": [], "output": {"type": "string", "value": "[parameters('name')]"}}
    }}]
  })")
                                              .get_object();
  return kDefinition;
}

Evaluator evaluator() {
  return Evaluator(
      definition(), {},
      {.subscription = "s", .resource_group = "g", .location = "here", .deployment = "d"},
      {.now = WallTime(std::chrono::seconds(1'795'000'000)),
       .new_guid = [] { return std::string("new"); }});
}

struct Case {
  const char* expression;
  const char* expected;  ///< JSON.
};

const Case kCases[] = {
    // Text
    {"plain", R"("plain")"},
    {"[[left alone]", R"("[left alone]")"},
    {"[a] b", R"("[a] b")"},
    {"['it''s']", R"("it's")"},
    {"[concat('a', 'b', 1, true())]", R"("ab1True")"},
    {"[ concat ( 'a' , 'b' ) ]", R"("ab")"},
    {"[CONCAT('a','b')]", R"("ab")"},
    {"[format('{0}-{1}-{0}', 'a', 7)]", R"("a-7-a")"},
    {"[format('{0:D4}|{0,6}|{0,-6}|{0:X}', 255)]", R"("0255|   255|255   |FF")"},
    {"[format('{0:N0} {{x}}', 1234567)]", R"("1,234,567 {x}")"},
    {"[format('{0:N0}', -123)]", R"("-123")"},
    {"[toLower('AbC')]", R"("abc")"},
    {"[toUpper('AbC')]", R"("ABC")"},
    {"[trim('  a b ')]", R"("a b")"},
    {"[substring('abcdef', 2, 3)]", R"("cde")"},
    {"[substring('abcdef', 2)]", R"("cdef")"},
    {"[substring('äöü', 1, 1)]", R"("ö")"},
    {"[replace('a-b-c', '-', '+')]", R"("a+b+c")"},
    {"[split('a,b;c', createArray(',', ';'))]", R"(["a","b","c"])"},
    {"[split('a,b', ',')]", R"(["a","b"])"},
    {"[split('', ',')]", R"([""])"},
    {"[join(createArray('a', 'b'), '-')]", R"("a-b")"},
    {"[padLeft(7, 3, '0')]", R"("007")"},
    {"[padLeft('abcd', 3)]", R"("abcd")"},
    {"[startsWith('Abc', 'aB')]", "true"},
    {"[endsWith('abC', 'bc')]", "true"},
    {"[indexOf('abcAbc', 'C')]", "2"},
    {"[lastIndexOf('abcabc', 'B')]", "4"},
    {"[indexOf('abc', 'x')]", "-1"},
    {"[string(createObject('a', 1))]", R"("{\"a\":1}")"},
    {"[string(true())]", R"("True")"},
    {"[base64('one')]", R"("b25l")"},
    {"[base64ToString('b25l')]", R"("one")"},
    {"[base64ToJson(base64('{\"a\": [1]}'))]", R"({"a":[1]})"},
    {"[json('{\"a\": null}')]", R"({"a":null})"},
    {"[json('null')]", "null"},
    {"[uri('https://a.b/c/', 'd.json')]", R"("https://a.b/c/d.json")"},
    {"[uri('https://a.b/c/e', 'd.json')]", R"("https://a.b/c/d.json")"},
    {"[uri('https://a.b', 'd')]", R"("https://a.b/d")"},
    {"[uri('https://a.b/c', '/d')]", R"("https://a.b/d")"},
    {"[uriComponent('a b/c')]", R"("a%20b%2Fc")"},
    {"[uriComponentToString('a%20b')]", R"("a b")"},
    {"[length(uniqueString('a', 'b'))]", "13"},
    {"[equals(uniqueString('ab', 'c'), uniqueString('a', 'bc'))]", "false"},
    {"[equals(uniqueString('a'), uniqueString('a'))]", "true"},
    {"[length(guid('a'))]", "36"},
    // Lists and objects
    {"[length('äöü')]", "3"},
    {"[length(createArray(1, 2))]", "2"},
    {"[length(createObject('a', 1))]", "1"},
    {"[empty('')]", "true"},
    {"[empty(createArray())]", "true"},
    {"[empty(null())]", "true"},
    {"[empty('a')]", "false"},
    {"[contains('abc', 'B')]", "false"},
    {"[contains('abc', 'b')]", "true"},
    {"[contains(createArray(1, 2), 2)]", "true"},
    {"[contains(createObject('Key', 1), 'key')]", "true"},
    {"[first('abc')]", R"("a")"},
    {"[first(createArray(1, 2))]", "1"},
    {"[last('abc')]", R"("c")"},
    {"[last(createArray(1, 2))]", "2"},
    {"[take('abc', 2)]", R"("ab")"},
    {"[take(createArray(1, 2, 3), 9)]", "[1,2,3]"},
    {"[skip(createArray(1, 2, 3), 1)]", "[2,3]"},
    {"[skip('abc', 1)]", R"("bc")"},
    {"[range(5, 3)]", "[5,6,7]"},
    {"[min(parameters('sizes'))]", "1"},
    {"[max(4, 9, 2)]", "9"},
    {"[union(createArray(1, 2), createArray(2, 3))]", "[1,2,3]"},
    {"[union(createObject('a', createObject('x', 1)), createObject('a', createObject('y', 2)))]",
     R"({"a":{"x":1,"y":2}})"},
    {"[intersection(createArray(1, 2, 3), createArray(3, 2))]", "[2,3]"},
    {"[intersection(createObject('a', 1, 'b', 2), createObject('a', 1, 'b', 3))]", R"({"a":1})"},
    {"[array('a')]", R"(["a"])"},
    {"[array(createArray(1))]", "[1]"},
    {"[items(createObject('b', 1, 'a', 2))]", R"([{"key":"a","value":2},{"key":"b","value":1}])"},
    {"[objectKeys(createObject('b', 1, 'a', 2))]", R"(["a","b"])"},
    {"[flatten(createArray(createArray(1), createArray(2, 3)))]", "[1,2,3]"},
    {"[shallowMerge(createArray(createObject('a', 1), createObject('a', 2)))]", R"({"a":2})"},
    {"[concat(createArray(1), createArray(2))]", "[1,2]"},
    {"[tryGet(variables('nested'), 'a', 'b', 0)]", "10"},
    {"[tryGet(variables('nested'), 'z', 'b')]", "null"},
    {"[indexOf(createArray('a', 'b'), 'b')]", "1"},
    // Numbers
    {"[add(1, 2)]", "3"},
    {"[sub(1, 2)]", "-1"},
    {"[mul(-3, 4)]", "-12"},
    {"[div(8, 3)]", "2"},
    {"[mod(7, 3)]", "1"},
    {"[int('12')]", "12"},
    {"[float('1.5')]", "1.5E0"},
    {"[mod(-9223372036854775808, -1)]", "0"},
    // True or false
    {"[equals('a', 'A')]", "false"},
    {"[equals(1, 1)]", "true"},
    {"[equals(createObject('a', 1), createObject('a', 1))]", "true"},
    {"[less(1, 2)]", "true"},
    {"[lessOrEquals('a', 'a')]", "true"},
    {"[greater('b', 'a')]", "true"},
    {"[greaterOrEquals(1, 2)]", "false"},
    {"[and(true(), true(), false())]", "false"},
    {"[or(false(), true())]", "true"},
    {"[not(false())]", "true"},
    {"[xor(true(), true())]", "false"},
    {"[bool('True')]", "true"},
    {"[bool(0)]", "false"},
    {"[coalesce(null(), 'x', 'y')]", R"("x")"},
    {"[if(true(), 'yes', div(1, 0))]", R"("yes")"},
    {"[if(equals(1, 2), div(1, 0), 'no')]", R"("no")"},
    // Times
    {"[dateTimeAdd('2026-11-18T03:15:00Z', 'PT1H')]", R"("2026-11-18 04:15:00Z")"},
    {"[dateTimeAdd('2026-01-31T00:00:00Z', 'P1M', 'yyyy-MM-dd')]", R"("2026-02-28")"},
    {"[dateTimeAdd('2026-11-18 00:00:00Z', '-P1Y', 'u')]", R"("2025-11-18 00:00:00Z")"},
    {"[dateTimeToEpoch('1970-01-02T00:00:00Z')]", "86400"},
    {"[dateTimeFromEpoch(86400)]", R"("1970-01-02T00:00:00Z")"},
    // Resources and the place
    {"[resourceId('Microsoft.X/a', 'n')]",
     R"("/subscriptions/s/resourceGroups/g/providers/Microsoft.X/a/n")"},
    {"[resourceId('Microsoft.X/a/b', 'n', 'm')]",
     R"("/subscriptions/s/resourceGroups/g/providers/Microsoft.X/a/n/b/m")"},
    {"[resourceId('other', 'Microsoft.X/a', 'n')]",
     R"("/subscriptions/s/resourceGroups/other/providers/Microsoft.X/a/n")"},
    {"[resourceId('sub', 'other', 'Microsoft.X/a', 'n')]",
     R"("/subscriptions/sub/resourceGroups/other/providers/Microsoft.X/a/n")"},
    {"[subscriptionResourceId('Microsoft.X/a', 'n')]",
     R"("/subscriptions/s/providers/Microsoft.X/a/n")"},
    {"[tenantResourceId('Microsoft.X/a', 'n')]", R"("/providers/Microsoft.X/a/n")"},
    {"[extensionResourceId('/x', 'Microsoft.Y/l', 'n')]", R"("/x/providers/Microsoft.Y/l/n")"},
    {"[resourceGroup().location]", R"("here")"},
    {"[resourceGroup().name]", R"("g")"},
    {"[subscription().subscriptionId]", R"("s")"},
    {"[deployment().name]", R"("d")"},
    // Parameters, variables, members
    {"[parameters('NAME')]", R"("ada")"},
    {"[parameters('again')]", R"("ada!")"},
    {"[parameters('id')]", R"("new")"},
    {"[parameters('day')]", R"("2026-11-18")"},
    {"[variables('greeting')]", R"("hi ada")"},
    {"[variables('squares')]", "[0,1,4,9]"},
    {"[variables('nested').a.b[1].c]", R"("deep")"},
    {"[variables('nested')['a']['b'][0]]", "10"},
    {"[variables('nested').A.B[0]]", "10"},
    {"[variables('nested').quoted]", R"("[not evaluated]")"},
    {"[variables('nested').?missing.?more]", "null"},
    {"[own.twice('ab')]", R"("abab")"},
};

TEST(Expressions, ComeToWhatTheLanguageSays) {
  int count = 0;
  for (const Case& each : kCases) {
    const Result<json::value> value = evaluator().evaluate(json::string(each.expression), {}, "x");
    ASSERT_TRUE(value) << each.expression << ": " << value.error().message;
    EXPECT_EQ(json::serialize(*value), json::serialize(parsed(each.expected))) << each.expression;
    ++count;
  }
  std::printf("expressions: %d of %zu as expected\n", count, std::size(kCases));
}

const Case kWrong[] = {
    {"[concat('a']", "expected ',' or ')' at character 12"},
    {"[concat('a)]", "the text that begins here has no end at character 9"},
    {"[concat]", "'concat' is followed by no '('"},
    {"[]", "the expression ends too early"},
    {"['a' 'b']", "more than one expression"},
    {"[1.5]", "expected a name"},
    {"[99999999999999999999]", "not a whole number of 64 bits"},
    {"[concatenate('a')]", "unknown function 'concatenate' at character 2"},
    {"[lenght('a')]", "did you mean 'length'?"},
    {"[listKeys('a')]", "unknown function 'listKeys'"},
    {"[length()]", "length takes 1 arguments, not 0"},
    {"[if(true(), 1)]", "if takes 3 arguments, not 2"},
    {"[if('true', 1, 2)]", "must be true or false, not text"},
    {"[add('1', 2)]", "add: argument 1 must be a whole number, not text"},
    {"[div(1, 0)]", "div: the result is no whole number"},
    {"[add(9223372036854775807, 1)]", "the result is no whole number of 64 bits"},
    {"[div(-9223372036854775808, -1)]", "the result is no whole number"},
    {"[substring('abc', 1, 5)]", "the text has 2 characters behind the first 1, not 5"},
    {"[parameters('nobody')]", "no parameter 'nobody'"},
    {"[parameters('first')]", "depends on itself"},
    {"[variables('left')]", "depends on itself"},
    {"[variables('nobody')]", "no variable 'nobody'"},
    {"[variables('nested').zzz]", "there is no member 'zzz'"},
    {"[parameters('sizes')[3]]", "there is no element '3'"},
    {"[parameters('sizes')[-1]]", "there is no element '-1'"},
    {"[parameters('name').x]", "text has no members"},
    {"[newGuid()]", "may stand only in the default of a parameter"},
    {"[utcNow()]", "may stand only in the default of a parameter"},
    {"[reference('x')]", "reference may stand only in"},
    {"[copyIndex()]", "there is no copy ''"},
    {"[range(0, 10001)]", "the count is from 0 to 10000"},
    {"[format('{1}', 'a')]", "there is no value for {1}"},
    {"[format('{0:C}', 1)]", "is not one of"},
    {"[json('{')]", "the text is not JSON"},
    {"[base64ToString('!')]", "the text is not base64"},
    {"[resourceId('workspaces', 'n')]", "takes a type"},
    {"[resourceId('Microsoft.X/a/b', 'n')]", "has 2 names, not 1"},
    {"[dateTimeAdd('noon', 'P1D')]", "argument 1 is no time"},
    {"[dateTimeAdd('2026-01-01T00:00:00Z', 'tomorrow')]", "the duration is not written as"},
    {"[own.nosy()]", "knows only its own parameters"},
    {"[own.twice()]", "takes 1 arguments, not 0"},
    {"[padLeft('a', 99999999)]", "the length is from 0 to 10000"},
};

TEST(Expressions, ThatAreWrongSayWhatAndWhere) {
  for (const Case& each : kWrong) {
    const Result<json::value> value =
        evaluator().evaluate(json::string(each.expression), {}, "here");
    ASSERT_FALSE(value) << each.expression << " came to " << json::serialize(*value);
    EXPECT_NE(value.error().message.find(each.expected), std::string::npos)
        << each.expression << ": " << value.error().message;
    EXPECT_FALSE(value.error().target.empty());
  }
}

TEST(Expressions, AreCheckedWithoutBeingEvaluated) {
  const json::value template_part = parsed(R"({"a": ["[concat('x')]", {"b": "[nonsense(1)]"}]})");

  const Status checked = check_expressions(template_part, definition(), "resources");

  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().target, "resources.a[1].b");
  EXPECT_NE(checked.error().message.find("unknown function 'nonsense'"), std::string::npos);
}

TEST(Expressions, InACopyOfAPropertyKnowItsIndexAndThatOfTheResource) {
  const json::value value = parsed(
      R"({"copy": [{"name": "disks", "count": 2, "input": "[concat(copyIndex(), '-', copyIndex('disks', 1))]"}]})");

  const auto result = evaluator().evaluate(value, {.loops = {{.name = "r", .index = 7}}}, "x");

  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(json::serialize(*result), R"({"disks":["7-1","7-2"]})");
}

TEST(Expressions, ThatReferToResourcesStayAsTheyAreUntilTheseAreThere) {
  std::set<std::string> references;
  const json::value value =
      parsed(R"({"a": "[reference(concat('w', 's')).id]", "b": "[toLower('B')]"})");

  const auto planned = evaluator().evaluate(value, {.references = &references}, "x");
  const Refer refer = [](const std::string& id, bool is_full) -> Result<json::value> {
    return json::object{{"id", id + (is_full ? " whole" : "")}};
  };
  const auto made = evaluator().evaluate(value, {.refer = &refer}, "x");

  ASSERT_TRUE(planned && made);
  EXPECT_EQ(planned->at("a"), "[reference(concat('w', 's')).id]");
  EXPECT_EQ(planned->at("b"), "b");
  EXPECT_EQ(references, std::set<std::string>{"ws"});
  EXPECT_EQ(made->at("a"), "ws");
}

// ---- Hostile ones ------------------------------------------------------------------------------

std::string doubling(int levels) {
  json::object variables = {{"v0", std::string(1000, 'x')}};
  for (int level = 1; level <= levels; ++level) {
    variables[fmt::format("v{}", level)] =
        fmt::format("[concat(variables('v{0}'), variables('v{0}'))]", level - 1);
  }
  return json::serialize(json::object{{"variables", variables}});
}

Result<json::value> variable_of(const std::string& definition_text, std::string_view name) {
  const json::value definition_value = parsed(definition_text);
  Evaluator hostile(definition_value.get_object(), {}, {}, {});
  return hostile.variable(name);
}

TEST(HostileTemplates, ThatDoubleATextAreRefused) {
  const auto value = variable_of(doubling(60), "v60");

  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::TooLarge);
}

TEST(HostileTemplates, ThatDoubleAListAreRefused) {
  json::object variables = {{"v0", json::array{1, 2, 3}}};
  for (int level = 1; level <= 60; ++level) {
    variables[fmt::format("v{}", level)] =
        fmt::format("[createArray(variables('v{0}'), variables('v{0}'))]", level - 1);
  }

  const auto value = variable_of(json::serialize(json::object{{"variables", variables}}), "v60");

  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::TooLarge);
}

TEST(HostileTemplates, WithCopiesInCopiesAreRefused) {
  const std::string text = R"({"variables": {"v": {"copy": [{"name": "a", "count": 800, "input": {
      "copy": [{"name": "b", "count": 800, "input": {
      "copy": [{"name": "c", "count": 800, "input": "[copyIndex('c')]"}]}}]}}]}}})";

  const auto value = variable_of(text, "v");

  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::TooLarge);
}

TEST(HostileTemplates, WithDeepExpressionsAreRefused) {
  std::string deep = "[";
  for (int level = 0; level < 5000; ++level) deep += "not(";
  deep += "true()" + std::string(5000, ')') + "]";
  std::string chain = "[variables('nested')";
  for (int level = 0; level < 5000; ++level) chain += ".a";
  chain += "]";

  EXPECT_FALSE(evaluator().evaluate(json::string(deep), {}, "x"));
  EXPECT_FALSE(evaluator().evaluate(json::string(chain), {}, "x"));
}

TEST(HostileTemplates, WithALongChainOfVariablesAreRefused) {
  json::object variables = {{"v0", "x"}};
  for (int level = 1; level <= 5000; ++level) {
    variables[fmt::format("v{}", level)] = fmt::format("[variables('v{}')]", level - 1);
  }

  const auto value = variable_of(json::serialize(json::object{{"variables", variables}}), "v5000");

  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::TooLarge);
}

TEST(HostileTemplates, ThatCompareManyElementsAreRefused) {
  const auto value = evaluator().evaluate(
      json::string("[union(range(0, 9999), range(0, 9999), range(0, 9999))]"), {}, "x");

  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("at most 2000 elements"), std::string::npos);
}

}  // namespace
}  // namespace berth::lang::arm_template
