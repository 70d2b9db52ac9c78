// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/asset.h"

#include <gtest/gtest.h>

#include "wire/arm/resource.h"
#include "wire/yaml/folder_fixture.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

class AssetYaml : public InFolder {};

TEST_F(AssetYaml, DataHasAPlaceHereOrThere) {
  const auto read_data = [&](std::string_view text) {
    return data_from_yaml(*parse(text, "data.yml"), directory_.string());
  };

  const Result<DataFile> local = read_data("name: rows\ntype: uri_file\npath: rows.csv\n");
  const Result<DataFile> remote = read_data("name: rows\nversion: 1.0\npath: https://x/y/\n");

  ASSERT_TRUE(local && remote);
  EXPECT_EQ(local->local->path, path("rows.csv"));
  EXPECT_EQ(local->asset.body.at("dataType").as_string(), "uri_file");
  EXPECT_EQ(remote->asset.version, "1.0");
  EXPECT_EQ(remote->asset.body,
            (json::object{{"dataType", "uri_folder"}, {"dataUri", "https://x/y/"}}));
  EXPECT_FALSE(remote->local);
  EXPECT_EQ(read_data("nam: x\npath: src\n").error().message,
            "data.yml:1:1: 'nam' is not a key of a data asset; did you mean 'name'?");
  for (const char* wrong :
       {"name: x\n", "path: src\n", "name: a/b\npath: src\n", "name: x\npath: no\n",
        "name: x\npath: rows.csv\n", "name: x\npath: src\ntype: uri_file\n",
        "name: x\npath: azureml:y:1\n", "name: x\npath: src\ntype: zip\n",
        "name: x\npath: src\ndatastore: other\n", "[]"}) {
    EXPECT_FALSE(read_data(wrong)) << wrong;
  }
}

TEST_F(AssetYaml, AModelHasAPlaceHereOrThere) {
  const auto read_model = [&](std::string_view text) {
    return model_from_yaml(*parse(text, "model.yml"), directory_.string());
  };

  const Result<ModelFile> local = read_model("name: m\npath: src\nstage: Production\n");
  const Result<ModelFile> remote = read_model(
      "name: m\nversion: 3\ntype: MLflow_model\npath: azureml://jobs/j/outputs/o\n"
      "flavors: {sklearn: {sklearn_version: '1.2'}}\njob_name: ignored\n");

  ASSERT_TRUE(local && remote);
  EXPECT_EQ(local->local->path, path("src"));
  EXPECT_EQ(local->asset.body, (json::object{{"modelType", "custom_model"},
                                             {"flavors", json::object()},
                                             {"stage", "Production"}}));
  EXPECT_EQ(remote->asset.version, "3");
  EXPECT_EQ(remote->asset.body.at("modelType").as_string(), "mlflow_model");
  EXPECT_EQ(remote->asset.body.at("modelUri").as_string(), "azureml://jobs/j/outputs/o");
  EXPECT_EQ(
      remote->asset.body.at("flavors").at_pointer("/sklearn/data/sklearn_version").as_string(),
      "1.2");
  EXPECT_TRUE(read_model("name: m\npath: runs:/r/model\n"));
  for (const char* wrong :
       {"name: x\n", "path: src\n", "name: a/b\npath: src\n", "name: x\npath: no\n",
        "name: x\npath: azureml:y:1\n", "name: x\npath: src\ntype: onnx\n",
        "name: x\npath: src\nflavors: [a]\n", "name: x\npath: src\nflavors: {a: b}\n", "[]"}) {
    EXPECT_FALSE(read_model(wrong)) << wrong;
  }
}

TEST_F(AssetYaml, AModelIsShownAsItsFileIsWritten) {
  const json::object resource = {
      {"id", "/subscriptions/s/resourceGroups/g/providers/p/workspaces/w/models/m/versions/2"},
      {"properties",
       {{"modelUri", "azureml://datastores/d/paths/p"},
        {"modelType", "mlflow_model"},
        {"jobName", "train-7"},
        {"stage", "Staging"},
        {"flavors", {{"sklearn", {{"data", {{"a", "b"}}}}}}}}}};

  const json::object view = asset_view(model::AssetKind::Model, resource);

  EXPECT_EQ(view.at("name").as_string(), "m");
  EXPECT_EQ(view.at("version").as_string(), "2");
  EXPECT_EQ(view.at("job_name").as_string(), "train-7");
  EXPECT_EQ(view.at("flavors").at_pointer("/sklearn/a").as_string(), "b");
}

TEST_F(AssetYaml, AnEnvironmentFileNeedsAName) {
  const auto read_environment_file = [&](std::string_view text) {
    return environment_from_yaml(*parse(text, "env.yml"), directory_.string());
  };

  const Result<EnvironmentFile> file = read_environment_file(
      "name: e\nversion: 2\nimage: python\ninference_config:\n"
      "  liveness_route: {port: 5001, path: /}\n");

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->asset.name, "e");
  EXPECT_EQ(file->asset.version, "2");
  EXPECT_EQ(file->asset.body.at("inferenceConfig").at("livenessRoute").at("port").as_int64(), 5001);
  EXPECT_FALSE(file->asset.is_anonymous);
  EXPECT_FALSE(read_environment_file("image: python\n"));
  EXPECT_FALSE(read_environment_file("name: e\nimage: x\ninference_config: {a: 1}\n"));
}

TEST_F(AssetYaml, AWorkspaceFileTakesAzuresSwitchesAndIgnoresThem) {
  const Result<model::Workspace> workspace = workspace_from_yaml(*parse(
      "name: w\ndisplay_name: W\nlocation: here\nhbi_workspace: false\ntags: {a: b}\n", "w"));

  ASSERT_TRUE(workspace);
  EXPECT_EQ(workspace->name, "w");
  EXPECT_EQ(workspace->display_name, "W");
  EXPECT_EQ(workspace->location, "here");
  EXPECT_EQ(workspace->tags.at("a"), "b");
  EXPECT_FALSE(workspace_from_yaml(*parse("name: ../w\n", "w")));
  EXPECT_FALSE(workspace_from_yaml(*parse("display_name: w\n", "w")));
  EXPECT_FALSE(workspace_from_yaml(*parse("name: w\nnonsense: 1\n", "w")));
}

TEST_F(AssetYaml, ViewsSayWhatAzSays) {
  const model::Workspace workspace{.id = {"g"}, .name = "default"};
  const model::Asset data{.kind = model::AssetKind::Data,
                          .name = "rows",
                          .version = "2",
                          .body = {{"dataType", "uri_file"}, {"dataUri", "azureml://x"}}};
  const model::Asset environment{
      .kind = model::AssetKind::Environment,
      .name = "e",
      .version = "1",
      .body = {{"image", "python"}, {"condaFile", "a: [b]"}, {"osType", "Linux"}}};

  const json::object shown_data = asset_view(data.kind, wire::arm::to_json(data, workspace));
  const json::object shown_environment =
      asset_view(environment.kind, wire::arm::to_json(environment, workspace));
  const json::object container = asset_view(
      data.kind,
      wire::arm::to_json(model::AssetContainer{.name = "rows", .latest_version = "2"}, workspace));
  const json::object shown_workspace =
      workspace_view(wire::arm::to_json(workspace, {.base_url = "https://h:1"}));

  EXPECT_EQ(shown_data.at("name").as_string(), "rows");
  EXPECT_EQ(shown_data.at("version").as_string(), "2");
  EXPECT_EQ(shown_data.at("path").as_string(), "azureml://x");
  EXPECT_EQ(shown_data.at("type").as_string(), "uri_file");
  EXPECT_EQ(shown_data.at("resourceGroup").as_string(), "berth");
  EXPECT_EQ(shown_environment.at("conda_file"), (json::value{{"a", {"b"}}}));
  EXPECT_EQ(shown_environment.at("os_type").as_string(), "linux");
  EXPECT_EQ(container.at("latest_version").as_string(), "2");
  EXPECT_FALSE(container.contains("version"));
  EXPECT_EQ(shown_workspace.at("mlflow_tracking_uri").as_string(),
            "https://h:1" + model::mlflow_path(workspace));
  EXPECT_EQ(shown_workspace.at("resource_group").as_string(), "berth");
}

TEST_F(AssetYaml, AViewOfNonsenseIsNotACrash) {
  EXPECT_NO_THROW(asset_view(model::AssetKind::Environment, {{"id", 5}, {"properties", {1}}}));
  EXPECT_NO_THROW(workspace_view({{"properties", "x"}, {"systemData", {1}}}));
}

}  // namespace
}  // namespace berth::wire::yaml
