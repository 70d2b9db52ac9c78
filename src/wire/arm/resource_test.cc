// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/resource.h"

#include <gtest/gtest.h>

#include "base/record.h"
#include "wire/arm/error.h"

namespace berth::wire::arm {
namespace {

using model::AssetKind;

const Addresses kAddresses{.base_url = "https://127.0.0.1:8470"};

model::Workspace workspace() {
  return {.id = {"guid"},
          .name = "default",
          .display_name = "Ours",
          .tags = {{"a", "b"}},
          .created_at = WallTime(Duration(1'700'000'000'000))};
}

json::value body(std::initializer_list<json::value_ref> properties) {
  return json::object{{"properties", json::value(properties)}};
}

TEST(WorkspaceJson, PointsClientsAtUs) {
  const json::object resource = to_json(workspace(), kAddresses);
  const json::object& properties = resource.at("properties").as_object();

  EXPECT_EQ(resource.at("type").as_string(), "Microsoft.MachineLearningServices/workspaces");
  EXPECT_EQ(properties.at("discoveryUrl").as_string(), "https://127.0.0.1:8470/discovery");
  EXPECT_EQ(properties.at("mlFlowTrackingUri").as_string(),
            "https://127.0.0.1:8470/mlflow/v1.0" + model::arm_id(workspace()));
  EXPECT_EQ(properties.at("workspaceId").as_string(), "guid");
  EXPECT_EQ(properties.at("provisioningState").as_string(), "Succeeded");
  EXPECT_EQ(resource.at("identity").at("type").as_string(), "SystemAssigned");
  EXPECT_EQ(resource.at("sku").at("name").as_string(), "Basic");
}

TEST(WorkspaceJson, ABodyMayNotChooseItsIdsButOurClientsReadThem) {
  const json::object resource = to_json(workspace(), kAddresses);

  const Result<model::Workspace> said = workspace_from_json(resource);
  const Result<model::Workspace> read = workspace_from_resource(resource);

  ASSERT_TRUE(said && read);
  EXPECT_EQ(said->id.text, "");
  EXPECT_EQ(said->name, "");
  EXPECT_EQ(said->display_name, "Ours");
  EXPECT_EQ(said->tags, workspace().tags);
  EXPECT_EQ(read->id.text, "guid");
  EXPECT_EQ(read->name, "default");
  EXPECT_EQ(read->resource_group, "berth");
  EXPECT_EQ(read->created_at, workspace().created_at);
}

TEST(WorkspaceJson, AWrongTypeIsNamed) {
  EXPECT_EQ(workspace_from_json(json::object{{"location", 5}}).error().target, "location");
  EXPECT_EQ(workspace_from_json(body({{"friendlyName", 5}})).error().target,
            "properties.friendlyName");
}

TEST(WorkspaceJson, TakesTrueAndFalseAsTextWhereAzuresClientWritesSo) {
  const auto read = [](const json::value& value) {
    return workspace_from_json(body({{"hbiWorkspace", value}}));
  };

  EXPECT_EQ(read("False")->recorded.at("hbiWorkspace"), false);
  EXPECT_EQ(read("true")->recorded.at("hbiWorkspace"), true);
  EXPECT_EQ(read(true)->recorded.at("hbiWorkspace"), true);
  EXPECT_EQ(read("maybe").error().target, "properties.hbiWorkspace");
  EXPECT_EQ(read(1).error().target, "properties.hbiWorkspace");
}

TEST(DatastoreJson, ItsAccountMakesAPathStyleAddress) {
  const json::object resource = to_json(model::kDatastores[0], workspace(), kAddresses);
  const json::object& properties = resource.at("properties").as_object();

  EXPECT_EQ(resource.at("id").as_string(),
            model::arm_id(workspace()) + "/datastores/workspaceblobstore");
  EXPECT_EQ(properties.at("accountName").as_string(), "127.0.0.1:8470/blob/guid");
  EXPECT_EQ(properties.at("containerName").as_string(), "azureml-blobstore");
  EXPECT_EQ(properties.at("protocol").as_string(), "https");
  EXPECT_EQ(properties.at("datastoreType").as_string(), "AzureBlob");
  EXPECT_TRUE(properties.at("isDefault").as_bool());
}

TEST(AssetJson, AVersionKeepsWhatItsKindHasAndNothingElse) {
  const Result<model::Asset> asset =
      asset_from_json(AssetKind::Data, body({{"dataType", "URI_FILE"},
                                             {"dataUri", "azureml://datastores/d/paths/x"},
                                             {"tags", {{"k", "v"}}},
                                             {"isArchived", true},
                                             {"nonsense", 1}}));

  ASSERT_TRUE(asset) << asset.error().message;
  EXPECT_EQ(asset->body, (json::object{{"dataType", "uri_file"},
                                       {"dataUri", "azureml://datastores/d/paths/x"}}));
  EXPECT_EQ(asset->tags.at("k"), "v");
  EXPECT_TRUE(asset->is_archived);
}

TEST(AssetJson, WhatAClientReadsAndSendsBackIsTheSameAsset) {
  const std::pair<AssetKind, json::value> bodies[] = {
      {AssetKind::Code, body({{"codeUri", "https://x/y"}, {"isAnonymous", true}})},
      {AssetKind::Data, body({{"dataType", "mltable"}, {"dataUri", "u"}})},
      {AssetKind::Environment, body({{"image", "python"}, {"condaFile", "a: b"}})},
      {AssetKind::Environment, body({{"build", {{"contextUri", "u"}}}})},
      {AssetKind::Model, body({{"modelUri", "u"}, {"modelType", "mlflow_model"}})},
      {AssetKind::Component, body({{"componentSpec", {{"name", "c"}}}})},
  };
  for (const auto& [kind, said] : bodies) {
    Result<model::Asset> asset = asset_from_json(kind, said);
    ASSERT_TRUE(asset) << asset.error().message;
    asset->name = "a";
    asset->version = "1";

    const Result<model::Asset> again = asset_from_json(kind, to_json(*asset, workspace()));

    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->body, asset->body);
    EXPECT_EQ(again->is_anonymous, asset->is_anonymous);
  }
}

TEST(AssetJson, AVersionIsNamedByItsVersion) {
  const json::object resource =
      to_json(model::Asset{.kind = AssetKind::Model, .name = "m", .version = "3"}, workspace());

  EXPECT_EQ(resource.at("name").as_string(), "3");
  EXPECT_EQ(resource.at("id").as_string(), model::arm_id(workspace()) + "/models/m/versions/3");
  EXPECT_EQ(resource.at("type").as_string(),
            "Microsoft.MachineLearningServices/workspaces/models/versions");
  EXPECT_TRUE(resource.at("properties").at("flavors").is_object());
}

TEST(AssetJson, WhatAKindNeedsMustBeThere) {
  const auto target = [](AssetKind kind, const json::value& said) {
    const Result<model::Asset> asset = asset_from_json(kind, said);
    return asset ? std::string("accepted") : asset.error().target;
  };

  EXPECT_EQ(target(AssetKind::Code, body({{"codeUri", nullptr}})), "properties.codeUri");
  EXPECT_EQ(target(AssetKind::Data, body({{"dataUri", "u"}})), "properties.dataType");
  EXPECT_EQ(target(AssetKind::Data, body({{"dataType", "custom_model"}, {"dataUri", "u"}})),
            "properties.dataType");
  EXPECT_EQ(target(AssetKind::Data, body({{"dataType", "uri_file"}})), "properties.dataUri");
  EXPECT_EQ(target(AssetKind::Environment, body({{"osType", "Linux"}})), "properties.image");
  EXPECT_EQ(
      target(AssetKind::Environment, body({{"image", "a"}, {"build", {{"contextUri", "u"}}}})),
      "properties.build");
  EXPECT_EQ(target(AssetKind::Environment, body({{"image", "a"}, {"osType", "BeOS"}})),
            "properties.osType");
  EXPECT_EQ(target(AssetKind::Environment, body({{"build", {{"dockerfilePath", "D"}}}})),
            "properties.build.contextUri");
  EXPECT_EQ(target(AssetKind::Model, body({{"modelType", "x"}})), "properties.modelUri");
  EXPECT_EQ(target(AssetKind::Component, body({{"tags", nullptr}})), "properties.componentSpec");
  EXPECT_EQ(target(AssetKind::Component, json::object()), "properties");
}

TEST(ContainerJson, SaysWhichVersionComesNext) {
  const model::AssetContainer container{.kind = AssetKind::Data,
                                        .name = "rows",
                                        .latest_version = "1",
                                        .next_version = "2",
                                        .data_type = "uri_file"};

  const json::object resource = to_json(container, workspace());
  const Result<model::AssetContainer> again = container_from_json(AssetKind::Data, resource);

  EXPECT_EQ(resource.at("properties").at("latestVersion").as_string(), "1");
  EXPECT_EQ(resource.at("properties").at("nextVersion").as_string(), "2");
  EXPECT_EQ(resource.at("id").as_string(), model::arm_id(workspace()) + "/data/rows");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->data_type, "uri_file");
  EXPECT_EQ(again->latest_version, "") << "not a client's to say";
}

TEST(Page, HasALinkOnlyWhenThereIsMore) {
  EXPECT_EQ(json::serialize(page({1, 2})), R"({"value":[1,2]})");
  EXPECT_EQ(json::serialize(page({}, "https://x")), R"({"value":[],"nextLink":"https://x"})");
}

TEST(ArmError, SurvivesTheWire) {
  for (const Code code : {Code::InvalidArgument, Code::Unauthenticated, Code::Forbidden,
                          Code::NotFound, Code::Conflict, Code::TooLarge, Code::NotSupported,
                          Code::Unavailable, Code::OutOfSpace, Code::Internal}) {
    const Error error{.code = code, .message = "no job 'x'", .target = "name"};

    const Error read = error_from(http_status(code), error_body(error));

    EXPECT_EQ(read.code, code);
    EXPECT_EQ(read.message, error.message);
    EXPECT_EQ(read.target, error.target);
  }
}

TEST(ArmError, HasTheShapeClientsExpect) {
  const Error error{.code = Code::NotFound, .message = "no job \xff"};
  EXPECT_EQ(error_body(error),
            "{\"error\":{\"code\":\"ResourceNotFound\",\"message\":\"no job \xEF\xBF\xBD\"}}");
}

TEST(ArmError, OfAnyServerIsReadAsFarAsItGoes) {
  EXPECT_EQ(error_from(502, "<html>").code, Code::Unavailable);
  EXPECT_EQ(error_from(502, "<html>").message, "the server answered 502");
  EXPECT_EQ(error_from(418, "{}").code, Code::InvalidArgument);
  EXPECT_EQ(error_from(404, R"({"error": "gone"})").code, Code::NotFound);
  EXPECT_EQ(error_from(400, R"({"error": {"message": 5}})").message, "the server answered 400");
  EXPECT_EQ(error_from(500, R"({"message": "bare"})").message, "bare");
}

}  // namespace
}  // namespace berth::wire::arm
