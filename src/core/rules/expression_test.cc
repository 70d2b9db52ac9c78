// SPDX-License-Identifier: Apache-2.0
#include "core/rules/expression.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

model::JobSpec sample_spec() {
  return {.inputs = {{"rows", {}}, {"train.rate", {.type = model::DataType::Literal}}},
          .outputs = {{"model", {}}}};
}

std::string in_brackets(std::string_view path) { return "<" + std::string(path) + ">"; }

Result<std::string> expanded(std::string_view command) {
  return expand(command, sample_spec(), in_brackets);
}

TEST(Expand, ReplacesEveryExpression) {
  EXPECT_EQ(expanded("train --rows ${{inputs.rows}} > ${{ outputs.model }}/log").value(),
            "train --rows <inputs.rows> > <outputs.model>/log");
  EXPECT_EQ(expanded("${{inputs.rows}}${{inputs.train.rate}}").value(),
            "<inputs.rows><inputs.train.rate>");
  EXPECT_EQ(expanded("plain").value(), "plain");
  EXPECT_EQ(expanded("").value(), "");
}

TEST(Expand, LeavesOtherTextAlone) {
  for (const char* text : {"${x} $(( 1 + 1 )) $[[ a ]] ${{ two words }}", "${{unclosed", "a }} b",
                           "[[ -f x ]] && $[[", "$[[ 1 ]] $[[2]]"}) {
    EXPECT_EQ(expanded(text).value(), text);
  }
}

TEST(Expand, DoesNotLookIntoWhatItPutIn) {
  const auto tricky = [](std::string_view) { return std::string("${{inputs.nope}} $[[x]]"); };
  EXPECT_EQ(expand("${{inputs.rows}}", sample_spec(), tricky).value(), "${{inputs.nope}} $[[x]]");
}

TEST(Expand, AnUndefinedNameIsAnErrorThatNamesTheNearest) {
  const auto wrong = expanded("echo ${{inputs.rwos}}");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::InvalidArgument);
  EXPECT_EQ(wrong.error().target, "command");
  EXPECT_EQ(wrong.error().message,
            "'${{inputs.rwos}}' is not defined (did you mean '${{inputs.rows}}'?); there is: "
            "inputs.rows, inputs.train.rate, outputs.model");
}

TEST(Expand, OtherRootsAreUndefined) {
  for (const char* text : {"${{}}", "${{search_space.lr}}", "${{inputs}}", "${{inputs.}}",
                           "${{parent.inputs.rows}}"}) {
    EXPECT_FALSE(expanded(text)) << text;
  }
}

TEST(Expand, AnUndefinedNameInAJobWithoutDataSaysSo) {
  const auto wrong = expand("${{inputs.x}}", {}, in_brackets);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "'${{inputs.x}}' is not defined; the job has no inputs or outputs");
}

TEST(Expand, AGroupStaysWhenItsInputsAreSetAndGoesWhenOneIsNot) {
  EXPECT_EQ(expanded("a $[[--rows ${{inputs.rows}}]] b").value(), "a --rows <inputs.rows> b");
  EXPECT_EQ(expanded("a $[[--more ${{inputs.more}}]] b").value(), "a  b");
  EXPECT_EQ(expanded("$[[${{inputs.more}} ${{inputs.rows}}]]$[[${{inputs.rows}}]]").value(),
            "<inputs.rows>");
  EXPECT_FALSE(expanded("$[[ ${{outputs.more}} ]]"));
}

TEST(References, ListsWhatACommandUses) {
  EXPECT_EQ(references("${{inputs.a}} $[[ ${{inputs.b}} ]] ${{outputs.c}}"),
            (std::vector<std::string_view>{"inputs.a", "inputs.b", "outputs.c"}));
}

}  // namespace
}  // namespace berth::core
