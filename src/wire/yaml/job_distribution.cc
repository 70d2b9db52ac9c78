// SPDX-License-Identifier: Apache-2.0
// `distribution:` of a job file, as ARM writes it. Whether its numbers go together with the rest of
// the job is checked when the job is submitted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/job_part.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

struct Distribution {
  std::string_view yaml;
  std::string_view arm;
  std::array<std::string_view, 3> keys;  ///< With "type"; the rest are empty.
};
constexpr std::array<Distribution, 3> kDistributions = {{
    {"pytorch", "PyTorch", {"type", "process_count_per_instance"}},
    {"mpi", "Mpi", {"type", "process_count_per_instance"}},
    {"tensorflow", "TensorFlow", {"type", "worker_count", "parameter_server_count"}},
}};

struct Count {
  std::string_view key;
  std::int64_t least;
};
constexpr std::array<Count, 3> kCounts = {
    {{"process_count_per_instance", 1}, {"worker_count", 1}, {"parameter_server_count", 0}}};

Result<const Distribution*> read_type(const Node& node) {
  const Node* type = node.find("type");
  if (type == nullptr || type->kind == Node::Kind::Null) {
    return error_at(node.mark, "'distribution' needs a 'type': pytorch, mpi or tensorflow");
  }
  const std::string name = TRY(as_text(*type, "type"));
  if (equals_ignoring_case(name, "ray")) {
    return error_at(type->mark, "a ray distribution is not supported yet");
  }
  std::array<std::string_view, kDistributions.size()> names;
  std::ranges::transform(kDistributions, names.begin(), &Distribution::yaml);
  const std::string known = TRY(choice_member(node, "type", names));
  return &*std::ranges::find(kDistributions, known, &Distribution::yaml);
}

Status read_count(const Node& node, const Count& count, json::object& result) {
  const Node* member = node.find(count.key);
  if (member == nullptr || member->kind == Node::Kind::Null) return Done{};
  const std::int64_t number = TRY(as_integer(*member, count.key));
  if (number < count.least || number > std::numeric_limits<int>::max()) {
    return error_at(member->mark, fmt::format("'{}' must be {} or more, but is {}", count.key,
                                              count.least, number));
  }
  result[to_camel_case(count.key)] = number;
  return Done{};
}

}  // namespace

Status read_distribution(const Node& root, model::Job& job) {
  const Node* node = root.find("distribution");
  if (node == nullptr || node->kind == Node::Kind::Null) return Done{};
  TRY(check_mapping(*node, "distribution"));
  const Distribution* kind = TRY(read_type(*node));
  const auto last = std::ranges::find(kind->keys, "");
  TRY(check_keys(*node, fmt::format("a {} distribution", kind->yaml), {kind->keys.begin(), last}));
  json::object result = {{"distributionType", kind->arm}};
  for (const Count& count : kCounts) TRY(read_count(*node, count, result));
  command_of(job.spec.edit()).distribution = std::move(result);
  return Done{};
}

}  // namespace berth::wire::yaml
