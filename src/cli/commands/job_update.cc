// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_update.h"

#include "cli/commands/job_create.h"
#include "cli/given.h"
#include "cli/transfer/submit.h"
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

/// What may still change of a job, by the names of its file.
json::object changeable(const model::Job& job) {
  json::object object = {{"display_name", job.display_name}, {"description", job.description}};
  json::object& tags = object["tags"].emplace_object();
  for (const auto& [key, value] : job.tags) tags[key] = value;
  json::object& properties = object["properties"].emplace_object();
  for (const auto& [key, value] : job.properties) properties[key] = value;
  return object;
}

Status take(const wire::yaml::Node& from, model::Job& job) {
  using namespace wire::yaml;
  const auto find = [&](std::string_view key) {
    const Node* found = from.find(key);
    return found == nullptr ? Node() : *found;
  };
  const auto text = [&](std::string_view key) -> Result<std::string> {
    const Node node = find(key);
    return node.kind == Node::Kind::Null ? std::string() : as_text(node, key);
  };
  job.display_name = TRY(text("display_name"));
  job.description = TRY(text("description"));
  job.tags = TRY(as_text_map(find("tags"), "tags"));
  job.properties = TRY(as_text_map(find("properties"), "properties"));
  return Done{};
}

}  // namespace

Result<int> update_job(Context& context) {
  const std::string name = TRY(required_name(context, "job"));
  if (!has_edits(context)) return wrong_usage(context, "nothing to change: --set key=value");
  Submitted found = TRY(get_job(context.client, name));
  TRY(take(TRY(edited(context, changeable(found.job))), found.job));
  const Submitted changed = TRY(put_back(context, found.job));
  TRY(context.print(
      {.value = view_of(changed, context.client.workspace()), .columns = job_summary()}));
  return 0;
}

Result<int> archive_job(Context& context) { return set_archived(context, true); }
Result<int> restore_job(Context& context) { return set_archived(context, false); }

}  // namespace berth::cli
