// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/template_parameters.h"

#include <gtest/gtest.h>

#include "cli/testing_folder.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

class TemplateParameters : public testing::Test {
 protected:
  std::string read(const std::vector<std::string>& words) {
    const json::object definition =
        json::parse(R"({"parameters": {"Text": {"type": "string"}, "n": {"type": "int"},
                        "flag": {"type": "bool"}, "key": {"type": "secureString"}}})")
            .get_object();
    const auto parameters = template_parameters({.directory = folder.path()}, definition, words);
    return parameters ? json::serialize(*parameters) : parameters.error().message;
  }

  TestingFolder folder;
};

TEST_F(TemplateParameters, AreOfTheTypeThatTheTemplateDeclares) {
  EXPECT_EQ(read({"text=7", "n=7", "flag=True"}),
            R"({"text":{"value":"7"},"n":{"value":7},"flag":{"value":true}})");
  EXPECT_EQ(read({"text=a=b"}), R"({"text":{"value":"a=b"}})");
}

TEST_F(TemplateParameters, ThatTheTemplateDoesNotKnowAreLeftToTheServer) {
  EXPECT_EQ(read({"other=7"}), R"({"other":{"value":7}})");
  EXPECT_EQ(read({"other=a b"}), R"({"other":{"value":"a b"}})");
}

TEST_F(TemplateParameters, ComeFromFilesWithAndWithoutTheirFrame) {
  folder.write("whole.json", R"({"$schema": "x", "parameters": {"n": {"value": 1}}} // the end)");
  folder.write("bare.json", R"({"n": {"value": 2}})");

  EXPECT_EQ(read({"whole.json"}), R"({"n":{"value":1}})");
  EXPECT_EQ(read({"@whole.json", "bare.json"}), R"({"n":{"value":2}})");
  EXPECT_EQ(read({"bare.json", "n=3"}), R"({"n":{"value":3}})");
  EXPECT_EQ(read({R"({"n": {"value": 4}})"}), R"({"n":{"value":4}})");
}

TEST_F(TemplateParameters, ThatAreWrongSaySoWithoutTheValue) {
  EXPECT_EQ(read({"n=s3cret"}), "the parameter 'n' is of type int, and its value is none");
  EXPECT_NE(read({"@missing.json"}).find("missing.json"), std::string::npos);
  folder.write("broken.json", "{");
  EXPECT_EQ(read({"broken.json"}).find("broken.json: line 1"), 0u);
}

}  // namespace
}  // namespace berth::cli
