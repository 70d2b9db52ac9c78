// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace berth::model {

/// The site that is there from the start: the server's own machine.
inline constexpr const char* kLocalSite = "local";

/// model/site_kind.h says what is true of each.
enum class ProviderKind { Local, Slurm };
BOOST_DESCRIBE_ENUM(ProviderKind, Local, Slurm)

/// How nodes are asked of a Slurm. Every text is checked when the site is made; none can hold an
/// option or a line of its own.
struct SlurmSettings {
  std::string partition{};
  std::string account{};
  std::string qos{};
  std::optional<std::chrono::minutes> time_limit{};  ///< Of one node; none: the partition's own.
  std::vector<std::string> options{};  ///< Long options for sbatch, "--constraint=fast".
  std::string bin_directory{};         ///< Where sbatch, squeue and scancel are; empty: PATH.
  std::string config{};                ///< SLURM_CONF; empty: Slurm's own choice.
  std::string work_directory{};        ///< On the node; empty: the node's own temporary directory.

  friend bool operator==(const SlurmSettings&, const SlurmSettings&) = default;
};
BOOST_DESCRIBE_STRUCT(SlurmSettings, (),
                      (partition, account, qos, time_limit, options, bin_directory, config,
                       work_directory))

/// What all clusters of a site may use together; what is not said is not limited.
struct SiteCapacity {
  std::optional<int> nodes{};
  std::optional<int> cores{};
  std::optional<std::int64_t> memory_mib{};
  int gpus = 0;  ///< Devices 0..gpus-1 of this machine; of no meaning elsewhere.

  friend bool operator==(const SiteCapacity&, const SiteCapacity&) = default;
};
BOOST_DESCRIBE_STRUCT(SiteCapacity, (), (nodes, cores, memory_mib, gpus))

/// Where nodes come from. Sites belong to the server, not to a workspace.
struct Site {
  std::string name{};
  ProviderKind provider = ProviderKind::Local;
  SiteCapacity capacity{};
  SlurmSettings slurm{};
  std::string server_url{};  ///< Where nodes reach the server; empty: its own address.
  std::map<std::string, std::string> job_environment{};  ///< Of all its jobs, below their own.
  WallTime created_at{};

  friend bool operator==(const Site&, const Site&) = default;
};
BOOST_DESCRIBE_STRUCT(Site, (),
                      (name, provider, capacity, slurm, server_url, job_environment, created_at))

/// Is a provider that was made for the one right for the other? Everything counts that is not named
/// here as none of its business, so that the settings of a new kind do without a line of their own.
inline bool has_same_settings(Site one, const Site& other) {
  one.capacity = other.capacity;
  one.server_url = other.server_url;
  one.job_environment = other.job_environment;
  one.created_at = other.created_at;
  return one == other;
}

}  // namespace berth::model
