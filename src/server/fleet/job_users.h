// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace berth::server {

/// Which Unix user of this machine a Berth user's jobs run as (docs/security.md).
class JobUsers {
 public:
  explicit JobUsers(std::map<std::string, std::string> names) : names_(std::move(names)) {}

  /// Forbidden when the operator has not said whom: such a job does not run at all.
  Result<std::string> unix_user_of(const std::string& berth_user) const;

 private:
  std::map<std::string, std::string> names_;
};

/// Reads the operator's file, YAML: `<Berth user>: <Unix user>`. Refused when somebody else may
/// write to it, or a user does not exist or is root, or this process is not root.
Result<JobUsers> load_job_users(const std::string& file);

/// Where jobs run then: beside the state directory, which their users cannot enter. Makes it, and
/// fails when they could not get there either.
Result<std::string> open_job_directory(const std::string& home);

}  // namespace berth::server
