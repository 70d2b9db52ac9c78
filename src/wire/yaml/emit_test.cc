// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "wire/yaml/asset.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

/// What a reader of the written text sees.
json::value read_back(const json::value& value) {
  const std::string text = to_yaml_text(value);
  const Result<Node> node = parse(text, "out.yml");
  if (node) return to_json(*node);
  ADD_FAILURE() << node.error().message << "\n" << text;
  return nullptr;
}

TEST(YamlText, IsBlockStyleInTheOrderOfTheKeys) {
  const json::value value = {
      {"name", "train"}, {"tags", {{"k", "v"}}},    {"list", {1, {{"a", 1}, {"b", {2, 3}}}}},
      {"none", nullptr}, {"empty", json::object()}, {"nothing", json::array()}};

  EXPECT_EQ(to_yaml_text(value),
            "name: train\ntags:\n  k: v\nlist:\n- 1\n- a: 1\n  b:\n  - 2\n  - 3\nnone: null\n"
            "empty: {}\nnothing: []\n");
}

TEST(YamlText, QuotesWhateverWouldBeReadAsSomethingElse) {
  EXPECT_EQ(to_yaml_text("1.0"), "\"1.0\"\n");
  EXPECT_EQ(to_yaml_text("true"), "\"true\"\n");
  EXPECT_EQ(to_yaml_text("plain text"), "plain text\n");
  EXPECT_EQ(to_yaml_text("azureml:env:1"), "azureml:env:1\n");
}

TEST(YamlText, EveryTextIsReadBackAsItself) {
  for (const std::string text :
       {"",        " ",          "a ",          " a",       "1",     "1.5e3",
        "0x1f",    "-1",         "+.5",         "true",     "No",    "null",
        "~",       "2026-11-16", "12:30",       "- a",      "-",     "a: b",
        "a:",      ":a",         "a #b",        "#a",       "[a",    "{a",
        "*a",      "&a",         "!a",          "|",        ">",     "'a'",
        "\"a\"",   "%a",         "@a",          "`a",       "a\\b",  "a\tb",
        "a\nb",    "a\nb\n",     "a\n\n",       "\na",      " a\nb", "a\n b\n",
        "a\r\nb",  "\x01",       "\x7f",        "---",      "...",   "<<",
        "=",       "a,b",        "?",           "? a",      "grüße", "\u2028x",
        "\ufeffx", "\u0085",     "a\n---\nb\n", "a\n...\n", "... x", "echo 'x' \"y\"",
        "\n",      "\n\n",       "a\n  \nb",    "a\n \n"}) {
    EXPECT_EQ(read_back(json::value(text)), json::value(text)) << to_yaml_text(json::value(text));
    const json::value nested = {{"k", {{text.empty() ? "e" : text, text}}}, {"l", {text, text}}};
    EXPECT_EQ(read_back(nested), nested) << to_yaml_text(nested);
  }
}

TEST(YamlText, OtherValuesKeepTheirType) {
  const json::value value = {{"i", -5},
                             {"d", 0.25},
                             {"b", false},
                             {"n", nullptr},
                             {"deep", {{{{"a", json::array{json::array{1}}}}}}}};
  EXPECT_EQ(read_back(value), value);
}

TEST(YamlText, SeveralLinesBecomeALiteralBlock) {
  EXPECT_EQ(to_yaml_text({{"command", "a\nb\n"}}), "command: |\n  a\n  b\n");
  EXPECT_EQ(to_yaml_text({{"command", "a\nb"}}), "command: |-\n  a\n  b\n");
}

TEST(YamlText, ANodeKeepsItsPlainNumbersAsWritten) {
  const Node node = *parse("python: 3.10\nquoted: '3.10'\ndeps: [a=1, {pip: [b]}]\nx: yes\n", "c");

  EXPECT_EQ(to_yaml_text(node),
            "python: 3.10\nquoted: \"3.10\"\ndeps:\n- a=1\n- pip:\n  - b\nx: yes\n");
}

TEST(KeyCase, GoesBothWays) {
  EXPECT_EQ(to_camel_case("process_count_per_instance"), "processCountPerInstance");
  EXPECT_EQ(to_snake_case("processCountPerInstance"), "process_count_per_instance");
  EXPECT_EQ(with_camel_keys({{"a_b", {{{"c_d", "e_f"}}}}}),
            (json::value{{"aB", {{{"cD", "e_f"}}}}}));
}

TEST(NodeToJson, TypesPlainScalarsOnly) {
  const Node node = *parse("[1, 1.5, true, '1', .inf, nan, 1e3, 99999999999999999999, ~]", "x");
  EXPECT_EQ(to_json(node), (json::value{1, 1.5, true, "1", ".inf", "nan", 1000.0, 1e20, nullptr}));
}

}  // namespace
}  // namespace berth::wire::yaml
