// SPDX-License-Identifier: Apache-2.0
#include "target/local/local_provider.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "base/environment.h"
#include "base/log.h"
#include "base/record.h"
#include "base/text.h"
#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::target::local {
namespace {

constexpr Duration kTimeToEnd = std::chrono::seconds(10);

Status check_id(const model::NodeId& id) {
  if (is_resource_name(id.text)) return Done{};
  return fail(Code::InvalidArgument, fmt::format("'{}' cannot name a node", id.text));
}

std::optional<io::ProcessIdentity> read_identity(const std::string& path) {
  const Result<std::string> text = io::read_file(path, 4096);
  if (!text) return std::nullopt;
  const auto identity = record::decode_text<io::ProcessIdentity>(*text);
  if (!identity || identity->pid <= 0) return std::nullopt;
  return *identity;
}

/// The node's process, when it is alive. Two files name it: a server that died between spawning and
/// writing leaves only the agent's own, an agent that has barely begun only the provider's.
std::optional<io::ProcessIdentity> find_alive(const NodePaths& paths) {
  for (const std::string& path : {paths.agent, paths.identity}) {
    const auto identity = read_identity(path);
    if (!identity) continue;
    if (io::is_alive(*identity)) return identity;
    io::reap(identity->pid);
  }
  return std::nullopt;
}

Status write_token(const NodePaths& paths, const std::string& token) {
  const Result<std::string> present = io::read_file(paths.token, 4096);
  if (present && *present == token) return Done{};
  return io::write_file(paths.token, token, 0600);
}

Result<std::vector<std::string>> list_names(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (!entries && errno == ENOENT) return names;
  if (!entries) return fail(io::error_from_errno(errno, fmt::format("list '{}'", directory)));
  while (const dirent* entry = ::readdir(entries.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

/// Hidden entries are the agent's own: directories to use again.
bool holds_work(const NodePaths& paths) {
  const auto left = io::list_tree(paths.work_root);
  return left && std::ranges::any_of(*left, [](const io::FileEntry& entry) {
           return entry.path.find('/') != std::string::npos && !entry.path.starts_with('.');
         });
}

}  // namespace

NodePaths::NodePaths(const std::string& home, const model::NodeId& id)
    : directory(home + "/nodes/" + id.text),
      token(directory + "/token"),
      log(directory + "/agent.log"),
      identity(directory + "/identity.json"),
      agent(directory + "/agent.json"),
      work_root(directory + "/work") {}

LocalProvider::LocalProvider(std::string executable, std::string home, std::string work_directory)
    : executable_(std::move(executable)),
      home_(std::move(home)),
      work_directory_(std::move(work_directory)) {}

NodePaths LocalProvider::paths_of(const model::NodeId& id) const {
  NodePaths paths(home_, id);
  if (!work_directory_.empty()) paths.work_root = work_directory_ + "/" + id.text;
  return paths;
}

Status LocalProvider::start(const NodeSpec& spec) {
  TRY(check_id(spec.id));
  const NodePaths paths = paths_of(spec.id);
  TRY(io::make_directories(paths.directory));
  TRY(io::make_directories(paths.work_root));
  if (!work_directory_.empty()) ::chmod(paths.work_root.c_str(), 0711);  // Job users pass through.
  TRY(write_token(paths, spec.token));
  if (find_alive(paths)) return Done{};
  const io::ProcessIdentity agent = TRY(io::spawn({
      .command = {executable_, "node", "--name", spec.id.text, "--home", home_, "--slots",
                  std::to_string(spec.slots), "--work-root", paths.work_root},
      .environment = service_environment(io::current_environment()),
      .working_directory = "/",
      .stdout_path = paths.log,
      .new_session = true,
  }));
  log::info("started node '{}' as process {}", spec.id.text, agent.pid);
  return io::write_file(paths.identity, record::json::serialize(record::encode(agent)));
}

Result<std::vector<ObservedNode>> LocalProvider::observe() {
  std::vector<ObservedNode> seen;
  for (const std::string& name : TRY(list_names(home_ + "/nodes"))) {
    const bool is_there = find_alive(NodePaths(home_, {name})).has_value();
    seen.push_back({{name}, is_there ? Liveness::Running : Liveness::Gone});
  }
  return seen;
}

Status LocalProvider::stop(const model::NodeId& id) {
  TRY(check_id(id));
  const NodePaths paths = paths_of(id);
  // More than once: a second agent may have waited for the first one's lock.
  while (const auto agent = find_alive(paths)) {
    TRY(io::send_signal(*agent, SIGTERM));
    if (!io::wait_for_end(*agent, kTimeToEnd)) {
      TRY(io::send_signal(*agent, SIGKILL));
      if (!io::wait_for_end(*agent, kTimeToEnd)) {
        return fail(Code::Unavailable, fmt::format("process {} does not end", agent->pid));
      }
    }
    io::reap(agent->pid);
  }
  if (holds_work(paths)) TRY(sweep(paths));
  for (const std::string& parent : {home_ + "/nodes", work_directory_}) {
    const auto nodes = io::Root::open(parent);
    if (nodes) (void)nodes->remove_tree(id.text);
  }
  return Done{};
}

/// Attempts whose end the server knows and that the agent did not come to remove before it died.
/// What they are made of is the node's business.
Status LocalProvider::sweep(const NodePaths& paths) const {
  const io::ProcessIdentity sweeper =
      TRY(io::spawn({.command = {executable_, "node", "--sweep", paths.work_root},
                     .environment = service_environment(io::current_environment()),
                     .working_directory = "/",
                     .stdout_path = paths.log,
                     .new_session = true}));
  const bool has_ended = io::wait_for_end(sweeper, kTimeToEnd);
  io::reap(sweeper.pid);
  if (has_ended && !holds_work(paths)) return Done{};
  return fail(Code::Unavailable, fmt::format("'{}' cannot be emptied", paths.work_root));
}

}  // namespace berth::target::local
