// SPDX-License-Identifier: Apache-2.0
#include "model/target_id.h"

#include <gtest/gtest.h>

#include "base/record.h"
#include "model/node.h"

namespace berth::model {
namespace {

TEST(TargetId, IsTheBuiltInComputeByItself) {
  EXPECT_EQ(TargetId(), (TargetId{{.name = "local"}}));
  EXPECT_NE(TargetId(), (TargetId{{.workspace = {"w"}, .name = "local"}}));
}

TEST(TargetId, IsOneTextInARowOfANode) {
  const Node node{.id = {"far-2"}, .target = {{{"w-1"}, "far"}}};
  const std::string row = record::encode_text(node);
  EXPECT_NE(row.find(R"("target":"w-1/far")"), std::string::npos) << row;
  EXPECT_EQ(record::encode(node).at("target").as_string(), "w-1/far");
  EXPECT_EQ(record::decode_text<Node>(row)->target, node.target);
}

TEST(TargetId, IsReadFromRowsOfBefore) {
  const auto target_in = [](const char* row) { return record::decode_text<Node>(row)->target; };
  EXPECT_EQ(target_in(R"({"id":"local","target":"local"})"), TargetId());
  EXPECT_EQ(target_in(R"({"id":"local"})"), TargetId());
  EXPECT_EQ(target_in(R"({"id":"far-2","target":"w-1/far"})"), (TargetId{{{"w-1"}, "far"}}));
  EXPECT_EQ(record::decode_text<Node>(R"({"target":5})").error().target, "target");
}

TEST(TargetId, OfTheBuiltInComputeIsWrittenAsItAlwaysWas) {
  const std::string row = record::encode_text(Node{.id = {"local"}});
  EXPECT_NE(row.find(R"("target":"local")"), std::string::npos) << row;
}

}  // namespace
}  // namespace berth::model
