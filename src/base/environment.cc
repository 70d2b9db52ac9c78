// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/own_variable.h"
#include "base/text.h"

namespace berth {
namespace {

using Names = std::span<const std::string_view>;

constexpr auto kPerson =
    std::to_array<std::string_view>({"HOME", "LOGNAME", "SHELL", "USER", "LANG", "LANGUAGE", "TZ"});
constexpr auto kDevices = std::to_array<std::string_view>(
    {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
     "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"});
constexpr auto kProxies = std::to_array<std::string_view>(
    {"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"});
/// Of our own processes: temporary files, Slurm, what vouches for web servers, the C library.
constexpr auto kServices = std::to_array<std::string_view>(
    {"TMPDIR", "SLURM_CONF", "SSL_CERT_FILE", "SSL_CERT_DIR", "GLIBC_TUNABLES"});

bool is_one_of(std::string_view name, Names names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_proxy(std::string_view name) {
  return std::ranges::any_of(
      kProxies, [&](std::string_view each) { return equals_ignoring_case(each, name); });
}

/// Sanitizers are told by variables how to report; our programs run inside jobs as well (mpi).
bool is_for_sanitizer(std::string_view name) { return name.ends_with("SAN_OPTIONS"); }

bool is_for_everybody(std::string_view name) {
  return is_one_of(name, kPerson) || name.starts_with("LC_") || is_for_sanitizer(name);
}

std::string value_of(const EnvironmentMap& from, const std::string& name) {
  const auto found = from.find(name);
  return found == from.end() ? std::string() : found->second;
}

bool is_below(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

/// A system's own folders are no environment of anybody's, whatever a variable says.
bool is_of_somebody(std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return !folder.empty() && folder != "/usr" && folder != "/usr/local";
}

}  // namespace

std::string path_outside_environments(const EnvironmentMap& from) {
  const std::string path = value_of(from, "PATH");
  std::string kept;
  for (const std::string_view folder : split(path, ':')) {
    const bool is_inside =
        std::ranges::any_of(std::array{"VIRTUAL_ENV", "CONDA_PREFIX"}, [&](const char* variable) {
          const std::string environment = value_of(from, variable);
          return is_of_somebody(environment) && is_below(folder, environment);
        });
    if (folder.empty() || is_inside) continue;
    if (!kept.empty()) kept += ':';
    kept += folder;
  }
  return kept.empty() ? kPlainPath : kept;
}

EnvironmentMap service_environment(const EnvironmentMap& own) {
  EnvironmentMap kept;
  for (const auto& [name, value] : own) {
    const bool is_kept = is_for_everybody(name) || is_one_of(name, kDevices) || is_proxy(name) ||
                         is_one_of(name, kServices) || name.starts_with("LD_");
    if (is_kept && !is_own_variable(name)) kept.emplace(name, value);
  }
  kept["PATH"] = path_outside_environments(own);
  return kept;
}

EnvironmentMap first_server_environment(const EnvironmentMap& shell) {
  EnvironmentMap kept = service_environment(shell);
  std::erase_if(kept, [](const auto& variable) {
    return is_one_of(variable.first, kDevices) || variable.first == "LD_PRELOAD";
  });
  for (const auto& [name, value] : shell) {
    if (name.starts_with("BERTH_") && name != "BERTH_TOKEN") kept.emplace(name, value);
  }
  return kept;
}

EnvironmentMap job_base_environment(const EnvironmentMap& node) {
  EnvironmentMap kept;
  const bool is_pilot = node.contains("SLURM_JOB_ID");
  for (const auto& [name, value] : node) {
    const bool is_plain_proxy = is_proxy(name) && value.find('@') == std::string::npos;
    const bool is_kept =
        is_pilot || is_for_everybody(name) || is_one_of(name, kDevices) || is_plain_proxy;
    if (is_kept && !is_own_variable(name)) kept.emplace(name, value);
  }
  if (!is_pilot) kept["PATH"] = kPlainPath;
  kept.try_emplace("PATH", kPlainPath);
  return kept;
}

bool looks_secret(std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"token", "secret", "password", "passwd", "credential", "apikey", "api_key"});
  const std::string lower = to_lower(name);
  const bool holds_word = std::ranges::any_of(
      kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
  return holds_word || lower == "key" || lower.ends_with("_key") || lower.ends_with("_pat");
}

}  // namespace berth
