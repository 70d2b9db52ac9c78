// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "base/record.h"

namespace berth::store {

Result<model::Job> job_of(const JobRow& row) {
  Result<model::Job> job = record::decode_text<model::Job>(row.text);
  if (job) return job;
  return fail(Code::Internal, fmt::format("database: a job's row cannot be read: {} {}",
                                          job.error().target, job.error().message));
}

Result<Page<model::Job>> Store::jobs(const JobQuery& query) {
  const Page<JobRow> rows = TRY(job_rows(query));
  Page<model::Job> jobs;
  jobs.is_cut = rows.is_cut;
  for (const JobRow& row : rows) jobs.push_back(TRY(job_of(row)));
  return jobs;
}

}  // namespace berth::store
