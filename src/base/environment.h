// SPDX-License-Identifier: Apache-2.0
// Which environment variables go from one process to the next. A shell's variables are its user's
// own: tokens, an activated virtual environment. What starts a server must not decide what
// everybody's jobs find. Pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace berth {

using EnvironmentMap = std::map<std::string, std::string>;

/// Where a job's commands are looked for unless somebody says otherwise.
inline constexpr const char* kPlainPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// PATH without the folders of the virtual environment that is activated, if one is.
std::string path_outside_environments(const EnvironmentMap& from);

/// What a server hands to its agents: who and where they are, the language, how programs are loaded
/// and the network is reached. Nothing that speaks of somebody's own Berth.
EnvironmentMap service_environment(const EnvironmentMap& own);

/// What a server gets that is started on the way by somebody's command: less, for the shell's
/// devices and preloaded libraries are that user's choice; and what it reads itself (BERTH_…, no
/// token).
EnvironmentMap first_server_environment(const EnvironmentMap& shell);

/// What a job finds of its node's environment, below what is said for the site and for the job. On
/// this machine: user, language, time zone, devices and proxies (not those with a password in
/// them), with kPlainPath. Inside an allocation of Slurm's all that is not ours: it is the site's,
/// since the pilot was submitted with almost nothing.
EnvironmentMap job_base_environment(const EnvironmentMap& node);

/// "HF_TOKEN", "DB_PASSWORD": a value of that name should not be shown.
bool looks_secret(std::string_view name);

}  // namespace berth
