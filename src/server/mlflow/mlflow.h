// SPDX-License-Identifier: Apache-2.0
// What the routes below /mlflow/v1.0/<workspace> have in common.
#pragma once

#include <string>

#include "base/result.h"
#include "model/tracking.h"
#include "server/door/call.h"
#include "server/door/job_reach.h"
#include "server/door/run_actions.h"
#include "server/keys/principal.h"
#include "store/tracking.h"
#include "wire/mlflow/filter.h"
#include "wire/mlflow/message.h"

namespace berth::server {

/// For who may do `action`, and for jobs in their own workspace: a script logs, searches and loads
/// models with the job's token, as far as that reaches (server/door/job_reach.h). Deleting is not
/// for jobs.
constexpr Permission allow_jobs(const char* action) {
  return {.kind = Permission::Kind::Action, .action = action, .is_for_jobs = true};
}
constexpr Permission allow_people(const char* action) {
  return {.kind = Permission::Kind::Action, .action = action};
}

/// The body, or with GET the query.
Result<wire::mlflow::Message> message_of(const Call& call);

store::Tracking& tracking_of(const Call& call);
/// Hands the change to the store; the answer waits for it.
void track(const Call& call, store::TrackingChange change);

/// NotFound: there is none. Forbidden: the token of a job does not reach it
/// (server/door/job_reach.h). Experiments and runs may be deleted (in MLflow's sense).
Result<model::Experiment> find_experiment(const Call& call, const std::string& id, Touch touch);
Result<model::Run> find_run(const Call& call, const std::string& id, Touch touch);
/// The same to change them, and one that is deleted is refused.
Result<model::Experiment> find_active_experiment(const Call& call, const std::string& id);
Result<model::Run> find_active_run(const Call& call, const std::string& id);
/// The same to make runs and logged models in it.
Result<model::Experiment> find_experiment_to_add_to(const Call& call, const std::string& id);

/// `filter` (or `filter_string`), `order_by`, `max_results` and `page_token` of a request.
Result<store::Search> search_of(const Call& call, const wire::mlflow::Message& message,
                                wire::mlflow::Subject subject);
/// Takes off the one row that was read too many, and says where the list goes on; empty: nowhere.
template <typename Row>
std::string take_page(store::Page<Row>& rows, const store::Search& search);
std::string token_behind(const store::Search& search, std::size_t shown);

/// Answers later with what `find` makes of what is on disk, on another thread: it must not touch
/// the call.
io::Reply search_later(Call& call, std::function<Result<io::Reply>(store::Tracking&)> find);

/// The answer shows only what is on disk already.
io::Reply recorded(Call& call, const boost::json::value& body);

template <typename Row>
std::string take_page(store::Page<Row>& rows, const store::Search& search) {
  if (!rows.is_cut && rows.size() < search.limit) return {};
  if (rows.size() == search.limit) rows.pop_back();
  return token_behind(search, rows.size());
}

}  // namespace berth::server
