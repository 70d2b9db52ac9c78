// SPDX-License-Identifier: Apache-2.0
// Bodies of requests: every reader of ARM's JSON, and what is accepted is written and read again.

#include "base/record.h"
#include "core/rules/expression.h"
#include "fuzz.h"
#include "wire/arm/compute.h"
#include "wire/arm/error.h"
#include "wire/arm/resource.h"
#include "wire/site.h"

using namespace berth;
using namespace berth::wire;

namespace {

void read_job(const record::json::value& body) {
  const Result<model::Job> job = arm::job_from_json(body);
  if (!job) return (void)arm::error_body(job.error());
  const core::ComputeChoice choices[] = {{.name = "local"}};
  (void)core::validate(job->spec, choices);
  const Result<model::Job> again = arm::job_from_json(arm::job_body(*job));
  fuzz::require(again.has_value(), "a job that was read can be sent again");
  fuzz::require(again->spec == job->spec, "a job sent again is the same job");
  const Result<model::Job> kept = record::decode_text<model::Job>(record::encode_text(*job));
  fuzz::require(kept && kept->spec == job->spec, "a job that is stored is the same job");
}

}  // namespace

FUZZ(input) {
  const Result<record::json::value> body = record::parse(input);
  if (!body || !record::is_finite(*body)) return;
  read_job(*body);
  (void)arm::job_from_resource(*body);
  (void)arm::compute_from_json(*body, {}, false);
  (void)arm::compute_from_json(*body, {}, true);
  (void)arm::workspace_from_json(*body);
  (void)arm::workspace_from_resource(*body);
  (void)site_from_json(*body);
  for (const auto kind :
       {model::AssetKind::Code, model::AssetKind::Data, model::AssetKind::Environment}) {
    (void)arm::asset_from_json(kind, *body);
    (void)arm::container_from_json(kind, *body);
  }
  (void)arm::error_from(400, input);
}
