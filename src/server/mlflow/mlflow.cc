// SPDX-License-Identifier: Apache-2.0
#include "server/mlflow/mlflow.h"

#include "base/caught.h"
#include "base/text.h"
#include "server/plane/ledger.h"
#include "wire/mlflow/limits.h"
#include "wire/mlflow/tracking.h"

namespace berth::server {

namespace mlflow = wire::mlflow;
using mlflow::Message;

Result<Message> message_of(const Call& call) {
  const std::string& method = call.request.head.method;
  if (method == "GET") return Message::of_query(call.query);
  boost::json::value body = TRY(json_body(call, true));
  return Message(std::move(body.get_object()));
}

store::Tracking& tracking_of(const Call& call) { return call.services.store.tracking(); }

void track(const Call& call, store::TrackingChange change) {
  call.services.ledger.write({store::Track{std::move(change)}});
}

namespace {

Result<model::Experiment> existing_experiment(const Call& call, const std::string& id) {
  std::optional<model::Experiment> found =
      TRY(tracking_of(call).experiment(call.workspace->id, id));
  if (found) return *std::move(found);
  return fail(Code::NotFound, fmt::format("no experiment with id '{}'", to_valid_utf8(id)));
}

Status check_is_active(const model::Experiment& experiment) {
  if (!experiment.is_deleted) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("experiment '{}' is deleted: restore it first", experiment.id));
}

}  // namespace

Result<model::Experiment> find_experiment(const Call& call, const std::string& id, Touch touch) {
  model::Experiment experiment = TRY(existing_experiment(call, id));
  TRY(check_reach(call, experiment, touch));
  return experiment;
}

Result<model::Experiment> find_active_experiment(const Call& call, const std::string& id) {
  model::Experiment experiment = TRY(find_experiment(call, id, Touch::Write));
  TRY(check_is_active(experiment));
  return experiment;
}

Result<model::Experiment> find_experiment_to_add_to(const Call& call, const std::string& id) {
  model::Experiment experiment = TRY(existing_experiment(call, id));
  TRY(check_may_add_to(call, experiment));
  TRY(check_is_active(experiment));
  return experiment;
}

Result<model::Run> find_run(const Call& call, const std::string& id, Touch touch) {
  std::optional<model::Run> found = TRY(tracking_of(call).run({call.workspace->id, id}));
  if (!found) {
    return fail(Code::NotFound, fmt::format("no run with id '{}'", to_valid_utf8(id)));
  }
  TRY(check_reach(call, *found, touch));
  return *std::move(found);
}

Result<model::Run> find_active_run(const Call& call, const std::string& id) {
  model::Run run = TRY(find_run(call, id, Touch::Write));
  if (!run.is_deleted) return run;
  return fail(Code::InvalidArgument, fmt::format("run '{}' is deleted: restore it first", id));
}

namespace {

Result<std::vector<model::Ordering>> order_of(const Message& message, mlflow::Subject subject) {
  std::vector<model::Ordering> order;
  for (const std::string& clause : TRY(message.texts("order_by"))) {
    model::Ordering next = TRY(mlflow::parse_order(subject, clause));
    for (const model::Ordering& other : order) {
      if (other.entity == next.entity && other.key == next.key) {
        return fail(Code::InvalidArgument, fmt::format("'order_by' names '{}' twice", next.key),
                    "order_by");
      }
    }
    order.push_back(std::move(next));
  }
  return order;
}

}  // namespace

Result<store::Search> search_of(const Call& call, const Message& message, mlflow::Subject subject) {
  store::Search search{.workspace = call.workspace->id};
  search.only = TRY(search_reach(call));
  const std::string text = TRY(message.text("filter"));
  search.filter = TRY(mlflow::parse_filter(subject, text));
  // Logged models are ordered by objects, which their routes read.
  if (subject != mlflow::Subject::LoggedModels) search.order = TRY(order_of(message, subject));
  const std::int64_t asked = TRY(message.integer("max_results")).value_or(1000);
  search.limit = TRY(mlflow::checked_page_size(asked, mlflow::kMostResults)) + 1;
  search.skip = TRY(mlflow::offset_of_token(TRY(message.text("page_token"))));
  return search;
}

std::string token_behind(const store::Search& search, std::size_t shown) {
  return mlflow::token_of_offset(search.skip + shown);
}

io::Reply search_later(Call& call, std::function<Result<io::Reply>(store::Tracking&)> find) {
  call.is_recorded = true;
  call.services.store.search([find = std::move(find), respond = call.respond](
                                 store::Tracking& tracking) -> std::function<void()> {
    return [respond, reply = caught("a search", [&] { return find(tracking); })]() mutable {
      respond(std::move(reply));
    };
  });
  return later();
}

io::Reply recorded(Call& call, const boost::json::value& body) {
  call.is_recorded = true;
  return json_reply(200, body);
}

}  // namespace berth::server
