// SPDX-License-Identifier: Apache-2.0
// How SqliteStore reads jobs.

#include <algorithm>
#include <limits>

#include "store/sqlite/documents.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::store {
namespace {

/// The newest jobs with that archive flag. Whichever filter is there picks the index, so that a
/// page costs its own length; the planner has no statistics to choose by.
Sql newest_jobs(const JobQuery& query, bool is_archived) {
  Sql sql;
  const bool by_tag = !query.tag_key.empty();
  const bool by_parent = !by_tag && !query.parent.empty();
  const bool by_experiment = !by_tag && !by_parent && !query.experiment.empty();
  if (by_tag) {
    // CROSS JOIN: the tags are searched first. Their key orders by value before age.
    const bool has_value = !query.tag_value.empty();
    sql.add("SELECT doc, jobs.sequence FROM job_tags ");
    if (!has_value) sql.add("INDEXED BY job_tags_by_age ");
    sql.add("CROSS JOIN jobs ON jobs.sequence = job_tags.sequence WHERE job_tags.workspace = ?",
            query.workspace.text);
    sql.add(" AND key = ?", query.tag_key);
    if (has_value) sql.add(" AND value = ?", query.tag_value);
  } else {
    sql.add("SELECT doc, sequence FROM jobs INDEXED BY ");
    sql.add(by_parent ? "jobs_by_parent" : by_experiment ? "jobs_by_experiment" : "jobs_by_age");
    sql.add(" WHERE workspace = ?", query.workspace.text);
  }
  if (!query.experiment.empty()) sql.add(" AND experiment = ?", query.experiment);
  // The index is of those with a parent, and is used only when that is said too.
  if (!query.parent.empty()) sql.add(" AND parent <> '' AND parent = ?", query.parent);
  sql.add(" AND archived = ?", std::int64_t{is_archived});
  if (!query.type.empty()) sql.add(" AND type = ?", query.type);
  const std::string_view sequence = by_tag ? "job_tags.sequence" : "sequence";
  sql.add(fmt::format(" AND {} < ?", sequence),
          query.before.value_or(std::numeric_limits<std::int64_t>::max()));
  sql.add(fmt::format(" ORDER BY {} DESC LIMIT ?", sequence),
          static_cast<std::int64_t>(std::min<std::size_t>(query.limit, 1'000'000)));
  return sql;
}

/// Until the page is full.
Result<Page<JobRow>> read_rows(Cursor cursor) {
  return fill_page<JobRow>(std::move(cursor), [](Cursor& row, PageBudget& budget) {
    budget.take(row.text(0).size());
    return Result<JobRow>({row.integer(1), std::string(row.text(0))});
  });
}

/// Down to this sequence the list is whole.
std::int64_t first_whole(const Page<JobRow>& jobs) {
  return jobs.is_cut ? jobs.back().sequence : 0;
}

}  // namespace

Result<std::optional<model::Job>> SqliteStore::job(const model::JobKey& key) {
  return read_first<model::Job>(TRY(reader_.query(
      "SELECT doc FROM jobs WHERE workspace = ? AND name = ?", {key.workspace.text, key.name})));
}

Result<Page<JobRow>> SqliteStore::job_rows(const JobQuery& query) {
  using View = JobQuery::View;
  Page<JobRow> jobs;
  if (query.view != View::ArchivedOnly) {
    jobs = TRY(read_rows(TRY(reader_.query(newest_jobs(query, false)))));
  }
  if (query.view == View::ActiveOnly) return jobs;
  Page<JobRow> archived = TRY(read_rows(TRY(reader_.query(newest_jobs(query, true)))));
  const std::int64_t from = std::max(first_whole(jobs), first_whole(archived));
  jobs.is_cut = jobs.is_cut || archived.is_cut;
  const auto middle = static_cast<std::ptrdiff_t>(jobs.size());
  std::move(archived.begin(), archived.end(), std::back_inserter(jobs));
  std::inplace_merge(
      jobs.begin(), jobs.begin() + middle, jobs.end(),
      [](const JobRow& left, const JobRow& right) { return left.sequence > right.sequence; });
  // Below the end of a list that was cut there may be some between those of the other.
  std::erase_if(jobs, [from](const JobRow& job) { return job.sequence < from; });
  if (jobs.size() > query.limit) jobs.resize(query.limit);
  return jobs;
}

}  // namespace berth::store
