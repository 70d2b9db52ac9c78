// SPDX-License-Identifier: Apache-2.0
// MLflow's filters and orders: whatever is sent is read, or refused with a place that is in it.

#include "fuzz.h"
#include "wire/mlflow/filter.h"

using namespace berth;
using wire::mlflow::Subject;

FUZZ(input) {
  for (const Subject subject : {Subject::Runs, Subject::Experiments, Subject::RegisteredModels,
                                Subject::ModelVersions, Subject::LoggedModels}) {
    const auto filter = wire::mlflow::parse_filter(subject, input);
    if (!filter) fuzz::require(filter.error().code == Code::InvalidArgument, "the text is wrong");
    const auto order = wire::mlflow::parse_order(subject, input);
    if (!order) fuzz::require(order.error().code == Code::InvalidArgument, "the text is wrong");
    if (!filter) continue;
    for (const model::Comparison& comparison : *filter) {
      const bool is_null =
          comparison.op == model::Operator::IsNull || comparison.op == model::Operator::IsNotNull;
      fuzz::require(is_null == std::holds_alternative<std::monostate>(comparison.value),
                    "only being null needs no value");
    }
  }
}
