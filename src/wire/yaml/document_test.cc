// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/document.h"

#include <gtest/gtest.h>

#include <array>

namespace berth::wire::yaml {
namespace {

Node parsed(std::string_view text) {
  Result<Node> node = parse(text, "f.yml");
  if (node) return std::move(*node);
  ADD_FAILURE() << node.error().message;
  return {};
}

std::string refusal_of(std::string_view text) {
  const Result<Node> node = parse(text, "f.yml");
  if (!node) return node.error().message;
  ADD_FAILURE() << "accepted";
  return {};
}

std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Document, ScalarsKeepTheirTextAndWhetherTheyWereQuoted) {
  const Node root = parsed("a: 1.0\nb: '1.0'\nc: ~\nd:\ne: \"\"\nf: |\n  x\n  y\n");

  EXPECT_EQ(root.find("a")->text, "1.0");
  EXPECT_FALSE(root.find("a")->quoted);
  EXPECT_TRUE(root.find("b")->quoted);
  EXPECT_EQ(root.find("c")->kind, Node::Kind::Null);
  EXPECT_EQ(root.find("d")->kind, Node::Kind::Null);
  EXPECT_EQ(root.find("e")->kind, Node::Kind::Scalar);
  EXPECT_EQ(root.find("f")->text, "x\ny\n");
  EXPECT_EQ(root.find("g"), nullptr);
}

TEST(Document, EveryValueAndKeyKnowsItsPlace) {
  const Node root = parsed("a: 1\nlist:\n  - x\n  - {k: v}\n");

  EXPECT_EQ(to_string(root.find("a")->mark), "f.yml:1:4");
  EXPECT_EQ(to_string(root.key_marks[1]), "f.yml:2:1");
  EXPECT_EQ(to_string(root.find("list")->items[0].mark), "f.yml:3:5");
  EXPECT_EQ(to_string(root.find("list")->items[1].find("k")->mark), "f.yml:4:9");
  EXPECT_EQ(to_string(parsed("a: 'x'").find("a")->mark), "f.yml:1:4");
  EXPECT_TRUE(refusal_of("a: *x").starts_with("f.yml:1:4:"));
  EXPECT_EQ(to_string({.file = "--set"}), "--set");
}

TEST(Document, NothingAtAllIsANull) {
  EXPECT_EQ(parsed("").kind, Node::Kind::Null);
  EXPECT_EQ(parsed("# only a comment\n").kind, Node::Kind::Null);
  EXPECT_EQ(parsed("---\n").kind, Node::Kind::Null);
}

TEST(Document, AliasesAndMergeKeysAreResolved) {
  const Node root = parsed(
      "base: &b {x: 1, y: 2}\nother: &o {y: 9, z: 3}\n"
      "one: {<<: *b, x: 5}\nmany: {<<: [*b, *o]}\nsame: *b\n\"<<\": kept\n");

  EXPECT_EQ(root.find("one")->find("x")->text, "5");
  EXPECT_EQ(root.find("one")->find("y")->text, "2");
  EXPECT_EQ(root.find("many")->find("y")->text, "2");
  EXPECT_EQ(root.find("many")->find("z")->text, "3");
  EXPECT_EQ(root.find("same")->find("x")->text, "1");
  EXPECT_EQ(root.find("<<")->text, "kept");
  EXPECT_EQ(root.find("one")->members.size(), root.find("one")->key_marks.size());
}

TEST(Document, AClosingBracketMayStandAtTheLeftEdge) {
  EXPECT_EQ(parsed("a: {\n  b: 1\n}\nc: [\n  2\n]\n").find("a")->find("b")->text, "1");
}

TEST(Document, SyntaxErrorsNameTheirPlace) {
  EXPECT_TRUE(refusal_of("a: [1, 2\nb: 3\n").starts_with("f.yml:"));
  EXPECT_TRUE(refusal_of("a: b: c\n").starts_with("f.yml:1:"));
  EXPECT_TRUE(refusal_of("x: 1\n\ty: 2\n").starts_with("f.yml:1:4"));
  EXPECT_TRUE(refusal_of("a: \"unterminated\n").starts_with("f.yml:"));
}

TEST(Document, AKeyGivenTwiceIsRefusedWithBothPlaces) {
  EXPECT_EQ(refusal_of("a: 1\nb: 2\na: 3\n"), "f.yml:3:1: 'a' is given twice; first at 1:1");
  EXPECT_EQ(refusal_of("{x: {a: 1, 'a': 2}}"), "f.yml:1:12: 'a' is given twice; first at 1:6");
}

TEST(Document, WhatYamlAllowsAndWeDoNotIsRefused) {
  EXPECT_NE(refusal_of("a: !!python/object:os.system x").find("tags"), std::string::npos);
  EXPECT_NE(refusal_of("a: !!str 1").find("tags"), std::string::npos);
  EXPECT_NE(refusal_of("a: !x [1]").find("tags"), std::string::npos);
  EXPECT_NE(refusal_of("a: 1\n---\nb: 2\n").find("second document"), std::string::npos);
  EXPECT_NE(refusal_of("? [a, b]\n: c\n").find("key must be text"), std::string::npos);
  EXPECT_NE(refusal_of("a: *nowhere").find("'*nowhere'"), std::string::npos);
  EXPECT_NE(refusal_of("a: &x [*x]").find("'*x'"), std::string::npos);
  EXPECT_NE(refusal_of("a: {<<: 5}").find("'<<'"), std::string::npos);
  EXPECT_NE(refusal_of(": x").find("key is missing"), std::string::npos);
}

TEST(Document, ATabThatLibfyamlWouldFreeAKeyTwiceForIsRefused) {
  EXPECT_EQ(refusal_of("? a:\t ? a:\t "),
            "f.yml:1:5: a tab after ':' in a file with '? ' keys; use spaces");
  EXPECT_FALSE(parse("x: 1\n? k\n: \t- b\n", "f.yml"));
  EXPECT_EQ(parsed("a:\tb\nc: what? \tyes\n").find("a")->text, "b");
  EXPECT_EQ(parsed("? k\n: v\n").find("k")->text, "v");
}

TEST(Document, FoldedTextKeepsWhatFoldingKeeps) {
  const auto folded = [](std::string_view text) { return parsed(text).find("a")->text; };

  EXPECT_EQ(folded("a: >-\n  python x.py\n  --lr 1\n"), "python x.py --lr 1");
  EXPECT_EQ(folded("a: >-\n  python x.py\n    --lr 1\n    --n 2\n"),
            "python x.py\n  --lr 1\n  --n 2");
  EXPECT_EQ(folded("a: >\n  one\n\n  two\n"), "one\ntwo\n");
  EXPECT_EQ(folded("a: >-\n  one\n\n    two\n"), "one\n\n  two");
}

TEST(Document, FoldedTextThatLibfyamlWouldGarbleIsRefused) {
  EXPECT_NE(refusal_of("a: >-\n b\n\n  c\n  d\n e\n").find("misread"), std::string::npos);
}

TEST(Document, BytesThatAreNotUtf8AreRefusedWithTheirLine) {
  EXPECT_EQ(refusal_of("a: 1\nb: \xff\n"), "f.yml:2:1: this line is not UTF-8");
  EXPECT_EQ(refusal_of(std::string_view("a: 1\nb: \0\n", 10)),
            "f.yml:2:1: this line has a NUL byte in it");
  EXPECT_EQ(refusal_of("a: \"x\\0y\""), "f.yml:1:4: an escape in this text makes it invalid");
  EXPECT_NE(refusal_of("a: \"\\ud800\"").find("invalid UTF8 escape"), std::string::npos);
  EXPECT_FALSE(parse(std::string_view("\xff\xfe"
                                      "a\0:\0 \0"
                                      "1\0",
                                      10),
                     "utf16.yml"));
}

TEST(Document, DeepNestingIsAnErrorAndNotAnOverflow) {
  for (const char* piece : {"[", "{", "{a: ", "- ", "? ", "[{", "[[]", "{a: [", "- - "}) {
    const std::string message = refusal_of(repeat(piece, 100'000));
    EXPECT_TRUE(message.starts_with("f.yml:")) << piece << ": " << message;
  }
  EXPECT_TRUE(parse(repeat("[", 64) + repeat("]", 64), "f.yml"));
  EXPECT_NE(refusal_of(repeat("[", 65) + repeat("]", 65)).find("64 levels"), std::string::npos);
}

TEST(Document, AliasesDoNotHideNesting) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  EXPECT_NE(refusal_of(text).find("64 levels"), std::string::npos);
}

TEST(Document, ABombOfAliasesIsRefusedBeforeItGoesOff) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) text += ", " + before;
    text += "]\n";
  }
  EXPECT_NE(refusal_of(text).find("100000 values"), std::string::npos);
}

TEST(Document, ABombOfLongTextsIsRefusedToo) {
  const std::string text =
      "a: &a " + std::string(1 << 20, 'x') + "\nb: [" + repeat("*a, ", 1000) + "*a]\n";
  EXPECT_NE(refusal_of(text).find("16 MiB"), std::string::npos);
}

TEST(Document, AMergeBombIsRefused) {
  std::string text = "a0: &a0 {" + std::string() + "k: v}\n";
  for (int i = 1; i < 40; ++i) {
    const std::string n = std::to_string(i);
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + n + ": &a" + n + " {x" + n + ": " + before + ", y" + n + ": " + before +
            ", <<: " + before + "}\n";
  }
  EXPECT_FALSE(parse(text, "f.yml"));
}

TEST(Document, ATextThatIsTooLargeIsRefused) {
  const Result<Node> node = parse(std::string((16 << 20) + 1, 'x'), "f.yml");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, Code::TooLarge);
}

TEST(Document, AFileThatIsNotThereIsSaidToBeSo) {
  EXPECT_EQ(load("/nonexistent/f.yml").error().code, Code::InvalidArgument);
  EXPECT_NE(load("/tmp").error().message.find("is a folder"), std::string::npos);
}

TEST(Readers, SayWhatWouldBeRight) {
  const Node root =
      parsed("n: 12\nt: true\nm: {a: 1, b: true, c: }\nl: [1]\nbig: 99999999999999999999\n");

  EXPECT_EQ(*as_integer(*root.find("n"), "n"), 12);
  EXPECT_TRUE(*as_bool(*root.find("t"), "t"));
  EXPECT_EQ(as_text_map(*root.find("m"), "m")->at("b"), "true");
  EXPECT_EQ(as_text_map(*root.find("m"), "m")->at("c"), "");
  EXPECT_EQ(as_integer(*root.find("t"), "t").error().message,
            "f.yml:2:4: 't' must be a whole number, but is the text 'true'");
  EXPECT_FALSE(as_integer(*root.find("big"), "big"));
  EXPECT_FALSE(as_bool(*root.find("n"), "n"));
  EXPECT_EQ(as_text(*root.find("l"), "l").error().message,
            "f.yml:4:4: 'l' must be text, but is a list");
  EXPECT_FALSE(as_text_map(*root.find("l"), "l"));
}

TEST(Readers, AnUnknownKeyDrawsTheNearestKnownOne) {
  constexpr std::array<std::string_view, 2> kKnown = {"command", "code"};
  constexpr std::array<std::string_view, 1> kReadOnly = {"id"};

  EXPECT_TRUE(check_keys(parsed("command: x\nid: y\n"), "a command job", kKnown, kReadOnly));
  EXPECT_EQ(check_keys(parsed("code: x\ncomand: y\n"), "a command job", kKnown).error().message,
            "f.yml:2:1: 'comand' is not a key of a command job; did you mean 'command'?");
  EXPECT_NE(check_keys(parsed("zzzzzzzz: y\n"), "a command job", kKnown)
                .error()
                .message.find("known are command, code"),
            std::string::npos);
}

TEST(Readers, ALongTextIsShortenedInAMessage) {
  const Node node = parsed("[" + std::string(5000, 'x') + "]");
  EXPECT_LT(as_integer(node.items[0], "n").error().message.size(), 200U);
}

}  // namespace
}  // namespace berth::wire::yaml
