// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/component.h"

#include <gtest/gtest.h>

namespace berth::wire::yaml {
namespace {

std::string refusal_of(std::string_view text) {
  const Result<Node> root = parse(text, "c.yml");
  if (!root) return root.error().message;
  const auto file = component_from_yaml(*root, ".");
  return file ? "accepted" : file.error().message;
}

constexpr std::string_view kComponent = R"(
$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
name: train
version: 3
display_name: Train it
tags: {team: vision}
inputs:
  rate: {type: number, default: 0.1, min: 0, optional: true}
  rows: {type: uri_file}
outputs:
  model: {type: uri_folder}
command: python train.py --rate ${{inputs.rate}}
environment: azureml:plain:1
)";

TEST(Component, IsReadAsAzuresClientsSendIt) {
  const auto file = component_from_yaml(*parse(kComponent, "c.yml"), ".");

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->asset.name, "train");
  EXPECT_EQ(file->asset.version, "3");
  EXPECT_EQ(file->asset.tags.at("team"), "vision");
  const auto& spec = file->asset.body.at("componentSpec").as_object();
  EXPECT_EQ(spec.at("type"), "command");
  EXPECT_EQ(spec.at("is_deterministic"), true);
  EXPECT_EQ(spec.at("environment"), "azureml:plain:1");
  EXPECT_EQ(spec.at("inputs").at("rate").at("default"), 0.1);
  EXPECT_EQ(spec.at("outputs").at("model").at("type"), "uri_folder");
  EXPECT_FALSE(file->code);
}

TEST(Component, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal_of("name: Train\ncommand: x\n"),
            "c.yml:1:7: 'name' is 'Train'; a component's begins with a small letter, and then has "
            "small letters, digits and '_'");
  EXPECT_EQ(refusal_of("command: x\n"), "c.yml:1:1: a component needs a 'name'");
  EXPECT_EQ(refusal_of("name: a\n"), "c.yml:1:1: a command component needs a 'command'");
  EXPECT_EQ(refusal_of("name: a\ncommand: x\ncomand: y\n"),
            "c.yml:3:1: 'comand' is not a key of a command component; did you mean 'command'?");
  EXPECT_EQ(refusal_of("name: a\ncommand: x\ninputs: {r: {type: nmber}}\n"),
            "c.yml:3:20: 'type' is 'nmber'; did you mean 'number'?");
  EXPECT_EQ(refusal_of("name: a\ntype: pipeline\njobs: {}\n"),
            "c.yml:2:7: 'pipeline' components are not supported yet");
  EXPECT_EQ(refusal_of("name: a\ntype: cmd\n"),
            "c.yml:2:7: 'cmd' is not a type of component; use 'command'");
  EXPECT_NE(refusal_of("name: a\ncommand: x\ncode: ./nowhere\n").find("there is no"),
            std::string::npos);
}

}  // namespace
}  // namespace berth::wire::yaml
