// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/template_file.h"

#include <gtest/gtest.h>

namespace berth::wire::arm {
namespace {

std::string read(std::string_view text) {
  const auto value = value_from_template_file(text);
  return value ? boost::json::serialize(*value) : value.error().message;
}

TEST(TemplateFile, HasComments) {
  EXPECT_EQ(read("// a\n{/* b\n * c */\"x\": 1 // \"y\"\n}\n"), R"({"x":1})");
}

TEST(TemplateFile, KeepsWhatLooksLikeACommentInAText) {
  EXPECT_EQ(read(R"({"x": "http://a/*b*/", "y": "a\"//"})"),
            R"({"x":"http://a/*b*/","y":"a\"//"})");
}

TEST(TemplateFile, HasTextsOfSeveralLines) {
  EXPECT_EQ(read("{\"x\": \"[concat(\r\n\t'a')]\"}"), R"({"x":"[concat(\n\t'a')]"})");
}

TEST(TemplateFile, BeginsWithAByteOrderMarkPerhaps) { EXPECT_EQ(read("\xEF\xBB\xBF[]"), "[]"); }

TEST(TemplateFile, SaysWhereItIsWrong) {
  EXPECT_EQ(read("{\n  // b\n  \"x\": ?\n}").find("line 3, column 8: this is not JSON"), 0u)
      << read("{\n  // b\n  \"x\": ?\n}");
  EXPECT_EQ(read("{}\n{}"), "line 2, column 1: there is more than one value");
  EXPECT_EQ(read("{\"x\": 1"), "line 1, column 8: this is not JSON (incomplete JSON)");
  EXPECT_EQ(read("{ /* x"), "line 1, column 3: the comment that begins here has no end");
}

}  // namespace
}  // namespace berth::wire::arm
