// SPDX-License-Identifier: Apache-2.0
// One try at a job: what names it, and what is to be run.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"

namespace berth::model {

/// Names one try at one job, everywhere.
struct AttemptRef {
  JobKey job{};
  int attempt = 0;
  /// Random. Numbers begin anew when a job is deleted and its name used again, and go back with a
  /// state that is restored from a backup; empty: from a node or server that does not know of it.
  std::string fence{};

  friend auto operator<=>(const AttemptRef&, const AttemptRef&) = default;
};
BOOST_DESCRIBE_STRUCT(AttemptRef, (), (job, attempt, fence))

/// Something to put below the attempt's root before the command starts.
struct Fetch {
  std::string url{};  ///< A blob URL with its signature, a container listing, or a web address.
  std::string destination{};  ///< Relative to the attempt's root.
  bool is_folder = false;     ///< url lists blobs below `prefix`; each goes below `destination`.
  std::string prefix{};
  std::string what{};  ///< "input 'rows'", "code": for messages.
};
BOOST_DESCRIBE_STRUCT(Fetch, (), (url, destination, is_folder, prefix, what))

/// Something to send back afterwards: a file, or every file below a folder.
struct Deliver {
  std::string source{};         ///< Relative to the attempt's root.
  std::string container_url{};  ///< With its signature.
  std::string prefix{};  ///< Blob names are prefix + relative path (the prefix alone for a file).
  bool is_folder = true;
  bool only_changed = false;  ///< Of a folder: what was there before the command stays away.
  std::string what{};
};
BOOST_DESCRIBE_STRUCT(Deliver, (), (source, container_url, prefix, is_folder, only_changed, what))

/// What is to be run, in whatever runs it: a node, which is told it by wire::node::Launch, or an
/// engine (target/engine.h). An attempt has a root, a folder that is its own. Paths of the plan are
/// relative to it; the command and its variables name the root where they need to, so whoever makes
/// a plan knows where it will be.
struct LaunchPlan {
  std::string command{};  ///< Expressions already replaced; run by a shell, in `working_directory`.
  std::string working_directory = "wd";  ///< Relative to the attempt's root.
  std::map<std::string, std::string> environment{};
  /// Variables that are written down nowhere. An attempt that has begun needs them no more.
  std::map<std::string, std::string> secrets{};
  std::vector<Fetch> fetches{};
  std::vector<std::string> directories{};  ///< To be there before the command starts (outputs).
  std::vector<Deliver> deliveries{};
  std::optional<std::chrono::seconds> timeout{};
};

}  // namespace berth::model
