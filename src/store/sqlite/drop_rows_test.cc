// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/sqlite/fixture.h"
#include "store/sqlite/job_places.h"

namespace berth::store {
namespace {

using model::AssetKind;
using model::JobStatus;
using std::chrono::hours;

class DropTest : public StoreFixture {
 protected:
  DropTest() {
    commit({Put<model::Workspace>{{.id = {"w"}, .name = "default"}},
            Put<model::Workspace>{{.id = {"v"}, .name = "other"}}});
  }

  static model::Job over(std::int64_t sequence, const std::string& name) {
    model::Job job = StoreFixture::job(sequence, name, JobStatus::Completed);
    job.created_at = WallTime(hours(sequence));
    job.ended_at = job.modified_at = WallTime(hours(sequence) + std::chrono::minutes(1));
    return job;
  }
  Blob file(const std::string& container, const std::string& path) {
    Blob made = blob(path);
    made.key.container = container;
    return made;
  }
  Blob artifact(const std::string& path) { return file("azureml", path); }
  Blob data(const std::string& path) { return file("azureml-blobstore", path); }
  static model::Asset registered(AssetKind kind, const std::string& name, const std::string& uri) {
    const char* key = kind == AssetKind::Model ? "modelUri" : "dataUri";
    return {.workspace = {"w"}, .kind = kind, .name = name, .version = "1", .body = {{key, uri}}};
  }
  static model::Asset code(const std::string& name, const std::string& uri) {
    return {.workspace = {"w"},
            .kind = AssetKind::Code,
            .name = name,
            .version = "1",
            .body = {{"codeUri", uri}},
            .is_anonymous = true,
            .created_at = WallTime(hours(1))};
  }

  std::vector<std::string> paths(const std::string& container) {
    std::vector<std::string> found;
    const auto blobs = store->blobs({.workspace = {"w"}, .container = container});
    for (const Blob& each : *blobs) found.push_back(each.key.path);
    return found;
  }

  /// Runs on the inspecting thread; waits for it.
  template <typename Read>
  auto inspect(Read read) {
    std::optional<decltype(read(std::declval<StorageReader&>()))> answer;
    store->inspect([&](StorageReader& reader) {
      answer = read(reader);
      return [this] { loop.stop(); };
    });
    run_loop();
    return *std::move(answer);
  }
};

using Paths = std::vector<std::string>;

TEST_F(DropTest, AJobGoesWithItsOwnFilesAndNobodyElses) {
  commit({Put<model::Job>{over(1, "train")}, Put<model::Job>{over(2, "train-2")},
          PutBlob{artifact("ExperimentRun/dcid.train/user_logs/std_log.txt")},
          PutBlob{artifact("ExperimentRun/dcid.train/outputs/x")},
          PutBlob{artifact("ExperimentRun/dcid.train-2/outputs/x")},
          PutBlob{data("azureml/train/out/y")}, PutBlob{data("azureml/train-2/out/y")},
          PutBlob{data("mine/z")}});
  commit({Erase<model::Job>{{{"w"}, "train"}}});

  EXPECT_FALSE(*store->job({{"w"}, "train"}));
  EXPECT_EQ(paths("azureml"), Paths{"ExperimentRun/dcid.train-2/outputs/x"});
  EXPECT_EQ(paths("azureml-blobstore"), (Paths{"azureml/train-2/out/y", "mine/z"}));
}

TEST_F(DropTest, AnOutputGoesWhenItsPlaceBearsTheJobsNameAndStaysWhereTheUserSentIt) {
  model::Job job = over(1, "train");
  job.spec.edit().outputs["own"].uri =
      "azureml://datastores/workspaceblobstore/paths/runs/${{name}}/";
  job.spec.edit().outputs["shared"].uri = "azureml://datastores/workspaceblobstore/paths/shared/";
  // Bears the name by chance.
  job.spec.edit().outputs["train"].uri =
      "azureml://datastores/workspaceblobstore/paths/all/${{output_name}}/";
  commit({Put<model::Job>{job}, PutBlob{data("runs/train/a")}, PutBlob{data("shared/b")},
          PutBlob{data("all/train/c")}});
  commit({Erase<model::Job>{job.key}});

  EXPECT_EQ(paths("azureml-blobstore"), (Paths{"all/train/c", "shared/b"}));
}

TEST_F(DropTest, WhatARegisteredAssetNamesStays) {
  commit({Put<model::Job>{over(1, "train")}, PutBlob{data("azureml/train/model/weights")},
          PutBlob{data("azureml/train/model2/weights")}, PutBlob{data("azureml/train/rows/part-0")},
          PutBlob{data("azureml/train/rest/x")},
          PutBlob{artifact("ExperimentRun/dcid.train/net/weights")},
          PutBlob{artifact("ExperimentRun/dcid.train/user_logs/std_log.txt")},
          PutAsset{registered(AssetKind::Model, "net",
                              "azureml://datastores/workspaceblobstore/paths/azureml/train/model")},
          PutAsset{registered(AssetKind::Data, "rows",
                              "azureml://jobs/train/outputs/rows/paths/part-0")},
          PutAsset{registered(AssetKind::Model, "logged", "runs:/train/net")}});
  const JobFootprint before = *inspect([](StorageReader& reader) {
    return reader.footprint({{"w"}, "train"});
  });
  commit({Erase<model::Job>{{{"w"}, "train"}}});

  EXPECT_EQ(before.files, 3u);
  EXPECT_EQ(before.kept_files, 3u);
  EXPECT_EQ(before.kept_by.size(), 3u);
  EXPECT_EQ(paths("azureml-blobstore"),
            (Paths{"azureml/train/model/weights", "azureml/train/rows/part-0"}));
  EXPECT_EQ(paths("azureml"), Paths{"ExperimentRun/dcid.train/net/weights"});
}

TEST_F(DropTest, AnAssetThatNamesAFolderAboveKeepsTheFilesToo) {
  commit(
      {Put<model::Job>{over(1, "train")}, PutBlob{data("azureml/train/out/y")},
       PutBlob{artifact("ExperimentRun/dcid.train/outputs/x")},
       PutAsset{registered(AssetKind::Data, "everything",
                           "azureml://datastores/workspaceblobstore/paths/azureml/")},
       PutAsset{registered(AssetKind::Data, "runs", "https://h:1/blob/w/azureml/ExperimentRun")}});
  commit({Erase<model::Job>{{{"w"}, "train"}}});

  EXPECT_EQ(paths("azureml-blobstore"), Paths{"azureml/train/out/y"});
  EXPECT_EQ(paths("azureml"), Paths{"ExperimentRun/dcid.train/outputs/x"});
}

TEST_F(DropTest, AnAddressThatNamesTheJobAndCannotBeUnderstoodKeepsAllOfIt) {
  commit({Put<model::Job>{over(1, "train")}, PutBlob{data("azureml/train/out/y")},
          PutAsset{registered(AssetKind::Model, "odd", "azureml://somewhere/train/odd")}});
  commit({Erase<model::Job>{{{"w"}, "train"}}});

  EXPECT_EQ(paths("azureml-blobstore"), Paths{"azureml/train/out/y"});
}

TEST_F(DropTest, AModelWhoseFilesWereCopiedKeepsNothingOfTheJob) {
  model::Asset model = registered(AssetKind::Model, "net",
                                  "azureml://datastores/workspaceblobstore/paths/pinned/net/1");
  model.origin.source = "runs:/train/net";
  model.origin.pinned_from =
      "azureml://datastores/workspaceartifactstore/paths/ExperimentRun/dcid.train/net";
  commit({Put<model::Job>{over(1, "train")},
          PutBlob{artifact("ExperimentRun/dcid.train/net/weights")}, PutAsset{model}});
  commit({Erase<model::Job>{{{"w"}, "train"}}});

  EXPECT_TRUE(paths("azureml").empty());
}

TEST_F(DropTest, VeryManyFilesGoInParts) {
  Batch batch = {Put<model::Job>{over(1, "train")}};
  for (int i = 0; i < 25; ++i) batch.push_back(PutBlob{data(fmt::format("azureml/train/o/{}", i))});
  batch.push_back(PutBlob{artifact("ExperimentRun/dcid.train/user_logs/std_log.txt")});
  commit(std::move(batch));

  commit({DropJobFiles{.job = {{"w"}, "train"}, .only_logs = true}});
  EXPECT_TRUE(paths("azureml").empty());
  commit({DropJobFiles{.job = {{"w"}, "train"}, .limit = 10}});
  EXPECT_EQ(paths("azureml-blobstore").size(), 15u);
  EXPECT_TRUE(*store->job({{"w"}, "train"}));
}

TEST_F(DropTest, FilesOfAJobThatIsNotOverStay) {
  commit(
      {Put<model::Job>{job(1, "train", JobStatus::Running)}, PutBlob{data("azureml/train/o/x")}});
  commit({DropJobFiles{.job = {{"w"}, "train"}}});

  EXPECT_EQ(paths("azureml-blobstore").size(), 1u);
}

TEST_F(DropTest, CodeGoesWhenItsLastJobHasGone) {
  model::Job first = over(1, "first");
  command_of(first.spec.edit()).code_id =
      "/subscriptions/s/resourceGroups/g/providers/"
      "Microsoft.MachineLearningServices/workspaces/w/codes/c1/versions/1";
  model::Job second = over(2, "second");
  command_of(second.spec.edit()).code_id = "azureml:c1:1";
  commit({PutAsset{code("c1", "https://h:1/blob/w/azureml-blobstore/code/c1")},
          PutBlob{data("code/c1/train.py")}, PutBlob{data("code/c1-not/x")}, Put<model::Job>{first},
          Put<model::Job>{second}});
  const DropCode drop{{{"w"}, "c1", "1"}};
  const auto idle = [&] {
    return inspect([](StorageReader& reader) { return reader.idle_code(WallTime(hours(5)), 10); })
        ->size();
  };

  commit({drop});
  EXPECT_EQ(idle(), 0u);
  commit({Erase<model::Job>{first.key}, drop});
  EXPECT_TRUE(*store->asset({"w"}, AssetKind::Code, "c1", "1"));
  commit({Erase<model::Job>{second.key}});
  EXPECT_EQ(idle(), 1u);
  commit({drop});

  EXPECT_FALSE(*store->asset({"w"}, AssetKind::Code, "c1", "1"));
  EXPECT_EQ(paths("azureml-blobstore"), Paths{"code/c1-not/x"});
}

TEST_F(DropTest, ASubmitThatComesBeforeTheDropKeepsTheCode) {
  commit({PutAsset{code("c1", "https://h:1/blob/w/azureml-blobstore/code/c1")},
          PutBlob{data("code/c1/train.py")}});
  model::Job job = over(1, "first");
  command_of(job.spec.edit()).code_id = "azureml:c1:1";
  store->commit({Put<model::Job>{job}}, {});
  commit({DropCode{{{"w"}, "c1", "1"}}});

  EXPECT_TRUE(*store->asset({"w"}, AssetKind::Code, "c1", "1"));
  EXPECT_EQ(paths("azureml-blobstore").size(), 1u);
}

TEST_F(DropTest, AnUploadGoesWhenNeitherJobNorAssetNamesIt) {
  model::Job job = over(1, "train");
  job.spec.edit().inputs["rows"].uri =
      "azureml://datastores/workspaceblobstore/paths/LocalUpload/aaa/rows/";
  commit({Put<model::Job>{job}, PutBlob{data("LocalUpload/aaa/rows/1")},
          PutBlob{data("LocalUpload/bbb/rows/1")}, PutBlob{data("LocalUpload/ccc/rows/1")},
          PutAsset{registered(AssetKind::Data, "rows",
                              "azureml://datastores/workspaceblobstore/paths/LocalUpload/bbb/")}});
  const auto idle = [&] {
    return *inspect(
        [](StorageReader& reader) { return reader.idle_uploads(WallTime(hours(1)), 10); });
  };

  ASSERT_EQ(idle().size(), 1u);
  EXPECT_EQ(idle().front().prefix, "LocalUpload/ccc/");
  commit({DropUpload{{{"w"}, "LocalUpload/aaa/"}}, DropUpload{{{"w"}, "LocalUpload/bbb/"}},
          DropUpload{{{"w"}, "LocalUpload/ccc/"}}});
  EXPECT_EQ(paths("azureml-blobstore").size(), 2u);
  commit({Erase<model::Job>{job.key}, DropUpload{{{"w"}, "LocalUpload/aaa/"}}});
  EXPECT_EQ(paths("azureml-blobstore"), Paths{"LocalUpload/bbb/rows/1"});
}

TEST_F(DropTest, BlocksGoWhenNoneOfTheirBlobIsYoung) {
  const auto block = [&](const std::string& path, const std::string& id, int hour) {
    return PutBlock{{.key = {{"w"}, "c", path},
                     .id = id,
                     .piece = object(path + id),
                     .created_at = WallTime(hours(hour))}};
  };
  commit(
      {block("old", "a", 1), block("old", "b", 2), block("mixed", "a", 1), block("mixed", "b", 9)});
  const auto stale =
      *inspect([](StorageReader& reader) { return reader.stale_blocks(WallTime(hours(5)), 10); });
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_EQ(stale.front().path, "old");

  commit({DropStaleBlocks{{{"w"}, "c", "old"}, WallTime(hours(5))},
          DropStaleBlocks{{{"w"}, "c", "mixed"}, WallTime(hours(5))}});
  EXPECT_TRUE(store->blocks({{"w"}, "c", "old"})->empty());
  EXPECT_EQ(store->blocks({{"w"}, "c", "mixed"})->size(), 2u);
}

TEST_F(DropTest, AllFilesAreListedPageByPage) {
  commit({PutBlob{data("a")}, PutBlob{data("b")}, PutBlob{artifact("a")},
          PutBlock{{.key = {{"w"}, "c", "p"}, .id = "1", .piece = object("one")}},
          PutBlock{{.key = {{"w"}, "c", "p"}, .id = "2", .piece = object("two")}}});
  for (const std::size_t limit : {1u, 2u, 3u, 100u}) {
    std::vector<std::string> seen;
    FileCursor cursor;
    while (!cursor.is_end) {
      const StoredFiles page =
          *inspect([&](StorageReader& reader) { return reader.files(cursor, limit); });
      for (const StoredFile& each : page.files) {
        EXPECT_EQ(each.pieces.size(), 1u);
        seen.push_back(each.key.container + "/" + each.key.path + each.block);
      }
      cursor = page.next;
    }
    EXPECT_EQ(seen,
              (Paths{"azureml/a", "azureml-blobstore/a", "azureml-blobstore/b", "c/p1", "c/p2"}))
        << limit;
  }
}

TEST_F(DropTest, JobsAreSelectedByAgeStatusTagAndExperiment) {
  model::Job failed = over(2, "failed");
  failed.status = JobStatus::Failed;
  failed.tags["sweep"] = "a";
  model::Job other = over(3, "other");
  other.spec.edit().experiment_name = "else";
  commit({Put<model::Job>{over(1, "first")}, Put<model::Job>{failed}, Put<model::Job>{other},
          Put<model::Job>{over(9, "late")}, Put<model::Job>{job(10, "live", JobStatus::Running)}});
  const auto names = [&](JobSelection selection) {
    selection.workspace = {"w"};
    std::vector<std::string> found;
    const auto selected = *inspect([&](StorageReader& reader) { return reader.jobs(selection); });
    for (const model::Job& each : selected.jobs) found.push_back(each.key.name);
    return found;
  };

  EXPECT_EQ(names({}), (Paths{"first", "failed", "other", "late"}));
  EXPECT_EQ(names({.ended_before = WallTime(hours(5))}), (Paths{"first", "failed", "other"}));
  EXPECT_EQ(names({.statuses = {JobStatus::Failed}}), Paths{"failed"});
  EXPECT_EQ(names({.tag_key = "sweep"}), Paths{"failed"});
  EXPECT_EQ(names({.tag_key = "sweep", .tag_value = "b"}), Paths{});
  EXPECT_EQ(names({.experiment = "else"}), Paths{"other"});
  EXPECT_EQ(names({.names = {"late", "live", "nobody"}}), Paths{"late"});
  const auto page = *inspect(
      [&](StorageReader& reader) { return reader.jobs({.workspace = {"w"}, .limit = 2}); });
  ASSERT_TRUE(page.next);
  EXPECT_EQ(names({.after = *page.next}), (Paths{"other", "late"}));
}

}  // namespace
}  // namespace berth::store
