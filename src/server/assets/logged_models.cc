// SPDX-License-Identifier: Apache-2.0
#include "server/assets/logged_models.h"

#include <algorithm>

#include "base/text.h"
#include "model/assets/reference.h"

namespace berth::server {

Result<std::vector<model::LoggedModel>> logged_models_of(store::Tracking& tracking,
                                                         const model::RunKey& run,
                                                         const std::string& name,
                                                         std::size_t limit) {
  const std::optional<model::Run> found = TRY(tracking.run(run));
  if (!found) return std::vector<model::LoggedModel>();
  store::Search search{.workspace = run.workspace,
                       .experiments = {found->experiment},
                       .filter = {{.key = "source_run_id", .value = run.name}},
                       .limit = limit};
  if (!name.empty()) search.filter.push_back({.key = "name", .value = name});
  return tracking.logged_models(search, {});
}

Result<std::optional<std::string>> path_of_logged_model(store::Tracking& tracking,
                                                        const model::RunKey& run,
                                                        const std::string& artifact) {
  constexpr std::string_view kScheme = "mlflow-artifacts:/";
  const std::string name = artifact.substr(0, artifact.find('/'));
  if (name.empty()) return std::nullopt;
  const auto models = TRY(logged_models_of(tracking, run, name, 1));
  if (models.empty()) return std::nullopt;
  const std::string uri = model::artifact_uri(models.front());
  if (!uri.starts_with(kScheme)) return std::nullopt;
  std::string_view place = std::string_view(uri).substr(kScheme.size());
  while (place.starts_with('/')) place.remove_prefix(1);
  std::string path = std::string(place) + artifact.substr(name.size());
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace berth::server
