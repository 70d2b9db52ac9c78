// SPDX-License-Identifier: Apache-2.0
#include "cli/job_update.h"

#include "cli/given.h"
#include "cli/job_create.h"
#include "cli/submit.h"
#include "wire/arm/resource.h"

namespace berth::cli {
namespace {

Result<Submitted> put_back(Context& context, const model::Job& job) {
  return read_job(TRY(context.client.put(context.client.workspace_path("/jobs/" + job.key.name),
                                         wire::arm::job_body(job))));
}

Result<int> set_archived(Context& context, bool archived) {
  Submitted found = TRY(get_job(context.client, TRY(required_name(context, "job"))));
  found.job.is_archived = archived;
  TRY(put_back(context, found.job));
  return 0;
}

}  // namespace

Status change(model::Job& job, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return fail(Code::InvalidArgument, fmt::format("--set takes key=value, not '{}'", assignment));
  }
  const std::string key = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  if (key == "display_name") {
    job.display_name = value;
  } else if (key == "description") {
    job.description = value;
  } else if (key.starts_with("tags.") && key.size() > 5) {
    job.tags[key.substr(5)] = value;
  } else if (key.starts_with("properties.") && key.size() > 11) {
    job.properties[key.substr(11)] = value;
  } else {
    return fail(Code::InvalidArgument,
                fmt::format("'{}' cannot be changed after the submit; display_name, description, "
                            "tags.<key> and properties.<key> can",
                            key));
  }
  return Done{};
}

Result<int> update_job(Context& context) {
  const std::string name = TRY(required_name(context, "job"));
  const std::vector<std::string> assignments = context.arguments.all("set");
  if (assignments.empty()) return wrong_usage(context, "nothing to change: --set key=value");
  Submitted found = TRY(get_job(context.client, name));
  for (const std::string& assignment : assignments) TRY(change(found.job, assignment));
  const Submitted changed = TRY(put_back(context, found.job));
  TRY(context.print(
      {.value = view_of(changed, context.client.workspace()), .columns = job_summary()}));
  return 0;
}

Result<int> archive_job(Context& context) { return set_archived(context, true); }
Result<int> restore_job(Context& context) { return set_archived(context, false); }

}  // namespace berth::cli
