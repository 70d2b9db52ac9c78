// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "io/files/object_store.h"
#include "store/store.h"

namespace berth::server {

class JobsDesk;
class Ledger;

/// What a sweep took away, or would.
struct SweepReport {
  bool is_trial = false;
  bool is_held = false;  ///< There is a file 'sweep.off': nothing was done.
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t kept_objects = 0;  ///< Those that rows name.
  std::size_t code_versions = 0;
  std::size_t uploads = 0;        ///< Folders that were uploaded for jobs that are gone.
  std::size_t stale_uploads = 0;  ///< Blobs that were begun and never finished.
  std::size_t leftovers = 0;      ///< Files that a crash left among the objects.
};

struct SweepParts {
  store::Store& store;
  Ledger& ledger;
  JobsDesk& jobs;
  const io::ObjectStore& objects;
  const Clock& clock;
  std::string hold_file{};  ///< While it is there, nothing is swept.
};

/// Takes away the objects that no row names, in small steps beside the loop (decision 32). First
/// rows go that nothing uses any more: uploads that were never finished, code and inputs of jobs
/// that are gone. Then all rows are read, page by page, and what is in the directory, was not named
/// and did not come into use since the beginning goes.
///
/// Loop thread only; what blocks runs on the store's inspecting thread. A crash at any moment
/// leaves objects that the next sweep finds.
class Sweeper {
 public:
  using Finished = std::function<void(const Result<SweepReport>&)>;

  explicit Sweeper(SweepParts parts) : parts_(std::move(parts)) {}
  ~Sweeper();

  /// One after the other. `is_trial`: only counts.
  void start(bool is_trial, Finished finished);
  bool is_running() const { return running_ != nullptr; }

 private:
  struct Work;
  using Step = void (Sweeper::*)(const std::shared_ptr<Work>&);

  void next();
  void tidy(const std::shared_ptr<Work>& work);
  void mark(const std::shared_ptr<Work>& work);
  void find(const std::shared_ptr<Work>& work);
  void remove(const std::shared_ptr<Work>& work);
  void finish(const std::shared_ptr<Work>& work);
  void go_on(const std::shared_ptr<Work>& work, const Status& status, Step step);
  /// Does something on the inspecting thread, and then takes the step on the loop.
  void beside(const std::shared_ptr<Work>& work,
              std::function<Status(Work&, store::StorageReader&)> what, Step then);

  SweepParts parts_;
  std::deque<std::shared_ptr<Work>> waiting_;
  std::shared_ptr<Work> running_;
};

}  // namespace berth::server
