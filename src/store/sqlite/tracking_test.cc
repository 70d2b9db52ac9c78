// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

using model::Comparison;
using model::Entity;
using model::Operator;

const model::WorkspaceId kWorkspace{"ws"};

class TrackingTest : public StoreFixture {
 protected:
  TrackingTest() {
    EXPECT_TRUE(try_commit({Put<model::Workspace>{{.id = kWorkspace, .name = "default"}}}));
  }

  Tracking& tracking() { return store->tracking(); }
  Status change(TrackingChange change) { return try_commit({Track{std::move(change)}}); }
  static model::RunKey key(const std::string& id) { return {kWorkspace, id}; }
  void make_run(const std::string& id, int started_at, const std::string& experiment = "0",
                model::TagMap tags = {}) {
    ASSERT_TRUE(change(PutRun{{.key = key(id),
                               .experiment = experiment,
                               .name = "run " + id,
                               .user = "ana",
                               .started_at = WallTime(Duration(started_at))},
                              std::move(tags)}));
  }
  std::vector<std::string> found(Search search) {
    search.workspace = kWorkspace;
    if (search.experiments.empty()) search.experiments = {"0"};
    const auto runs = tracking().runs(search);
    EXPECT_TRUE(runs) << (runs ? "" : runs.error().message);
    std::vector<std::string> ids;
    for (const auto& run : runs.value_or(std::vector<model::LoggedRun>())) {
      ids.push_back(run.run.key.name);
    }
    return ids;
  }
  static Search where(Comparison comparison) { return {.filter = {std::move(comparison)}}; }

  using Ids = std::vector<std::string>;
};

model::Job job_named(const std::string& name, const std::string& experiment) {
  model::Job job;
  job.key = {kWorkspace, name};
  job.sequence = static_cast<std::int64_t>(std::hash<std::string>()(name) >> 1);
  job.spec.edit().experiment_name = experiment;
  job.created_by = "ana";
  job.created_at = WallTime(Duration(1000));
  return job;
}

TEST_F(TrackingTest, AWorkspaceHasTheDefaultExperiment) {
  const auto experiment = tracking().experiment(kWorkspace, "0");
  ASSERT_TRUE(experiment && *experiment);
  EXPECT_EQ((*experiment)->name, "Default");
  EXPECT_TRUE(*tracking().is_experiment_name_taken(kWorkspace, "Default"));
  EXPECT_FALSE(*tracking().is_experiment_name_taken(kWorkspace, "other"));
}

TEST_F(TrackingTest, EveryJobIsARunThatFollowsIt) {
  model::Job job = job_named("train", "harbour");
  job.tags = {{"team", "north"}};
  ASSERT_TRUE(try_commit({Put<model::Job>{job}}));
  auto run = *tracking().logged_run(key("train"));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->run.status, model::RunStatus::Scheduled);
  EXPECT_EQ(run->run.name, "train");
  EXPECT_EQ(run->tags.at("team"), "north");
  EXPECT_EQ((*tracking().experiment_named(kWorkspace, "harbour"))->id, run->run.experiment);

  job.status = model::JobStatus::Running;
  job.started_at = WallTime(Duration(2000));
  job.display_name = "a trainer";
  job.tags = {{"stage", "trial"}};
  ASSERT_TRUE(try_commit({Put<model::Job>{job}}));
  run = *tracking().logged_run(key("train"));
  EXPECT_EQ(run->run.status, model::RunStatus::Running);
  EXPECT_EQ(run->run.started_at, WallTime(Duration(2000)));
  EXPECT_EQ(run->run.name, "a trainer");
  EXPECT_FALSE(run->tags.contains("team"));
  EXPECT_EQ(run->tags.at("stage"), "trial");

  job.status = model::JobStatus::Failed;
  job.ended_at = WallTime(Duration(3000));
  ASSERT_TRUE(try_commit({Put<model::Job>{job}}));
  EXPECT_EQ((*tracking().run(key("train")))->status, model::RunStatus::Failed);
  EXPECT_EQ((*tracking().run(key("train")))->ended_at, WallTime(Duration(3000)));

  ASSERT_TRUE(change(LogToRun{.run = key("train"), .metrics = {{.key = "m", .value = 1}}}));
  ASSERT_TRUE(try_commit({Erase<model::Job>{job.key}}));
  EXPECT_FALSE(*tracking().run(key("train")));
  EXPECT_FALSE(*tracking().latest_metric(key("train"), "m"));
}

TEST_F(TrackingTest, TwoJobsShareAnExperimentAndBringItBackWhenItWasDeleted) {
  ASSERT_TRUE(try_commit({Put<model::Job>{job_named("one", "harbour")},
                          Put<model::Job>{job_named("two", "harbour")}}));
  const std::string id = (*tracking().experiment_named(kWorkspace, "harbour"))->id;
  EXPECT_EQ((*tracking().run(key("two")))->experiment, id);
  ASSERT_TRUE(change(MarkExperiment{kWorkspace, id, true, {}}));
  EXPECT_TRUE((*tracking().run(key("one")))->is_deleted);
  ASSERT_TRUE(try_commit({Put<model::Job>{job_named("three", "harbour")}}));
  EXPECT_FALSE((*tracking().experiment(kWorkspace, id))->is_deleted);
  EXPECT_FALSE((*tracking().run(key("three")))->is_deleted);
  EXPECT_TRUE((*tracking().run(key("one")))->is_deleted);
}

TEST_F(TrackingTest, AJobIsToldTheExperimentOfItsRunAlsoAfterARename) {
  const auto submit = [&](std::int64_t sequence) {
    model::Job job = job_named("job-" + std::to_string(sequence), "harbour");
    job.sequence = sequence;
    EXPECT_TRUE(try_commit({Put<model::Job>{job}}));
    return job;
  };
  const auto run_in = [&](const model::Job& job) { return (*tracking().run(job.key))->experiment; };
  const model::Job one = submit(1);
  const model::Job two = submit(2);
  EXPECT_EQ(*store->experiment_of(one), run_in(one));
  EXPECT_EQ(*store->experiment_of(two), run_in(one));

  auto harbour = **tracking().experiment_named(kWorkspace, "harbour");
  harbour.name = "port";
  ASSERT_TRUE(change(PutExperiment{harbour}));
  const model::Job three = submit(3);
  ASSERT_NE(run_in(three), run_in(one));

  for (const model::Job& job : {one, three, two, submit(4)}) {
    EXPECT_EQ(*store->experiment_of(job), run_in(job)) << job.key.name;
  }
  model::Job unknown = job_named("unknown", "harbour");
  unknown.sequence = 0;
  EXPECT_EQ(*store->experiment_of(unknown), "0");
}

TEST_F(TrackingTest, TheLatestPointIsTheHighestStepThenTimestampThenValue) {
  make_run("a", 1);
  const model::Metric points[] = {{.key = "m", .value = 1, .timestamp = 10, .step = 0},
                                  {.key = "m", .value = 5, .timestamp = 5, .step = 3},
                                  {.key = "m", .value = 4, .timestamp = 5, .step = 3},
                                  {.key = "m", .value = 9, .timestamp = 99, .step = 1},
                                  {.key = "m", .value = 5, .timestamp = 5, .step = 3}};
  for (const model::Metric& point : points) {
    ASSERT_TRUE(change(LogToRun{.run = key("a"), .metrics = {point}}));
  }
  const auto latest = *tracking().latest_metric(key("a"), "m");
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->value, 5);
  const auto history = *tracking().history({.run = key("a"), .key = "m"});
  ASSERT_EQ(history.size(), 4u);  // The same point twice is one.
  EXPECT_EQ(history[0].value, 4);
  EXPECT_EQ(history[3].timestamp, 99);
}

TEST_F(TrackingTest, AHistoryIsReadPageByPage) {
  make_run("a", 1);
  LogToRun log{.run = key("a")};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, nan, -1.5, infinity, -infinity}) {
    for (int step = 0; step < 3; ++step) {
      log.metrics.push_back({.key = "m", .value = value, .timestamp = 7, .step = step});
    }
  }
  ASSERT_TRUE(change(log));
  std::vector<model::Metric> all;
  HistoryQuery query{.run = key("a"), .key = "m", .limit = 2};
  for (auto page = *tracking().history(query); !page.empty(); page = *tracking().history(query)) {
    all.insert(all.end(), page.begin(), page.end());
    query.after = all.back();
  }
  ASSERT_EQ(all.size(), 15u);
  EXPECT_EQ(all[0].value, -infinity);
  EXPECT_EQ(all[1].value, -1.5);
  EXPECT_EQ(all[2].value, 0);
  EXPECT_TRUE(std::isnan(all[3].value));
  EXPECT_EQ(all[4].value, infinity);
  EXPECT_EQ(all[4].step, 0);
  EXPECT_EQ(all[14].step, 2);
}

TEST_F(TrackingTest, AParameterOnItsWayToTheDiskIsSeen) {
  make_run("a", 1);
  store->commit({Track{LogToRun{.run = key("a"), .params = {{"depth", "3"}}}}}, {});
  EXPECT_EQ(*tracking().param(key("a"), "depth"), "3");
  EXPECT_EQ(*tracking().param(key("a"), "other"), std::nullopt);
  ASSERT_TRUE(change(LogToRun{.run = key("a"), .params = {{"depth", "4"}}}));
  EXPECT_EQ(*tracking().param(key("a"), "depth"), "3");
}

TEST_F(TrackingTest, ANameOnItsWayToTheDiskIsTaken) {
  store->commit({Track{PutExperiment{{.workspace = kWorkspace, .id = "7", .name = "mine"}}}}, {});
  store->commit({Put<model::Job>{job_named("train", "the job's")}}, {});
  EXPECT_TRUE(*tracking().is_experiment_name_taken(kWorkspace, "mine"));
  EXPECT_TRUE(*tracking().is_experiment_name_taken(kWorkspace, "the job's"));
  EXPECT_FALSE(*tracking().is_experiment_name_taken({"other"}, "mine"));
  store->flush();
}

TEST_F(TrackingTest, WhatIsLoggedToARunThatIsGoneIsPassedOver) {
  EXPECT_TRUE(change(LogToRun{.run = key("x"), .metrics = {{.key = "m"}}, .tags = {{"a", "b"}}}));
  EXPECT_TRUE(change(ChangeRun{.run = key("x"), .name = "y"}));
  EXPECT_TRUE(
      change(ChangeLoggedModel{.workspace = kWorkspace, .id = "m-1", .tags = {{"a", "b"}}}));
}

TEST_F(TrackingTest, TextsThatLookLikeSqlAreTexts) {
  const std::string nasty = "'); DROP TABLE runs; --";
  make_run("a", 1, "0", {{nasty, nasty}});
  EXPECT_EQ(found(where({Entity::Tag, nasty, Operator::Equal, nasty})), Ids{"a"});
  EXPECT_EQ(found(where({Entity::Tag, nasty, Operator::Like, "%DROP%"})), Ids{"a"});
  EXPECT_EQ(found(where({Entity::Param, nasty, Operator::Equal, nasty})), Ids{});
  EXPECT_EQ(found({.order = {{Entity::Metric, nasty, false}}}), Ids{"a"});
}

TEST_F(TrackingTest, ComparisonsMeanWhatMlflowMeans) {
  make_run("a", 1, "0", {{"team", "north"}});
  make_run("b", 2, "0", {{"team", "North"}});
  make_run("c", 3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(change(LogToRun{.run = key("a"), .metrics = {{.key = "loss", .value = 0.1}}}));
  ASSERT_TRUE(change(LogToRun{.run = key("b"), .metrics = {{.key = "loss", .value = nan}}}));
  EXPECT_EQ(found({}), (Ids{"c", "b", "a"}));
  EXPECT_EQ(found(where({Entity::Metric, "loss", Operator::Less, 1.0})), Ids{"a"});
  EXPECT_EQ(found(where({Entity::Metric, "loss", Operator::NotEqual, 0.1})), Ids{"b"});
  EXPECT_EQ(found(where({Entity::Metric, "loss", Operator::Equal, 0.0})), Ids{});
  EXPECT_EQ(found(where({Entity::Tag, "team", Operator::NotEqual, "north"})), Ids{"b"});
  EXPECT_EQ(found(where({Entity::Tag, "team", Operator::Like, "N%"})), Ids{"b"});
  EXPECT_EQ(found(where({Entity::Tag, "team", Operator::ILike, "N%"})), (Ids{"b", "a"}));
  EXPECT_EQ(found(where({Entity::Tag, "team", Operator::IsNull, {}})), Ids{"c"});
  EXPECT_EQ(found(where({Entity::Tag, "team", Operator::IsNotNull, {}})), (Ids{"b", "a"}));
  EXPECT_EQ(found(where({Entity::Tag, "mlflow.runName", Operator::Equal, "run c"})), Ids{"c"});
  EXPECT_EQ(found(where({Entity::Attribute, "run_id", Operator::In,
                         std::vector<std::string>{"a", "c", "x"}})),
            (Ids{"c", "a"}));
  EXPECT_EQ(found(where({Entity::Attribute, "run_id", Operator::NotIn,
                         std::vector<std::string>{"a", "c"}})),
            Ids{"b"});
  EXPECT_EQ(found(where({Entity::Attribute, "start_time", Operator::GreaterEqual, 2.0})),
            (Ids{"c", "b"}));
  EXPECT_EQ(found(where({Entity::Attribute, "end_time", Operator::NotEqual, 2.0})), Ids{});
}

TEST_F(TrackingTest, WhatCannotBeSearchedForIsAnErrorOfTheCaller) {
  Search search{.workspace = kWorkspace, .experiments = {"0"}};
  search.filter = {{Entity::Attribute, "colour", Operator::Equal, "red"}};
  EXPECT_EQ(tracking().runs(search).error().code, Code::InvalidArgument);
  search.filter = {{Entity::Dataset, "colour", Operator::Equal, "red"}};
  EXPECT_EQ(tracking().runs(search).error().code, Code::InvalidArgument);
  search.filter = {{Entity::Metric, "m", Operator::Equal, 1.0}};
  EXPECT_EQ(tracking().experiments(search).error().code, Code::InvalidArgument);
}

TEST_F(TrackingTest, OrdersPutWhatIsMissingLast) {
  make_run("a", 1);
  make_run("b", 2);
  make_run("c", 3);
  make_run("d", 4);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [id, value] : {std::pair("a", 2.0), std::pair("b", 1.0), std::pair("c", nan)}) {
    ASSERT_TRUE(change(LogToRun{.run = key(id), .metrics = {{.key = "m", .value = value}}}));
  }
  EXPECT_EQ(found({.order = {{Entity::Metric, "m", true}}}), (Ids{"b", "a", "c", "d"}));
  EXPECT_EQ(found({.order = {{Entity::Metric, "m", false}}}), (Ids{"a", "b", "c", "d"}));
  EXPECT_EQ(found({.order = {{Entity::Param, "p", false}, {Entity::Attribute, "run_id", false}}}),
            (Ids{"d", "c", "b", "a"}));
  EXPECT_EQ(found({.order = {{Entity::Attribute, "start_time", true}}, .skip = 1, .limit = 2}),
            (Ids{"b", "c"}));
}

TEST_F(TrackingTest, ManyExperimentsAreOneList) {
  for (const std::size_t count : {3u, 150u}) {  // Apart, and together.
    std::vector<std::string> experiments;
    for (std::size_t i = 0; i < count; ++i) {
      experiments.push_back(fmt::format("{}-{}", count, i));
      ASSERT_TRUE(change(PutExperiment{
          {.workspace = kWorkspace, .id = experiments.back(), .name = experiments.back()}}));
    }
    for (int i = 0; i < 9; ++i) {
      make_run(fmt::format("{}r{}", count, i), i, experiments[static_cast<std::size_t>(i) % 3]);
    }
    ASSERT_TRUE(change(ChangeRun{.run = key(fmt::format("{}r4", count)), .is_deleted = true}));
    const auto id = [&](int i) { return fmt::format("{}r{}", count, i); };
    EXPECT_EQ(found({.experiments = experiments, .skip = 2, .limit = 3}),
              (Ids{id(6), id(5), id(3)}));
    EXPECT_EQ(found({.experiments = experiments, .view = LifeView::Deleted}), Ids{id(4)});
    EXPECT_EQ(found({.experiments = experiments, .view = LifeView::All, .skip = 3, .limit = 3}),
              (Ids{id(5), id(4), id(3)}));
  }
}

TEST_F(TrackingTest, LoggedModelsAreFoundByTheirMetricsOnADataset) {
  const auto model = [](const std::string& id, int at) {
    return PutLoggedModel{{.workspace = kWorkspace,
                           .id = id,
                           .experiment = "0",
                           .name = "net",
                           .created_at = WallTime(Duration(at))}};
  };
  make_run("a", 1);
  ASSERT_TRUE(change(model("m-1", 1)));
  ASSERT_TRUE(change(model("m-2", 2)));
  ASSERT_TRUE(change(LogToRun{.run = key("a"),
                              .metrics = {{.key = "loss",
                                           .value = 0.5,
                                           .model_id = "m-1",
                                           .dataset_name = "rows",
                                           .dataset_digest = "d1"},
                                          {.key = "loss", .value = 0.1, .model_id = "m-2"}}}));
  const auto found_models = [&](Search search, std::vector<DatasetFilter> datasets) {
    search.workspace = kWorkspace;
    search.experiments = {"0"};
    const auto models = tracking().logged_models(search, datasets);
    std::vector<std::string> ids;
    for (const auto& each : *models) ids.push_back(each.id);
    return ids;
  };
  const Search low = where({Entity::Metric, "loss", Operator::Less, 1.0});
  EXPECT_EQ(found_models(low, {}), (Ids{"m-2", "m-1"}));
  EXPECT_EQ(found_models(low, {{.name = "rows"}}), Ids{"m-1"});
  EXPECT_EQ(found_models(low, {{.name = "rows", .digest = "d2"}}), Ids{});
  EXPECT_EQ(found_models({.order = {{Entity::Metric, "loss", false}}}, {}), (Ids{"m-1", "m-2"}));
  EXPECT_EQ((*tracking().logged_model(kWorkspace, "m-1"))->metrics[0].run_id, "a");
}

TEST_F(TrackingTest, AWorkspaceTakesWhatWasLoggedWithIt) {
  make_run("a", 1, "0", {{"t", "1"}});
  ASSERT_TRUE(change(LogToRun{.run = key("a"), .metrics = {{.key = "m"}}, .params = {{"p", "1"}}}));
  ASSERT_TRUE(try_commit({Erase<model::Workspace>{kWorkspace}}));
  EXPECT_FALSE(*tracking().run(key("a")));
  EXPECT_FALSE(*tracking().experiment(kWorkspace, "0"));
}

TEST_F(TrackingTest, APageOfLargeRunsIsShorterAndSaysSo) {
  for (int number = 0; number < 12; ++number) {
    const std::string id = fmt::format("r{:02}", number);
    make_run(id, number);
    LogToRun log{.run = key(id)};
    for (int i = 0; i < 128; ++i) log.params[fmt::format("p{}", i)] = std::string(6000, 'x');
    ASSERT_TRUE(change(std::move(log)));
  }
  std::size_t seen = 0;
  int pages = 0;
  for (bool has_more = true; has_more; ++pages) {
    const Page<model::LoggedRun> page =
        tracking()
            .runs({.workspace = kWorkspace, .experiments = {"0"}, .skip = seen, .limit = 1000})
            .value();
    ASSERT_FALSE(page.empty());
    seen += page.size();
    has_more = page.is_cut;
  }
  EXPECT_EQ(seen, 12u);
  EXPECT_GT(pages, 1);
}

TEST_F(TrackingTest, WhatARunShowsIsCounted) {
  make_run("a", 1);
  LogToRun log{.run = key("a"), .params = {{"depth", std::string(1000, '3')}}};
  log.metrics = {{.key = "loss", .value = 1}, {.key = "loss", .value = 2, .step = 1}};
  log.tags = {{"note", std::string(500, 'x')}};
  ASSERT_TRUE(change(std::move(log)));

  const std::size_t bytes = tracking().shown_bytes(key("a")).value();

  EXPECT_GT(bytes, 1500u);
  EXPECT_LT(bytes, 2000u) << "of each metric only the latest point is shown";
}

}  // namespace
}  // namespace berth::store
