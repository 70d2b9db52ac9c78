// SPDX-License-Identifier: Apache-2.0
#include "model/job.h"

#include <gtest/gtest.h>

#include "base/record.h"
#include "model/assets/asset.h"
#include "model/datastore.h"

namespace berth::model {
namespace {

TEST(Job, OnlyCompletedFailedAndCanceledAreTheEnd) {
  EXPECT_TRUE(is_terminal(JobStatus::Completed));
  EXPECT_TRUE(is_terminal(JobStatus::Failed));
  EXPECT_TRUE(is_terminal(JobStatus::Canceled));
  EXPECT_FALSE(is_terminal(JobStatus::NotResponding));
  EXPECT_FALSE(is_terminal(JobStatus::CancelRequested));
  EXPECT_FALSE(is_terminal(JobStatus::Finalizing));
}

TEST(Job, ArtifactsLieBelowItsName) {
  EXPECT_EQ(artifact_prefix({.name = "train-7"}), "ExperimentRun/dcid.train-7/");
}

TEST(Job, AnOutputWithoutAPlaceGoesToTheDefaultOne) {
  Job job{.key = {.name = "train-7"}};
  job.spec.edit().outputs["model"] = {};

  EXPECT_EQ(output_uri(job, "model"),
            "azureml://datastores/workspaceblobstore/paths/azureml/train-7/model/");
}

TEST(Job, AnOutputsOwnPlaceMayNameTheJob) {
  Job job{.key = {.name = "train-7"}};
  job.spec.edit().outputs["model"].uri =
      "azureml://datastores/${{default_datastore}}/paths/${{ name }}/x/${{output_name}}";
  job.spec.edit().outputs["plain"].uri = "azureml://datastores/d/paths/p";

  EXPECT_EQ(output_uri(job, "model"),
            "azureml://datastores/workspaceblobstore/paths/train-7/x/model");
  EXPECT_EQ(output_uri(job, "plain"), "azureml://datastores/d/paths/p");
}

TEST(Job, SurvivesItsOwnRecord) {
  Job job{.key = {.workspace = {"w"}, .name = "j"}};
  job.spec.edit().inputs["x"] = {.type = DataType::Literal, .value = "0.05"};
  job.spec.edit().timeout = std::chrono::seconds(5);
  command_of(job.spec.edit()).distribution = {{"distributionType", "PyTorch"}};
  job.outcome = Outcome{.ending = Ending::Signaled, .signal = 9};

  const Result<Job> again = record::decode_text<Job>(record::encode_text(job));

  ASSERT_TRUE(again);
  EXPECT_EQ(again->key, job.key);
  EXPECT_EQ(again->spec, job.spec);
  EXPECT_EQ(again->outcome, job.outcome);
}

TEST(Asset, EveryKindHasItsCollection) {
  EXPECT_EQ(to_collection(AssetKind::Code), "codes");
  EXPECT_EQ(to_collection(AssetKind::Data), "data");
  EXPECT_EQ(to_collection(AssetKind::Environment), "environments");
  EXPECT_EQ(to_collection(AssetKind::Model), "models");
  EXPECT_EQ(to_collection(AssetKind::Component), "components");
}

TEST(Datastore, IsFoundByNameInAnyCase) {
  EXPECT_EQ(find_datastore("WorkspaceBlobStore")->container, "azureml-blobstore");
  EXPECT_FALSE(find_datastore("mine"));
}

TEST(Workspace, ItsIdIsTheStartOfAllItOwns) {
  EXPECT_EQ(arm_id({.name = "default"}),
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/"
            "Microsoft.MachineLearningServices/workspaces/default");
}

}  // namespace
}  // namespace berth::model
