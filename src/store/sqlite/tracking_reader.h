// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/database/sqlite.h"
#include "store/overlay.h"
#include "store/tracking.h"

namespace berth::store {

class TrackingReader final : public Tracking {
 public:
  /// Both must outlive it.
  TrackingReader(Database& database, const Overlay& pending)
      : database_(database), pending_(pending) {}

  Result<std::optional<model::Experiment>> experiment(const model::WorkspaceId& workspace,
                                                      const std::string& id) override;
  Result<std::optional<model::Experiment>> experiment_named(const model::WorkspaceId& workspace,
                                                            const std::string& name) override;
  Result<bool> is_experiment_name_taken(const model::WorkspaceId& workspace,
                                        const std::string& name) override;
  Result<Page<model::Experiment>> experiments(const Search& search) override;

  Result<std::optional<model::Run>> run(const model::RunKey& key) override;
  Result<std::optional<model::LoggedRun>> logged_run(const model::RunKey& key) override;
  Result<Page<model::LoggedRun>> runs(const Search& search) override;
  Result<std::optional<std::string>> param(const model::RunKey& run,
                                           const std::string& key) override;
  Result<std::optional<std::string>> tag(const model::RunKey& run, const std::string& key) override;
  Result<std::size_t> shown_bytes(const model::RunKey& run) override;

  Result<std::optional<model::Metric>> latest_metric(const model::RunKey& run,
                                                     const std::string& key) override;
  Result<Page<model::Metric>> history(const HistoryQuery& query) override;

  Result<std::vector<DatasetSummary>> datasets(
      const model::WorkspaceId& workspace, const std::vector<std::string>& experiments) override;

  Result<std::optional<model::LoggedModel>> logged_model(const model::WorkspaceId& workspace,
                                                         const std::string& id) override;
  Result<Page<model::LoggedModel>> logged_models(
      const Search& search, const std::vector<DatasetFilter>& datasets) override;

 private:
  struct NumberedRun {
    std::int64_t number = 0;
    model::Run run{};
  };
  struct NumberedModel {
    std::int64_t number = 0;
    model::LoggedModel model{};
  };
  static NumberedRun read_run(const Cursor& row, const model::WorkspaceId& workspace);
  static NumberedModel read_model(const Cursor& row, const model::WorkspaceId& workspace);
  Result<std::optional<NumberedRun>> find_run(const model::RunKey& key);
  Result<std::int64_t> number_of(const model::RunKey& run);
  Result<model::LoggedRun> with_log(NumberedRun run);
  Status add_inputs(std::int64_t number, model::LoggedRun& run);
  Result<model::LoggedModel> with_log(NumberedModel model);
  Result<std::optional<model::Experiment>> first_experiment(Cursor rows);
  Result<model::TagMap> texts(std::string_view sql, std::int64_t owner);
  Result<model::TagMap> tags_of(const model::Experiment& experiment);

  Database& database_;
  const Overlay& pending_;
};

}  // namespace berth::store
