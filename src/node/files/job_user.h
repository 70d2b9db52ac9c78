// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/files/attempt_files.h"

namespace berth::node {

/// A Unix user of this machine that jobs run as, with all it takes to become him: looked up before
/// the fork, since nothing may be looked up after it.
struct JobUser {
  std::string name{};
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};
  std::string home{};
  std::string shell{};
};

/// NotFound when there is none of that name; Forbidden when it is root.
Result<JobUser> find_job_user(const std::string& name);

/// Gives him the attempt's working directory, inputs and outputs, and the way there; our own
/// records and the log stay ours. Only for root, before the command starts: until here nobody else
/// could come near these files.
Status hand_over(const AttemptPaths& paths, const JobUser& user);

/// In the child, right before it becomes the command: the user, his groups and nobody's privileges.
/// False, with errno, when any of it fails. Allocates nothing.
bool become(const JobUser& user);

/// The base of a job's environment, as it is on this node, with the user in it instead of ours.
std::map<std::string, std::string> environment_of(const JobUser& user,
                                                  const std::map<std::string, std::string>& base);

}  // namespace berth::node
