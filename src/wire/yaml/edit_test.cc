// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/edit.h"

#include <gtest/gtest.h>

#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

Node parsed(std::string_view text) {
  Result<Node> node = parse(text, "f.yml");
  if (node) return std::move(*node);
  ADD_FAILURE() << node.error().message;
  return {};
}

std::string text_of(const Node& root) { return boost::json::serialize(to_json(root)); }

TEST(Set, ReplacesAndMakesMembers) {
  Node root = parsed("a: {b: 1}\n");

  ASSERT_TRUE(set(root, "a.b=2"));
  ASSERT_TRUE(set(root, "a.c.d=x=y: z"));
  ASSERT_TRUE(set(root, "list=[1, 2]"));
  ASSERT_TRUE(set(root, "quoted=\"7\""));
  ASSERT_TRUE(set(root, "none="));

  EXPECT_EQ(root.find("a")->find("b")->text, "2");
  EXPECT_EQ(root.find("a")->find("c")->find("d")->text, "x=y: z");
  EXPECT_EQ(root.find("list")->items.size(), 2U);
  EXPECT_TRUE(root.find("quoted")->quoted);
  EXPECT_EQ(root.find("none")->kind, Node::Kind::Null);
  EXPECT_EQ(to_string(root.find("a")->find("b")->mark), "--set");
}

TEST(Set, RefusesToStepIntoAText) {
  Node root = parsed("environment: azureml:x\nlist: [1]\n");

  const Status into_text = set(root, "environment.image=y");

  ASSERT_FALSE(into_text);
  EXPECT_EQ(into_text.error().message,
            "--set environment.image=y: 'environment' is the text 'azureml:x', not a mapping");
  EXPECT_FALSE(set(root, "list.0=y"));
  EXPECT_FALSE(set(root, "no-equals"));
  EXPECT_FALSE(set(root, "a..b=1"));
  EXPECT_FALSE(set(root, "=1"));
  EXPECT_FALSE(set(root, "a=[1"));
  EXPECT_FALSE(set(root, "list[=1"));
  EXPECT_FALSE(set(root, "list[]=1"));
}

TEST(Set, ReachesElementsOfLists) {
  Node root = parsed("ports: [{name: web, at: 80}, {name: a.b, at: 81}]\n");

  ASSERT_TRUE(set(root, "ports[0].at=8080"));
  ASSERT_TRUE(set(root, "ports[-1].at=8081"));
  ASSERT_TRUE(set(root, "ports[name=a.b].kind=x=y"));

  EXPECT_EQ(text_of(root), R"({"ports":[{"name":"web","at":8080},)"
                           R"({"name":"a.b","at":8081,"kind":"x=y"}]})");
  EXPECT_EQ(set(root, "ports[2].at=1").error().message,
            "--set ports[2].at=1: 'ports' has 2 elements, and none [2]");
  EXPECT_EQ(set(root, "ports[name=z].at=1").error().message,
            "--set ports[name=z].at=1: 'ports' has no element with name=z");
}

TEST(Set, TakesJsonAndWithForceStringText) {
  Node root = parsed("{}");

  ASSERT_TRUE(set(root, R"(a={"b": [1, true]})"));
  ASSERT_TRUE(set(root, "c=[1]", true));

  EXPECT_EQ(text_of(root), R"({"a":{"b":[1,true]},"c":"[1]"})");
}

TEST(Add, AppendsValuesAndMappings) {
  Node root = parsed("a: {list: [1]}\n");
  const std::vector<std::string> values = {"a.list", "two", "x=1", "y=2", "{z: 3}"};
  const std::vector<std::string> fresh = {"b.list", "1"};

  ASSERT_TRUE(add(root, values));
  ASSERT_TRUE(add(root, fresh));

  EXPECT_EQ(text_of(root),
            R"({"a":{"list":[1,"two",{"x":"1","y":"2"},{"z":3}]},"b":{"list":[1]}})");
  EXPECT_FALSE(add(root, std::vector<std::string>{"a.list"}));
  EXPECT_EQ(add(root, std::vector<std::string>{"a", "1"}).error().message,
            "--add a: it is a mapping, not a list");
}

TEST(Remove, TakesKeysAndElementsAway) {
  Node root = parsed("tags: {a: 1, b: 2}\nlist: [1, 2, 3]\n");

  ASSERT_TRUE(remove(root, std::vector<std::string>{"tags.a"}));
  ASSERT_TRUE(remove(root, std::vector<std::string>{"list", "1"}));
  ASSERT_TRUE(remove(root, std::vector<std::string>{"list[0]"}));

  EXPECT_EQ(text_of(root), R"({"tags":{"b":2},"list":[3]})");
  EXPECT_EQ(remove(root, std::vector<std::string>{"tags.z"}).error().message,
            "--remove tags.z: there is no 'z' in 'tags'");
  EXPECT_EQ(remove(root, std::vector<std::string>{"list", "9"}).error().message,
            "--remove list: it has 1 elements, and none 9");
  EXPECT_EQ(root.key_marks.size(), root.members.size());
}

}  // namespace
}  // namespace berth::wire::yaml
