// SPDX-License-Identifier: Apache-2.0
#include "cli/client_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace berth::cli {
namespace {

class ClientEnvironmentTest : public testing::Test {
 protected:
  std::string value(const std::string& name) const {
    const Variables variables = client_environment(target, place);
    const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
    return found == variables.end() ? "(not set)" : found->second;
  }

  ClientTarget target{.base_url = "https://127.0.0.1:8470",
                      .token = "secret",
                      .workspace = {.name = "default"},
                      .bundle = "/home/clients/ca-bundle.pem",
                      .node_bundle = "/home/ca.pem"};
  Place place{.home = "/home"};
};

TEST_F(ClientEnvironmentTest, SaysWhereEverythingIs) {
  EXPECT_EQ(value("ARM_CLOUD_METADATA_URL").find("https://127.0.0.1:8470/metadata/endpoints"), 0u);
  EXPECT_EQ(value("IDENTITY_ENDPOINT"), "https://127.0.0.1:8470/msi/token");
  EXPECT_EQ(value("IDENTITY_HEADER"), "secret");
  EXPECT_EQ(value("MLFLOW_TRACKING_TOKEN"), "secret");
  EXPECT_EQ(value("MLFLOW_TRACKING_URI"),
            "https://127.0.0.1:8470/mlflow/v1.0/subscriptions/00000000-0000-0000-0000-000000000000/"
            "resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default");
  EXPECT_EQ(value("AZURE_ML_WORKSPACE"), "default");
  EXPECT_EQ(value("REQUESTS_CA_BUNDLE"), "/home/clients/ca-bundle.pem");
  EXPECT_EQ(value("NODE_EXTRA_CA_CERTS"), "/home/ca.pem");
}

TEST_F(ClientEnvironmentTest, AServerOfOurOwnIsFoundByItsDirectory) {
  EXPECT_EQ(value("BERTH_HOME"), "/home");
  EXPECT_EQ(value("BERTH_URL"), "(not set)");
  EXPECT_EQ(value("BERTH_TOKEN"), "(not set)");
}

TEST_F(ClientEnvironmentTest, AServerElsewhereIsFoundByItsAddress) {
  target = {.base_url = "https://box:8470", .token = "hers", .is_ours = false};
  place.environment = {{"BERTH_URL", "https://box:8470"}, {"BERTH_TOKEN", "hers"}};
  EXPECT_EQ(value("BERTH_URL"), "https://box:8470");
  EXPECT_EQ(value("BERTH_TOKEN"), "hers");
  EXPECT_EQ(value("BERTH_HOME"), "(not set)");
  EXPECT_EQ(value("SSL_CERT_FILE"), "(not set)") << "the system knows its authority";
}

TEST_F(ClientEnvironmentTest, AProxyIsNotAskedForUs) {
  EXPECT_EQ(value("NO_PROXY"), "(not set)");
  place.environment = {{"https_proxy", "http://proxy:3128"}};
  EXPECT_EQ(value("NO_PROXY"), "127.0.0.1");
  place.environment["no_proxy"] = "intra.example";
  EXPECT_EQ(value("NO_PROXY"), "intra.example,127.0.0.1");
  place.environment["NO_PROXY"] = "intra.example, 127.0.0.1";
  EXPECT_EQ(value("NO_PROXY"), "(not set)") << "said already";
}

}  // namespace
}  // namespace berth::cli
