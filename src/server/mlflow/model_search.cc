// SPDX-License-Identifier: Apache-2.0
#include "server/mlflow/model_search.h"

#include "wire/mlflow/limits.h"
#include "wire/mlflow/registry.h"
#include "wire/mlflow/tracking.h"

namespace berth::server {

namespace mlflow = wire::mlflow;

Result<store::ModelQuery> model_query(const Call& call, const mlflow::Message& message,
                                      mlflow::Subject subject, PageSizes sizes) {
  store::ModelQuery query{.workspace = call.workspace->id};
  query.filter = TRY(mlflow::parse_filter(subject, TRY(message.text("filter"))));
  for (const std::string& clause : TRY(message.texts("order_by"))) {
    const model::Ordering next = TRY(mlflow::parse_order(subject, clause));
    const bool is_twice = std::ranges::count(query.order, next.key, &model::Ordering::key) > 0;
    if (is_twice) {
      return fail(Code::InvalidArgument, fmt::format("'order_by' names '{}' twice", next.key),
                  "order_by");
    }
    query.order.push_back(next);
  }
  const std::int64_t asked = TRY(message.integer("max_results")).value_or(sizes.usual);
  query.limit = TRY(mlflow::checked_page_size(asked, sizes.most)) + 1;
  query.skip = TRY(mlflow::offset_of_token(TRY(message.text("page_token"))));
  return query;
}

std::string token_after(const store::ModelQuery& query, std::size_t shown) {
  return mlflow::token_of_offset(query.skip + shown);
}

Result<std::vector<model::Asset>> latest_versions(const Call& call, const std::string& name) {
  // They come in the order of their numbers. Azure ML's own stages are all "None" to MLflow.
  std::map<std::string_view, model::Asset> highest;
  for (model::Asset& version :
       TRY(call.services.store.latest_of_stages(call.workspace->id, name))) {
    const std::string_view stage = mlflow::stage_of(version);
    highest.insert_or_assign(stage, std::move(version));
  }
  std::vector<model::Asset> latest;
  for (auto& [stage, version] : highest) latest.push_back(std::move(version));
  return latest;
}

}  // namespace berth::server
