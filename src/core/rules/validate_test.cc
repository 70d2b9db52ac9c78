// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/rules/expression.h"

namespace berth::core {
namespace {

using model::DataMode;
using model::DataType;

const std::vector<ComputeChoice> kTargets = {{.name = "local", .is_one_machine = true},
                                             {.name = "Pool", .max_nodes = 3}};

model::JobSpec valid_spec() {
  return {.work = model::CommandWork{.command = "echo ${{inputs.n}} > ${{outputs.out}}/x"},
          .inputs = {{"n", {.type = DataType::Literal, .value = "5"}}},
          .outputs = {{"out", {}}}};
}

/// The target of the error after the change; "" when the spec is still valid.
template <typename Change>
std::string refused(Change change) {
  model::JobSpec spec = valid_spec();
  change(spec);
  const auto checked = validate(spec, kTargets);
  if (checked) return "";
  EXPECT_FALSE(checked.error().message.empty());
  return checked.error().target;
}

TEST(Validate, TakesAJobThatIsRight) {
  const auto warnings = validate(valid_spec(), kTargets);
  ASSERT_TRUE(warnings) << warnings.error().message;
  EXPECT_TRUE(warnings->empty());
}

TEST(Validate, TheCommandMustSayWhatToDo) {
  EXPECT_EQ(refused([](auto& spec) { command_of(spec).command = " \n"; }), "command");
  EXPECT_EQ(refused([](auto& spec) { command_of(spec).command = std::string("a\0b", 3); }),
            "command");
  EXPECT_EQ(refused([](auto& spec) { command_of(spec).command = std::string(65'537, 'x'); }),
            "command");
  EXPECT_EQ(refused([](auto& spec) { command_of(spec).command = std::string(65'536, 'x'); }), "");
  EXPECT_EQ(refused([](auto& spec) { command_of(spec).command = "${{inputs.m}}"; }), "command");
}

TEST(Validate, NamesAreIdentifiersJoinedByDots) {
  for (const char* name : {"", "1a", "a-b", "a..b", ".a", "a.", "../x", "a b", "a\nb"}) {
    const model::JobInput literal{.type = DataType::Literal};
    EXPECT_EQ(refused([&](auto& spec) { spec.inputs[name] = literal; }), "inputs") << name;
    EXPECT_EQ(refused([&](auto& spec) { spec.outputs[name] = {}; }), "outputs") << name;
  }
  EXPECT_EQ(refused([](auto& spec) { spec.outputs["_group.a1"] = {}; }), "");
}

TEST(Validate, InputsReferToSomethingThatCanBeRead) {
  const auto with_uri = [](const char* uri) {
    return refused([&](auto& spec) { spec.inputs["rows"] = {.uri = uri}; });
  };
  for (const char* uri : {"azureml:rows:1", "azureml:rows@latest", "https://example.org/rows.csv",
                          "azureml://datastores/workspaceblobstore/paths/a/b",
                          "azureml://jobs/j/outputs/o/paths/p"}) {
    EXPECT_EQ(with_uri(uri), "") << uri;
  }
  for (const char* uri : {"", "/etc/passwd", "./rows", "ftp://x",
                          "azureml://datastores/workspaceblobstore/paths/../x"}) {
    EXPECT_EQ(with_uri(uri), "inputs.rows.path") << uri;
  }
}

TEST(Validate, ModesFitTheDirection) {
  EXPECT_EQ(refused([](auto& spec) {
              spec.inputs["rows"] = {.uri = "azureml:rows:1", .mode = DataMode::Upload};
            }),
            "inputs.rows.mode");
  EXPECT_EQ(refused([](auto& spec) { spec.outputs["out"] = {.mode = DataMode::Download}; }),
            "outputs.out.mode");
  EXPECT_EQ(refused([](auto& spec) { spec.outputs["out"] = {.mode = DataMode::Upload}; }), "");
}

TEST(Validate, OutputsGoToDatastores) {
  const auto with_uri = [](const char* uri) {
    return refused([&](auto& spec) { spec.outputs["out"] = {.uri = uri}; });
  };
  EXPECT_EQ(with_uri("azureml://datastores/workspaceblobstore/paths/models/"), "");
  EXPECT_EQ(with_uri("https://example.org/x"), "outputs.out.path");
  EXPECT_EQ(with_uri("azureml:rows:1"), "outputs.out.path");
}

TEST(Validate, ARegisteredOutputHasAProperName) {
  EXPECT_EQ(refused([](auto& spec) { spec.outputs["out"] = {.asset_name = "../m"}; }),
            "outputs.out.name");
  EXPECT_EQ(refused([](auto& spec) { spec.outputs["out"] = {.asset_version = "1"}; }),
            "outputs.out.version");
  EXPECT_EQ(refused([](auto& spec) {
              spec.outputs["out"] = {.asset_name = "m", .asset_version = "1.0"};
            }),
            "");
}

TEST(Validate, LimitsAndResourcesArePositive) {
  using std::chrono::seconds;
  EXPECT_EQ(refused([](auto& spec) { spec.timeout = seconds(0); }), "limits.timeout");
  EXPECT_EQ(refused([](auto& spec) { spec.priority = 4; }), "queue_settings.priority");
  for (const int count : {-1, 0, 2}) {
    EXPECT_EQ(refused([&](auto& spec) { command_of(spec).resources.instance_count = count; }),
              "resources.instance_count");
  }
}

TEST(Validate, EnvironmentVariablesCanBeSet) {
  EXPECT_EQ(refused([](auto& spec) { command_of(spec).environment_variables["A=B"] = "x"; }),
            "environment_variables");
  EXPECT_EQ(refused([](auto& spec) {
              command_of(spec).environment_variables["A"] = std::string(1, '\0');
            }),
            "environment_variables.A");
}

TEST(Validate, AnUnknownComputeListsTheOnesThereAre) {
  model::JobSpec spec = valid_spec();
  spec.compute = "gpu";
  const auto checked = validate(spec, kTargets);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "no compute 'gpu' in this workspace; there is: local, Pool");
  EXPECT_EQ(checked.error().target, "compute");
  for (const char* compute : {"", "local", "serverless"}) {
    EXPECT_EQ(refused([&](auto& changed) { changed.compute = compute; }), "") << compute;
  }
}

TEST(Validate, WarnsOfLiteralsThatAShellWouldReadMoreInto) {
  model::JobSpec spec = valid_spec();
  spec.inputs["n"].value = "5; rm -rf /";
  spec.inputs["unused"] = {.type = DataType::Literal, .value = "$(x)"};
  const auto warnings = validate(spec, kTargets).value();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("$AZURE_ML_INPUT_n"), std::string::npos);
}

TEST(Validate, WarnsOfVariablesThatBerthSetsItself) {
  model::JobSpec spec = valid_spec();
  command_of(spec).environment_variables = {{"AZUREML_RUN_ID", "x"}, {"MY_FLAG", "y"}};
  EXPECT_EQ(validate(spec, kTargets)->size(), 1u);
}

TEST(ReservedVariables, AreTheOnesBerthSets) {
  for (const char* name : {"AZUREML_RUN_ID", "AZURE_ML_INPUT_rows", "BERTH_ATTEMPT",
                           "AZUREML_ARM_SUBSCRIPTION", "MLFLOW_TRACKING_URI"}) {
    EXPECT_TRUE(is_reserved_variable(name)) << name;
  }
  for (const char* name : {"PATH", "AZUREML_DATASET_HTTP_RETRY_COUNT", "RUN_ID", ""}) {
    EXPECT_FALSE(is_reserved_variable(name)) << name;
  }
}

TEST(Validate, ADistributionIsChecked) {
  const boost::json::value none = {{"distributionType", "PyTorch"}, {"processCountPerInstance", 0}};
  EXPECT_EQ(refused([&](auto& spec) { command_of(spec).distribution = none; }),
            "distribution.process_count_per_instance");
  const boost::json::value two = {{"distributionType", "Mpi"}, {"processCountPerInstance", 2}};
  EXPECT_EQ(refused([&](auto& spec) { command_of(spec).distribution = two; }), "");
}

}  // namespace
}  // namespace berth::core
