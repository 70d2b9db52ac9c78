// SPDX-License-Identifier: Apache-2.0
#include "core/distribution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/text.h"

namespace berth::core {
namespace {

namespace json = boost::json;
using model::JobSpec;
using model::Member;

constexpr int kMostProcessesPerNode = 256;
constexpr int kMostMpiNodes = 100;  // Azure ML's own limit.

struct Name {
  std::string_view arm;
  Framework framework;
};
constexpr std::array<Name, 3> kNames = {{{"PyTorch", Framework::PyTorch},
                                         {"Mpi", Framework::Mpi},
                                         {"TensorFlow", Framework::TensorFlow}}};

std::string target_of_key(std::string_view key) { return fmt::format("distribution.{}", key); }

tl::unexpected<Error> wrong(std::string_view key, std::string message) {
  return fail(Code::InvalidArgument, std::move(message), target_of_key(key));
}

struct Count {
  std::string_view arm;
  std::string_view yaml;
  int least = 1;
  int most = 1;
  int fallback = 1;
};

Result<int> read_count(const json::object& from, const Count& count) {
  const json::value* const value = from.if_contains(count.arm);
  if (value == nullptr || value->is_null()) return count.fallback;
  boost::system::error_code failed;
  const auto number = value->to_number<std::int64_t>(failed);
  if (!failed && number >= count.least && number <= count.most) return static_cast<int>(number);
  return wrong(count.yaml, fmt::format("{} is a whole number from {} to {}", count.yaml,
                                       count.least, count.most));
}

Result<Framework> read_framework(const json::object& from) {
  const json::value* const type = from.if_contains("distributionType");
  if (type == nullptr || !type->is_string()) {
    return wrong("type", "a distribution needs a type: pytorch, mpi or tensorflow");
  }
  const std::string_view text = type->get_string();
  for (const Name& name : kNames) {
    if (equals_ignoring_case(name.arm, text)) return name.framework;
  }
  if (equals_ignoring_case(text, "Ray")) {
    return fail(Code::NotSupported, "a ray distribution is not supported yet",
                target_of_key("type"));
  }
  return wrong("type", fmt::format("'{}' is no distribution; there is: pytorch, mpi, tensorflow",
                                   to_valid_utf8(text)));
}

/// Each node has something to do, and at most one parameter server.
Status check_tensorflow(const Distribution& distribution, int nodes) {
  if (distribution.parameter_servers > nodes) {
    return wrong("parameter_server_count",
                 fmt::format("{} parameter servers need as many nodes, but instance_count is {}",
                             distribution.parameter_servers, nodes));
  }
  if (distribution.workers + distribution.parameter_servers < nodes) {
    return wrong("worker_count",
                 fmt::format("{} workers and {} parameter servers leave some of the {} nodes of "
                             "instance_count without work",
                             distribution.workers, distribution.parameter_servers, nodes));
  }
  return Done{};
}

Result<Distribution> read_tensorflow(const json::object& from, int nodes) {
  Distribution distribution{.framework = Framework::TensorFlow};
  distribution.workers = TRY(read_count(from, {.arm = "workerCount",
                                               .yaml = "worker_count",
                                               .most = nodes * kMostProcessesPerNode,
                                               .fallback = nodes}));
  distribution.parameter_servers = TRY(read_count(from, {.arm = "parameterServerCount",
                                                         .yaml = "parameter_server_count",
                                                         .least = 0,
                                                         .most = nodes,
                                                         .fallback = 0}));
  TRY(check_tensorflow(distribution, nodes));
  return distribution;
}

/// Of a spec that was checked when it was submitted.
Distribution distribution_of(const JobSpec& spec) {
  return read_distribution(spec).value_or(Distribution{});
}

/// A process that its peers may call upon: who it is among those of its kind.
struct Task {
  bool is_parameter_server = false;
  int index = 0;
  int node = 0;
  int port_offset = 0;  ///< Among its node's processes.
};

/// Workers go round the nodes; parameter servers take one node each, from the last backwards, so
/// that with fewer workers than nodes all nodes have something to do.
std::vector<Task> tasks_of(const Distribution& distribution, int nodes) {
  std::vector<int> used(static_cast<std::size_t>(nodes), 0);
  std::vector<Task> tasks;
  const auto add = [&](bool is_parameter_server, int index, int node) {
    const int offset = used[static_cast<std::size_t>(node)]++;
    tasks.push_back({is_parameter_server, index, node, offset});
  };
  for (int i = 0; i < distribution.workers; ++i) add(false, i, i % nodes);
  for (int i = 0; i < distribution.parameter_servers; ++i) add(true, i, nodes - 1 - i);
  return tasks;
}

std::vector<Task> tasks_on(const JobSpec& spec, int node_rank) {
  std::vector<Task> tasks =
      tasks_of(distribution_of(spec), command_of(spec).resources.instance_count);
  std::erase_if(tasks, [&](const Task& task) { return task.node != node_rank; });
  return tasks;
}

/// What clients take for the first process's log, and stream, has no number but 0 in its name.
std::string log_name(int number, bool is_parameter_server) {
  if (number == 0 && !is_parameter_server) return "user_logs/std_log.txt";
  return fmt::format("user_logs/std_log_process_{:02}{}.txt", number,
                     is_parameter_server ? "_ps" : "");
}

Rank tensorflow_rank(const Task& task) {
  Rank rank{.name = fmt::format("{}_{}", task.is_parameter_server ? "ps" : "worker", task.index),
            .log = log_name(task.index, task.is_parameter_server)};
  rank.environment["AZUREML_PROCESS_NAME"] = rank.name;
  return rank;
}

Rank numbered_rank(const Distribution& distribution, int node_rank, int local_rank) {
  const int number = node_rank * distribution.processes_per_node + local_rank;
  Rank rank{.name = fmt::format("rank_{}", number), .log = log_name(number, false)};
  rank.environment["AZUREML_PROCESS_NAME"] = rank.name;
  if (distribution.framework == Framework::PyTorch) {
    rank.environment["RANK"] = std::to_string(number);
    rank.environment["LOCAL_RANK"] = std::to_string(local_rank);
  }
  return rank;
}

std::string endpoint(const std::string& address, int port) {
  const bool is_ipv6 = address.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

std::string tensorflow_config(const std::vector<Task>& all, const Task& self,
                              std::span<const Member> members) {
  json::array workers;
  json::array servers;
  for (const Task& task : all) {
    const Member& member = members[static_cast<std::size_t>(task.node)];
    (task.is_parameter_server ? servers : workers)
        .emplace_back(endpoint(member.address, member.port + task.port_offset));
  }
  json::object cluster = {{"worker", std::move(workers)}};
  if (!servers.empty()) cluster["ps"] = std::move(servers);
  return json::serialize(json::object{
      {"cluster", std::move(cluster)},
      {"task", {{"type", self.is_parameter_server ? "ps" : "worker"}, {"index", self.index}}},
      {"environment", "cloud"}});
}

}  // namespace

Result<Distribution> read_distribution(const JobSpec& spec) {
  const model::CommandWork& work = command_of(spec);
  if (work.distribution.is_null()) return Distribution{};
  const json::object* const from = work.distribution.if_object();
  if (from == nullptr) {
    return fail(Code::InvalidArgument, "a distribution is an object", "distribution");
  }
  const int nodes = work.resources.instance_count;
  Distribution distribution;
  distribution.framework = TRY(read_framework(*from));
  if (distribution.framework == Framework::TensorFlow) return read_tensorflow(*from, nodes);
  if (distribution.framework == Framework::Mpi && nodes > kMostMpiNodes) {
    return fail(Code::InvalidArgument,
                fmt::format("an mpi job has at most {} nodes, but instance_count is {}",
                            kMostMpiNodes, nodes),
                "resources.instance_count");
  }
  distribution.processes_per_node = TRY(read_count(*from, {.arm = "processCountPerInstance",
                                                           .yaml = "process_count_per_instance",
                                                           .most = kMostProcessesPerNode}));
  return distribution;
}

bool waits_for_peers(const JobSpec& spec) {
  const model::CommandWork& work = command_of(spec);
  return work.resources.instance_count > 1 || !work.distribution.is_null();
}

std::vector<Rank> ranks_of(const JobSpec& spec, int node_rank) {
  const Distribution distribution = distribution_of(spec);
  std::vector<Rank> ranks;
  if (distribution.framework == Framework::TensorFlow) {
    for (const Task& task : tasks_on(spec, node_rank)) ranks.push_back(tensorflow_rank(task));
  } else {
    for (int local = 0; local < distribution.processes_per_node; ++local) {
      ranks.push_back(numbered_rank(distribution, node_rank, local));
    }
  }
  return ranks;
}

Variables node_topology(const JobSpec& spec, std::span<const Member> members, int node_rank) {
  if (members.empty()) return {};
  std::vector<std::string> hosts;
  for (const Member& member : members) hosts.push_back(member.address);
  const Member& head = members.front();
  Variables variables = {
      {"AZUREML_CR_NODE_RANK", std::to_string(node_rank)},
      {"AZ_BATCH_HOST_LIST", fmt::format("{}", fmt::join(hosts, ","))},
      {"AZ_BATCH_MASTER_NODE", endpoint(head.address, head.port)},
      {"AZ_BATCHAI_JOB_MASTER_NODE_IP", head.address},
      {"AZ_BATCHAI_MPI_MASTER_NODE", head.address},
  };
  const Distribution distribution = distribution_of(spec);
  if (distribution.framework == Framework::PyTorch) {
    const auto nodes = static_cast<int>(members.size());
    variables["MASTER_ADDR"] = head.address;
    variables["MASTER_PORT"] = std::to_string(head.port);
    variables["WORLD_SIZE"] = std::to_string(nodes * distribution.processes_per_node);
    variables["NODE_RANK"] = std::to_string(node_rank);
  }
  return variables;
}

std::vector<Variables> rank_topology(const JobSpec& spec, std::span<const Member> members,
                                     int node_rank) {
  const Distribution distribution = distribution_of(spec);
  if (distribution.framework != Framework::TensorFlow) return {};
  const std::vector<Task> all = tasks_of(distribution, static_cast<int>(members.size()));
  std::vector<Variables> variables;
  for (const Task& task : all) {
    if (task.node != node_rank) continue;
    variables.push_back({{"TF_CONFIG", tensorflow_config(all, task, members)}});
  }
  return variables;
}

}  // namespace berth::core
