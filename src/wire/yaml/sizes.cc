// SPDX-License-Identifier: Apache-2.0
// The operator's own sizes.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/text.h"
#include "model/memory.h"
#include "wire/yaml/compute.h"
#include "wire/yaml/entity.h"

namespace berth::wire::yaml {
namespace {

using model::VmSize;

constexpr std::array<std::string_view, 7> kKeys = {
    "name", "family", "cores", "memory", "gpus", "price_per_hour", "low_priority_price_per_hour"};
constexpr std::int64_t kMostCores = 100'000;
constexpr std::int64_t kMostGpus = 1024;
constexpr double kMostPrice = 1e6;
constexpr std::size_t kLongestName = 64;

Result<const Node*> required(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  if (found != nullptr && found->kind != Node::Kind::Null) return found;
  return error_at(node.mark, fmt::format("a size needs '{}'", key));
}

Result<int> read_count(const Node& node, std::string_view key, std::int64_t least,
                       std::int64_t most) {
  const std::int64_t number = TRY(as_integer(node, key));
  if (number >= least && number <= most) return static_cast<int>(number);
  return error_at(node.mark,
                  fmt::format("'{}' must be from {} to {}, but is {}", key, least, most, number));
}

/// Nothing when the key is absent.
Result<std::optional<double>> read_price(const Node& size, std::string_view key) {
  const Node* node = size.find(key);
  if (node == nullptr || node->kind == Node::Kind::Null) return std::optional<double>();
  const std::string text = TRY(as_text(*node, key));
  double price = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), price);
  const bool is_number = failed == std::errc() && end == text.data() + text.size();
  if (is_number && price >= 0 && price <= kMostPrice) return std::optional<double>(price);
  return error_at(node->mark,
                  fmt::format("'{}' must be a price such as 0.29, but is '{}'", key, text));
}

Result<VmSize> read_size(const Node& node) {
  TRY(check_mapping(node, "a size"));
  TRY(check_keys(node, "a size", kKeys));
  VmSize size;
  const Node* name = TRY(required(node, "name"));
  size.name = TRY(as_text(*name, "name"));
  if (!is_resource_name(size.name) || size.name.size() > kLongestName) {
    return error_at(name->mark, fmt::format("'{}' cannot be the name of a size: up to {} letters, "
                                            "digits, '-', '_' and '.'",
                                            to_valid_utf8(size.name), kLongestName));
  }
  size.cores = TRY(read_count(*TRY(required(node, "cores")), "cores", 1, kMostCores));
  const Node* memory = TRY(required(node, "memory"));
  const Result<std::int64_t> mib = model::memory_mib_from(TRY(as_text(*memory, "memory")));
  if (!mib) return at(memory->mark, mib.error());
  size.memory_mib = *mib;
  if (const Node* gpus = node.find("gpus"))
    size.gpus = TRY(read_count(*gpus, "gpus", 0, kMostGpus));
  size.family = TRY(text_member(node, "family"));
  if (size.family.empty()) size.family = "custom";
  size.price_per_hour = TRY(read_price(node, "price_per_hour")).value_or(0);
  size.low_priority_price_per_hour =
      TRY(read_price(node, "low_priority_price_per_hour")).value_or(size.price_per_hour);
  return size;
}

}  // namespace

Result<std::vector<VmSize>> sizes_from_yaml(const Node& root) {
  std::vector<VmSize> sizes;
  if (root.kind == Node::Kind::Null) return sizes;
  if (root.kind != Node::Kind::Sequence) {
    return error_at(root.mark, "a file of sizes is a list: '- name: …'");
  }
  std::set<std::string> names;
  for (const Node& item : root.items) {
    sizes.push_back(TRY(read_size(item)));
    if (names.insert(to_lower(sizes.back().name)).second) continue;
    return error_at(item.mark, fmt::format("size '{}' is there twice", sizes.back().name));
  }
  return sizes;
}

}  // namespace berth::wire::yaml
