// SPDX-License-Identifier: Apache-2.0
// What lies in an attempt's directory. It is how an agent, its shims and a later agent talk: each
// may die at any moment, so every file appears whole or not at all.
//
// None is synced: they matter only while this boot lasts. After a restart of the machine the
// attempt is Lost whatever they say, since nobody synced the job's own outputs either.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/record.h"
#include "base/result.h"
#include "io/files/file.h"
#include "io/process/boot_id.h"
#include "io/process/process.h"
#include "model/job.h"
#include "wire/node/message.h"

namespace berth::node {

struct AttemptPaths {
  explicit AttemptPaths(std::string attempt_directory);

  std::string directory;
  std::string launch;  ///< LaunchRecord; secret, since it holds signed URLs.
  std::string lock;    ///< Held by the shim for as long as it lives: at most one runs the command.
  std::string shim;    ///< ShimRecord, before the command starts.
  std::string start;   ///< Made right before the command starts; see restored.h.
  std::string exit;    ///< ExitRecord, when the process tree is gone.
  std::string log_directory;
  std::string log;
};

/// The variable by which an attempt's processes are known when nobody supervises them any more.
inline constexpr const char* kMarkerVariable = "BERTH_ATTEMPT";

/// Its value for an attempt: unique on this machine, which may have several nodes.
inline const std::string& marker_of(const AttemptPaths& paths) { return paths.directory; }

/// What the runtime found out as it was prepared and needs to wrap a command; see
/// node/runtime/runtime.h.
struct RuntimeRecord {
  std::map<std::string, std::string> facts{};  ///< In the words of that runtime.

  friend bool operator==(const RuntimeRecord&, const RuntimeRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(RuntimeRecord, (), (facts))

struct LaunchRecord {
  std::string boot{};
  wire::node::Launch launch{};  ///< With what Go added, once it came; then it waits no more.
  int port = 0;                 ///< That was said in Prepared; 0: not yet.
  RuntimeRecord runtime{};      ///< Before the command starts.
};
BOOST_DESCRIBE_STRUCT(LaunchRecord, (), (boot, launch, port, runtime))

struct ShimRecord {
  io::ProcessIdentity process{};
  std::vector<std::string> cgroups{};
};
BOOST_DESCRIBE_STRUCT(ShimRecord, (), (process, cgroups))

struct ExitRecord {
  model::Outcome outcome{};
  WallTime started_at{};
  WallTime ended_at{};
  /// Nothing of it is left to be sent: its log and its outputs are with the server, or were given
  /// up, and may be gone from here.
  bool is_delivered = false;
  std::vector<std::string> delivery_errors{};
};
BOOST_DESCRIBE_STRUCT(ExitRecord, (),
                      (outcome, started_at, ended_at, is_delivered, delivery_errors))

/// Moves an attempt's directory to where nobody looks for one, and removes the empty ones above it:
/// from then on the attempt may be laid out again, and so may others, while what was moved is
/// removed. Its path, relative to the work root. Only one thread may move and lay out.
Result<std::string> set_aside(const std::string& work_root, const std::string& directory);

/// Removes what was set aside. What cannot be removed is left for the next agent to try.
void remove_set_aside(const std::string& work_root, const std::string& path);

/// What earlier agents set aside and did not come to remove, and folders that are empty because
/// they died as they made or removed them: those are removed at once.
std::vector<std::string> find_leavings(const std::string& work_root);

/// Removes what the job left except its log, our own files and what lies at or below one of the
/// `kept` paths (relative, as the links among them lead).
void remove_scratch(const AttemptPaths& paths, const std::vector<std::string>& kept);

/// Removes all but our own files, once nothing of it is to be sent any more.
void remove_results(const AttemptPaths& paths);

/// Every attempt directory below the work root: "<workspace>/<job>/<attempt>".
std::vector<std::string> find_attempts(const std::string& work_root);

using io::boot_id;

/// Of a file that stands ready to become the one of this name: ".exit.json".
std::string spare_name(std::string_view name);

/// Opens the spare for the file at `path`, or makes it, with room on the disk for a record.
Result<io::Descriptor> reserve_file(const std::string& path);
/// Writes the whole text, which may be followed by spaces, and puts the file in its place.
Status fill_reserved(const io::Descriptor& spare, const std::string& path, std::string_view text);

/// Writes over the file that is there: for a disk without room. Only a crash of the machine can
/// leave half of it, and that matters to nobody then.
Status overwrite_file(const std::string& path, std::string_view text);

/// Replaces the file at once, mode 0600, without syncing. May be followed by spaces.
Status replace_file(const std::string& path, std::string_view text);

template <typename T>
Status write_record(const std::string& path, const T& value) {
  return replace_file(path, record::encode_text(value));
}

/// nullopt when it is not there or not readable as one.
template <typename T>
std::optional<T> read_record(const std::string& path) {
  const Result<std::string> text = io::read_file(path);
  if (!text) return std::nullopt;
  Result<T> value = record::decode_text<T>(*text);
  if (!value) return std::nullopt;
  return std::move(*value);
}

}  // namespace berth::node
