// SPDX-License-Identifier: Apache-2.0
#include "model/assets/reference_scope.h"

#include <gtest/gtest.h>

namespace berth::model {
namespace {

const Workspace kOwn{.id = {"11111111-2222-3333-4444-555555555555"},
                     .subscription = "sub",
                     .resource_group = "lab",
                     .name = "vision"};

TEST(ReferenceScope, WhatNamesNoWorkspaceIsOfThisOne) {
  for (const char* text :
       {"", "rows", "azureml:rows:1", "azureml:rows@latest", "azureml://datastores/d/paths/x",
        "azureml://jobs/j/outputs/o", "azureml://registries/r/models/m/versions/1", "runs:/j/x",
        "https://example.org/subscriptions/other", "serverless", "./subscriptions/x"}) {
    EXPECT_TRUE(check_workspace(kOwn, text)) << text;
  }
}

TEST(ReferenceScope, ItsOwnNameIsReadInEverySpelling) {
  for (const char* text :
       {"/subscriptions/sub/resourceGroups/lab/providers/Microsoft.MachineLearningServices/"
        "workspaces/vision/data/rows/versions/1",
        "azureml:/subscriptions/SUB/resourcegroups/Lab/providers/x/workspaces/Vision/computes/c",
        "azureml://subscriptions/sub/resourcegroups/lab/workspaces/vision/datastores/d/paths/x",
        "azureml://subscriptions/sub/resourcegroups/lab/providers/x/workspaces/vision/data/a/"
        "versions/1",
        "azureml://locations/local/workspaces/11111111-2222-3333-4444-555555555555/data/a/versions/"
        "1",
        "azureml://locations/local/workspaces/vision/data/a/versions/1"}) {
    const Status checked = check_workspace(kOwn, text);
    EXPECT_TRUE(checked) << text;
  }
}

TEST(ReferenceScope, AnotherNameGroupSubscriptionOrGuidIsRefused) {
  for (const char* text :
       {"/subscriptions/sub/resourceGroups/lab/providers/x/workspaces/other/data/rows/versions/1",
        "/subscriptions/sub/resourceGroups/other/providers/x/workspaces/vision/data/r/versions/1",
        "/subscriptions/other/resourceGroups/lab/providers/x/workspaces/vision/data/r/versions/1",
        "azureml:/subscriptions/sub/resourceGroups/lab/providers/x/workspaces/other/computes/c",
        "azureml://subscriptions/sub/resourcegroups/lab/workspaces/other/datastores/d/paths/x",
        "AZUREML://SUBSCRIPTIONS/sub/resourcegroups/lab/workspaces/other/jobs/j/outputs/o",
        "azureml://locations/local/workspaces/99999999-2222-3333-4444-555555555555/data/a/versions/"
        "1",
        "/subscriptions/sub/workspaces/vision/data/rows/versions/1", "/subscriptions/sub",
        "/subscriptions/sub/resourceGroups/lab/providers/x/data/r/versions/1",
        "/subscriptions/sub/resourceGroups/lab/x/workspaces/vision/data/r/versions/1"}) {
    const Status checked = check_workspace(kOwn, text);
    ASSERT_FALSE(checked) << text;
    EXPECT_EQ(checked.error().code, Code::InvalidArgument);
    EXPECT_NE(checked.error().message.find("'vision' of the resource group 'lab'"),
              std::string::npos);
  }
}

TEST(ReferenceScope, TheWorkspaceOfABlobAddressIsFound) {
  const std::string id = kOwn.id.text;
  EXPECT_EQ(workspace_of_blob_url("https://h:1/blob/" + id + "/c/x"), id);
  EXPECT_EQ(workspace_of_blob_url("http://h/blob/" + id + ".blob.core/c/x?sig=1"), id);
  EXPECT_EQ(workspace_of_blob_url("https://h/x/blob/" + id + "/c/x"), std::nullopt);
  EXPECT_EQ(workspace_of_blob_url("https://h/blob/short"), std::nullopt);
  EXPECT_EQ(workspace_of_blob_url("azureml://blob/" + id), std::nullopt);
  EXPECT_EQ(workspace_of_blob_url("https://"), std::nullopt);
}

}  // namespace
}  // namespace berth::model
