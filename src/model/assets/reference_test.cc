// SPDX-License-Identifier: Apache-2.0
#include "model/assets/reference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth::model {
namespace {

constexpr const char* kWorkspaceId =
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/"
    "Microsoft.MachineLearningServices/workspaces/default";

std::string in_workspace(std::string_view rest) { return fmt::format("{}{}", kWorkspaceId, rest); }

template <typename T>
T read_as(std::string_view text) {
  const Result<DataRef> reference = parse_data_ref(text);
  if (!reference) {
    ADD_FAILURE() << text << ": " << reference.error().message;
    return {};
  }
  if (!std::holds_alternative<T>(*reference)) {
    ADD_FAILURE() << text << " is another kind of reference";
    return {};
  }
  return std::get<T>(*reference);
}

Error refusal_of(std::string_view text) {
  const Result<DataRef> reference = parse_data_ref(text);
  if (reference) {
    ADD_FAILURE() << text << " was accepted";
    return {};
  }
  return reference.error();
}

TEST(DataRef, AnAssetHasANameAndAVersionALabelOrNeither) {
  EXPECT_EQ(read_as<AssetRef>("azureml:rows:1.0").name, "rows");
  EXPECT_EQ(read_as<AssetRef>("azureml:rows:1.0").version, "1.0");
  EXPECT_EQ(read_as<AssetRef>("azureml:rows@latest").label, "latest");
  EXPECT_EQ(read_as<AssetRef>("AzureML:rows@Latest").label, "latest");
  EXPECT_EQ(read_as<AssetRef>("azureml:ranker@champion").label, "champion");
  EXPECT_EQ(parse_asset_ref(AssetKind::Model, "azureml:ranker@champion")->label, "champion");
  EXPECT_EQ(read_as<AssetRef>("azureml:rows").name, "rows");
  EXPECT_EQ(read_as<AssetRef>("azureml:rows").version, "");
}

TEST(DataRef, AnArmIdIsReadInAnyCaseAndWithOrWithoutItsPrefix) {
  const std::string id = in_workspace("/data/rows/versions/3");
  std::string shouted = id;
  for (char& c : shouted) c = c == '/' ? c : static_cast<char>(std::toupper(c));

  EXPECT_EQ(read_as<AssetRef>(id).version, "3");
  EXPECT_EQ(read_as<AssetRef>("azureml:" + id).name, "rows");
  EXPECT_EQ(read_as<AssetRef>(shouted).name, "ROWS");
  EXPECT_EQ(
      read_as<AssetRef>("azureml://locations/local/workspaces/guid/data/rows/versions/3").name,
      "rows");
  EXPECT_EQ(read_as<AssetRef>(in_workspace("/models/m/versions/1")).name, "m");
}

TEST(DataRef, ADatastorePathIsReadInItsShortAndLongForm) {
  const auto brief =
      read_as<DatastorePath>("azureml://datastores/workspaceblobstore/paths/a/b.csv");
  const auto full = read_as<DatastorePath>(
      "azureml://subscriptions/s/resourcegroups/g/workspaces/w/datastores/workspaceblobstore/paths/"
      "a/b.csv");

  EXPECT_EQ(brief.datastore, "workspaceblobstore");
  EXPECT_EQ(brief.path, "a/b.csv");
  EXPECT_EQ(full.datastore, brief.datastore);
  EXPECT_EQ(full.path, brief.path);
  EXPECT_EQ(read_as<DatastorePath>("azureml://datastores/d/paths/folder/").path, "folder/");
  EXPECT_EQ(read_as<DatastorePath>("azureml://datastores/d/paths/").path, "");
  EXPECT_EQ(read_as<DatastorePath>("azureml://datastores/d/paths/100%.csv").path, "100%.csv");
}

TEST(DataRef, AJobsOutputIsReadWithAndWithoutAPath) {
  const auto whole = read_as<JobOutputRef>("azureml://jobs/train-7/outputs/model");
  const auto part = read_as<JobOutputRef>("azureml://jobs/train-7/outputs/model/paths/a/b.bin");
  const auto run = read_as<JobOutputRef>("runs:/train-7/outputs/metrics.json");

  EXPECT_EQ(whole.job, "train-7");
  EXPECT_EQ(whole.output, "model");
  EXPECT_EQ(whole.path, "");
  EXPECT_EQ(part.path, "a/b.bin");
  EXPECT_EQ(run.job, "train-7");
  EXPECT_EQ(run.output, "artifacts");
  EXPECT_EQ(run.path, "outputs/metrics.json");
  EXPECT_EQ(read_as<JobOutputRef>("runs:/train-7").path, "");
}

TEST(DataRef, AWebAddressIsKeptAsItIs) {
  EXPECT_EQ(read_as<WebAddress>("https://example.org/a%20b?x=1").url,
            "https://example.org/a%20b?x=1");
  EXPECT_EQ(refusal_of("https://").code, Code::InvalidArgument);
  EXPECT_EQ(refusal_of("http://a b/").code, Code::InvalidArgument);
}

TEST(DataRef, APathThatClimbsIsRefusedHoweverItIsWritten) {
  for (const std::string path :
       {"../x", "a/../../x", "..", "a/.", "./a", "%2e%2e/x", "a/%2E%2E/x", "a%2f..%2fx",
        "%252e%252e/x", "a/%25252e%25252e", "..%2f100%", "a\\..\\b", "a%5c..%5cb", "a%00b"}) {
    const Error error = refusal_of("azureml://datastores/d/paths/" + path);
    EXPECT_EQ(error.code, Code::InvalidArgument) << path;
    EXPECT_NE(error.message.find("path"), std::string::npos) << error.message;
    EXPECT_EQ(refusal_of("azureml://jobs/j/outputs/o/paths/" + path).code, Code::InvalidArgument);
    EXPECT_EQ(refusal_of("runs:/j/" + path).code, Code::InvalidArgument);
  }
}

TEST(DataRef, ANameThatIsAPathTrickIsRefused) {
  for (const char* text :
       {"azureml:../x:1", "azureml:x:..%2f", "azureml:a/b:1", "azureml://datastores/../paths/a",
        "azureml://jobs/..%2f../outputs/o", "azureml://jobs/j/outputs/../paths/x", "runs:/../x",
        "azureml::1", "azureml:a:", "azureml:", "azureml:a:b:c", "azureml://datastores/d",
        "azureml://jobs/j", "azureml://nonsense/x", "azureml://"}) {
    EXPECT_EQ(refusal_of(text).code, Code::InvalidArgument) << text;
  }
}

TEST(DataRef, WhatAzureHasAndBerthHasNotIsCalledUnsupported) {
  for (const char* text : {"wasbs://c@a.blob.core.windows.net/x", "abfss://f@a/x", "adl://a/x",
                           "azureml://registries/r/data/d/versions/1"}) {
    EXPECT_EQ(refusal_of(text).code, Code::NotSupported) << text;
  }
}

TEST(DataRef, ALocalPathIsRefusedAsTheClientsBusiness) {
  for (const char* text : {"./data", "/etc/passwd", "file:///etc/passwd", "data.csv"}) {
    const Error error = refusal_of(text);
    EXPECT_EQ(error.code, Code::InvalidArgument);
    EXPECT_NE(error.message.find("uploads it first"), std::string::npos) << error.message;
  }
  EXPECT_EQ(refusal_of("").code, Code::InvalidArgument);
  EXPECT_NE(refusal_of("gopher://x").message.find("scheme"), std::string::npos);
}

TEST(DataRef, AMessageNeverRepeatsControlCharacters) {
  const Error error = refusal_of(std::string_view("azureml:a\n\x1b[31m:1"));

  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
}

TEST(AssetReference, MustBeOfTheKindAskedFor) {
  const std::string id = in_workspace("/codes/snapshot/versions/1");

  EXPECT_EQ(parse_asset_ref(AssetKind::Code, id)->name, "snapshot");
  EXPECT_EQ(parse_asset_ref(AssetKind::Environment, id).error().code, Code::InvalidArgument);
  EXPECT_EQ(parse_asset_ref(AssetKind::Environment, "azureml:env@latest")->label, "latest");
  EXPECT_EQ(parse_asset_ref(AssetKind::Environment, "azureml:env@stable").error().code,
            Code::InvalidArgument);
  EXPECT_FALSE(parse_asset_ref(AssetKind::Environment, "python:3.12"));
  EXPECT_EQ(
      parse_asset_ref(AssetKind::Environment, "azureml://registries/r/environments/e/versions/1")
          .error()
          .code,
      Code::NotSupported);
}

TEST(ComputeReference, IsTheBareNameHoweverItIsWritten) {
  EXPECT_EQ(*parse_compute_ref("azureml:pool-a"), "pool-a");
  EXPECT_EQ(*parse_compute_ref("pool-a"), "pool-a");
  EXPECT_EQ(*parse_compute_ref(in_workspace("/computes/pool-a")), "pool-a");
  EXPECT_EQ(*parse_compute_ref("Local"), "local");
  EXPECT_EQ(*parse_compute_ref("serverless"), "");
  EXPECT_EQ(*parse_compute_ref("azureml:serverless"), "");
  EXPECT_FALSE(parse_compute_ref("../x"));
  EXPECT_FALSE(parse_compute_ref(in_workspace("/data/x")));
  EXPECT_FALSE(parse_compute_ref(""));
}

TEST(BlobPath, IsReturnedAsItIsWhenNothingInItClimbs) {
  EXPECT_EQ(*checked_blob_path("a/b c/..d/e.txt"), "a/b c/..d/e.txt");
  EXPECT_EQ(*checked_blob_path("a/b/"), "a/b/");
  EXPECT_EQ(*checked_blob_path("grüße.txt"), "grüße.txt");
}

TEST(BlobPath, IsRefusedForEveryWayOut) {
  for (const std::string_view path :
       {std::string_view(""), std::string_view("/"), std::string_view("/a"),
        std::string_view("a//b"), std::string_view("a/.."), std::string_view("."),
        std::string_view("a\\b"), std::string_view("a\0b", 3), std::string_view("a\nb"),
        std::string_view("\xff\xfe")}) {
    EXPECT_FALSE(checked_blob_path(path)) << path;
  }
  EXPECT_FALSE(checked_blob_path(std::string(1025, 'a')));
  EXPECT_TRUE(checked_blob_path(std::string(1024, 'a')));
}

}  // namespace
}  // namespace berth::model
