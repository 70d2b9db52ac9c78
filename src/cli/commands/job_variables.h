// SPDX-License-Identifier: Apache-2.0
// What a command adds to a job's environment.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "model/job.h"

namespace berth::cli {

inline constexpr Flag kEnvironment = {
    "--env", Takes::EachTime, "NAME[=VALUE]",
    "an environment variable of the command; without a value, the one it has here"};
inline constexpr Flag kEnvironmentFile = {"--env-file", Takes::EachTime, "FILE",
                                          "more of them, a line for each; # begins a comment"};
inline constexpr Flag kSecret = {
    "--secret", Takes::EachTime, "NAME[=VARIABLE]",
    "a secret ('berth secret set') in the variable of its name, or in another"};

/// --env-file, then --env, then --secret, over what the job has already. Warns of values that look
/// as if they were not to be shown.
Status add_variables(const Context& context, model::JobSpec& spec);

/// PATH, and the virtual environment that is activated here, for a job that runs on this machine,
/// unless the job has its own. Asks the server where a cluster is.
Status pass_own_environment(Context& context, model::JobSpec& spec);

/// On a terminal: that a job of a file does not get the virtual environment that is activated here.
void mention_own_environment(Context& context, const model::JobSpec& spec);

}  // namespace berth::cli
