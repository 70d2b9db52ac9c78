// SPDX-License-Identifier: Apache-2.0
// MLflow's searches among models and their versions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "server/door/call.h"
#include "wire/mlflow/filter.h"
#include "wire/mlflow/message.h"

namespace berth::server {

struct PageSizes {
  std::int64_t usual = 100;
  std::int64_t most = 1000;
};

/// Reads `filter`, `order_by`, `max_results` and `page_token`. Asks for one more than the page
/// holds.
Result<store::ModelQuery> model_query(const Call& call, const wire::mlflow::Message& message,
                                      wire::mlflow::Subject subject, PageSizes sizes);

std::string token_after(const store::ModelQuery& query, std::size_t shown);

/// Takes off the one row too many, and says where the list goes on; empty: nowhere.
template <typename Row>
std::string take_model_page(store::Page<Row>& rows, const store::ModelQuery& query) {
  if (!rows.is_cut && rows.size() < query.limit) return {};
  if (rows.size() == query.limit) rows.pop_back();
  return token_after(query, rows.size());
}

/// Of the numbered versions in each of MLflow's stages, the highest.
Result<std::vector<model::Asset>> latest_versions(const Call& call, const std::string& name);

}  // namespace berth::server
