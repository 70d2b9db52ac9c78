// SPDX-License-Identifier: Apache-2.0
// For tests that log nothing.
#pragma once

#include "store/tracking.h"

namespace berth::server {

class FakeTracking final : public store::Tracking {
 public:
  using WorkspaceId = model::WorkspaceId;
  template <typename T>
  using Found = Result<std::optional<T>>;

  Found<model::Experiment> experiment(const WorkspaceId&, const std::string&) override {
    return std::nullopt;
  }
  Found<model::Experiment> experiment_named(const WorkspaceId&, const std::string&) override {
    return std::nullopt;
  }
  Result<bool> is_experiment_name_taken(const WorkspaceId&, const std::string&) override {
    return false;
  }
  Result<store::Page<model::Experiment>> experiments(const store::Search&) override {
    return store::Page<model::Experiment>{};
  }
  Found<model::Run> run(const model::RunKey&) override { return std::nullopt; }
  Found<model::LoggedRun> logged_run(const model::RunKey&) override { return std::nullopt; }
  Result<store::Page<model::LoggedRun>> runs(const store::Search&) override {
    return store::Page<model::LoggedRun>{};
  }
  Found<std::string> param(const model::RunKey&, const std::string&) override {
    return std::nullopt;
  }
  Found<std::string> tag(const model::RunKey&, const std::string&) override { return std::nullopt; }
  Result<std::size_t> shown_bytes(const model::RunKey&) override { return 0; }
  Found<model::Metric> latest_metric(const model::RunKey&, const std::string&) override {
    return std::nullopt;
  }
  Result<store::Page<model::Metric>> history(const store::HistoryQuery&) override {
    return store::Page<model::Metric>{};
  }
  Result<std::vector<store::DatasetSummary>> datasets(const WorkspaceId&,
                                                      const std::vector<std::string>&) override {
    return std::vector<store::DatasetSummary>{};
  }
  Found<model::LoggedModel> logged_model(const WorkspaceId&, const std::string&) override {
    return std::nullopt;
  }
  Result<store::Page<model::LoggedModel>> logged_models(
      const store::Search&, const std::vector<store::DatasetFilter>&) override {
    return store::Page<model::LoggedModel>{};
  }
};

}  // namespace berth::server
