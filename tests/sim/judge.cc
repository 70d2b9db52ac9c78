// SPDX-License-Identifier: Apache-2.0
#include "sim/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/controller.h"

namespace berth::sim {

using model::Ending;
using model::JobStatus;

std::string command_of(Submission submission) { return fmt::format("work {}", submission); }

Submission submission_of(const std::string& command, const Variables& variables) {
  const auto index = variables.find(core::kArrayIndexVariable);
  return std::stoi(command.substr(command.find(' ') + 1)) +
         (index == variables.end() ? 0 : std::stoi(index->second));
}

Submission submission_of(const model::Job& job) {
  const model::CommandWork& work = model::command_of(job.spec);
  return submission_of(work.command, work.environment_variables);
}

std::string Journal::text() const {
  std::string text;
  for (const Entry& entry : entries_) {
    text += fmt::format("{:>9.3f} s  {} {} {} {}\n", static_cast<double>(entry.at.count()) / 1000,
                        entry.what, entry.who, entry.whose,
                        entry.number == 0 ? std::string() : std::to_string(entry.number));
  }
  return text;
}

void Judge::blame(std::string what) {
  if (!verdict_) verdict_ = std::move(what);
}

// ---- What users were told
// ------------------------------------------------------------------------

void Judge::accepted(Submission submission, const model::JobKey& job) {
  promised_[submission] = job;
  check_promises();
}

void Judge::check_promises() {
  blame_for(deployments_.check_promises());
  for (const auto& [submission, key] : promised_) {
    const auto found = jobs_.find(key);
    const bool is_there = found != jobs_.end() && submission_of(found->second) == submission;
    if (!is_there)
      return blame(fmt::format("job '{}' was acknowledged and is not there", key.name));
  }
}

std::vector<std::string> Judge::unfinished() const {
  std::vector<std::string> names;
  for (const auto& [key, job] : jobs_) {
    if (!model::is_terminal(job.status)) names.push_back(key.name);
  }
  return names;
}

// ---- The disk
// ------------------------------------------------------------------------------------

void Judge::committed(const store::Batch& batch) {
  blame_for(deployments_.committed(batch));
  for (const store::Write& write : batch) {
    if (const auto* job = std::get_if<store::Put<model::Job>>(&write)) put(job->value);
    if (const auto* job = std::get_if<store::Erase<model::Job>>(&write)) deleted(job->key);
    if (const auto* node = std::get_if<store::Put<model::Node>>(&write)) {
      nodes_.insert(node->value.id);
    }
    if (const auto* node = std::get_if<store::Erase<model::Node>>(&write)) {
      nodes_.erase(node->key);
    }
  }
  // A parent and its children are in one batch, in any order.
  for (const store::Write& write : batch) {
    if (const auto* job = std::get_if<store::Put<model::Job>>(&write)) check_family(job->value);
  }
}

void Judge::put(const model::Job& job) {
  const Submission submission = submission_of(job);
  const auto before = jobs_.find(job.key);
  if (before == jobs_.end()) {
    const auto [place, is_new] = sequences_.try_emplace(submission, job.sequence);
    if (!is_new && place->second != job.sequence) {
      blame(fmt::format("job '{}' was submitted once and made twice", job.key.name));
    }
  } else if (before->second.sequence != job.sequence) {
    blame(fmt::format("job '{}' took the place of another", job.key.name));
  } else if (model::is_terminal(before->second.status)) {
    const model::Job& old = before->second;
    const bool is_same = old.status == job.status && old.attempt == job.attempt &&
                         old.outcome == job.outcome && old.ended_at == job.ended_at;
    if (!is_same) blame(fmt::format("job '{}' was over and changed", job.key.name));
  } else if (before->second.attempt > job.attempt) {
    blame(fmt::format("the attempts of job '{}' go backwards", job.key.name));
  }
  const bool ends = model::is_terminal(job.status) &&
                    (before == jobs_.end() || !model::is_terminal(before->second.status));
  int& highest = attempts_[submission];
  highest = std::max(highest, job.attempt);
  jobs_[job.key] = job;
  journal_.note(Duration(0), "  on disk:", job.key.name,
                std::string(boost::describe::enum_to_string(job.status, "?")), job.attempt);
  if (ends) ends_[submission] = job.status;
  if (ends) check_end(job);
}

/// Of an array there are the listed children and no others, so many at a time, and it ends when
/// they have.
void Judge::check_family(const model::Job& job) {
  const model::Job* parent = find_job(parent_of(job));
  const bool is_child = parent != nullptr && !model::is_terminal(parent->status);
  const auto* array =
      std::get_if<model::ArrayWork>(is_child ? &parent->spec->work : &job.spec->work);
  if (array == nullptr) return;
  const model::Job& head = is_child ? *parent : job;
  const Submission number = submission_of(head);
  int going_on = 0;
  for (const auto& [key, other] : jobs_) {
    // One of the same name may have been there before, and left children.
    const bool is_its =
        other.spec->parent_job_name == head.key.name && other.sequence > head.sequence;
    if (!is_its) continue;
    const int index = submission_of(other) - number;
    if (index < array->first || index > array->last) {
      blame(fmt::format("job '{}' is no child of '{}'", key.name, head.key.name));
    }
    if (!model::is_terminal(other.status)) ++going_on;
  }
  if (array->at_once > 0 && going_on > array->at_once) {
    blame(fmt::format("too many jobs of '{}' go on at once", head.key.name));
  }
  if (!model::is_terminal(head.status)) return;
  if (going_on > 0) blame(fmt::format("job '{}' is over before its children", head.key.name));
  if (head.status != JobStatus::Canceled) check_children_ended(head, *array);
}

void Judge::check_children_ended(const model::Job& head, const model::ArrayWork& array) {
  bool all_completed = true;
  for (int index = array.first; index <= array.last; ++index) {
    const auto end = ends_.find(submission_of(head) + index);
    if (end == ends_.end()) {
      return blame(fmt::format("job '{}' is over without child {}", head.key.name, index));
    }
    all_completed = all_completed && end->second == JobStatus::Completed;
  }
  if (all_completed != (head.status == JobStatus::Completed)) {
    blame(fmt::format("job '{}' did not end as its children did", head.key.name));
  }
}

const model::Job* Judge::find_job(const model::JobKey& key) const {
  const auto found = jobs_.find(key);
  return found == jobs_.end() ? nullptr : &found->second;
}

void Judge::deleted(const model::JobKey& job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  if (!delete_asked_.contains(job)) {
    blame(fmt::format("job '{}' was deleted and nobody asked for it", job.name));
  }
  const Submission submission = submission_of(found->second);
  const bool is_child = submission % kNumbersOfOne != 0;
  jobs_.erase(found);
  // Its client has had no answer, and will rightly make it again.
  if (!is_child && promised_.erase(submission) == 0) forget(submission);
}

/// With those of its children that are not there.
void Judge::forget(Submission submission) {
  std::set<Submission> there;
  for (const auto& [key, job] : jobs_) there.insert(submission_of(job));
  for (Submission each = submission; each < submission + kNumbersOfOne; ++each) {
    if (there.contains(each)) continue;
    sequences_.erase(each);
    attempts_.erase(each);
    ends_.erase(each);
    std::erase_if(runs_, [&](const auto& entry) { return entry.first.submission == each; });
  }
}

/// An attempt that was launched after the backup was made and before it was restored is of a
/// history that never was.
bool Judge::counts(const Run& run) const {
  if (run.timeline == timeline_) return true;
  const auto known = attempts_at_restore_.find(run.submission);
  return known != attempts_at_restore_.end() && run.attempt <= known->second;
}

void Judge::check_end(const model::Job& job) {
  const Submission submission = submission_of(job);
  for (const Run& run : running_) {
    if (run.submission == submission && counts(run)) {
      blame(fmt::format("job '{}' is over and runs on node '{}'", job.key.name, run.node));
    }
  }
  const bool was_cancelled = job.cancel_requested;
  const bool was_asked = cancel_asked_.contains(job.key) || cancel_asked_.contains(parent_of(job));
  if (was_cancelled && !was_asked) {
    blame(fmt::format("job '{}' was cancelled and nobody asked for it", job.key.name));
  }
  // A stop that was sent in a history that is no more has its effect all the same.
  if (job.status == JobStatus::Canceled && !was_cancelled && timeline_ == 0) {
    blame(fmt::format("job '{}' is cancelled without a cancel", job.key.name));
  }
  const bool is_service = model::service_of(job.spec) != nullptr;
  if (is_service && !was_cancelled && timeline_ == 0) {
    blame(fmt::format("service '{}' is over and nobody stopped it", job.key.name));
  }
  if (job.outcome && job.outcome->ending == Ending::Exited) check_exit(job);
}

/// An exit that is recorded has happened, in the very attempt that is recorded with it.
void Judge::check_exit(const model::Job& job) {
  const Submission submission = submission_of(job);
  const auto count = std::ranges::count_if(runs_, [&](const auto& entry) {
    const auto& [run, ran] = entry;
    return run.submission == submission && run.attempt == job.attempt && counts(run) &&
           ran.outcome && ran.outcome->ending == Ending::Exited &&
           ran.outcome->exit_code == job.outcome->exit_code;
  });
  const bool is_success = job.outcome->exit_code == 0;
  const int needed = is_success ? nodes_of_attempt(job.spec) : 1;
  if (count < needed) {
    blame(fmt::format("job '{}' is said to have exited with {} in attempt {}, which it has not",
                      job.key.name, job.outcome->exit_code, job.attempt));
  }
}

std::shared_ptr<const Judge::Memory> Judge::remember() const {
  return std::make_shared<const Memory>(
      Memory{jobs_, sequences_, attempts_, ends_, nodes_, deployments_.disk()});
}

void Judge::restored(const std::shared_ptr<const Memory>& memory) {
  ++timeline_;
  jobs_ = memory->jobs;
  sequences_ = memory->sequences;
  ends_ = memory->ends;
  attempts_ = attempts_at_restore_ = memory->attempts;
  nodes_ = memory->nodes;
  deployments_.restored(memory->deployments);
  std::erase_if(promised_, [&](const auto& promise) {
    const auto found = jobs_.find(promise.second);
    return found == jobs_.end() || submission_of(found->second) != promise.first;
  });
}

// ---- What really happens
// -------------------------------------------------------------------------

void Judge::started(const Run& run) {
  if (!runs_.try_emplace(run).second) {
    blame(fmt::format("attempt {} of submission {} ran twice on node '{}'", run.attempt,
                      run.submission, run.node));
  }
  running_.insert(run);
  if (!counts(run)) return;
  const auto recorded = attempts_.find(run.submission);
  if (recorded == attempts_.end() || recorded->second < run.attempt) {
    blame(fmt::format("attempt {} of submission {} runs and is not on disk", run.attempt,
                      run.submission));
  }
  for (const Run& other : running_) {
    if (other.submission != run.submission || other.attempt == run.attempt || !counts(other)) {
      continue;
    }
    blame(fmt::format("attempts {} and {} of submission {} run at once, on '{}' and '{}'",
                      other.attempt, run.attempt, run.submission, other.node, run.node));
  }
  for (const auto& [key, job] : jobs_) {
    const bool is_it = submission_of(job) == run.submission;
    if (!is_it) continue;
    if (model::is_terminal(job.status)) {
      blame(fmt::format("job '{}' is over and begins on node '{}'", key.name, run.node));
    }
    const auto members = std::ranges::count_if(running_, [&](const Run& other) {
      return other.submission == run.submission && counts(other);
    });
    if (members > nodes_of_attempt(job.spec)) {
      blame(fmt::format("job '{}' runs on more nodes than it asked for", key.name));
    }
  }
}

void Judge::ended(const Run& run, const model::Outcome& outcome) {
  running_.erase(run);
  runs_[run].outcome = outcome;
}

}  // namespace berth::sim
