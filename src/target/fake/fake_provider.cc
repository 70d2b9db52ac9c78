// SPDX-License-Identifier: Apache-2.0
#include "target/fake/fake_provider.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::target::fake {

Status FakeProvider::take_failure() {
  if (!nodes_->next_failure) return Done{};
  Error error = std::move(*nodes_->next_failure);
  nodes_->next_failure.reset();
  return fail(std::move(error));
}

Status FakeProvider::start(const NodeSpec& spec) {
  TRY(take_failure());
  if (!is_resource_name(spec.id.text)) {
    return fail(Code::InvalidArgument, fmt::format("'{}' cannot name a node", spec.id.text));
  }
  FakeNodes::Node& node = nodes_->nodes[spec.id];
  const bool is_there = node.starts > 0 && node.liveness != Liveness::Gone;
  node.spec = spec;
  if (is_there) return Done{};
  node.liveness = Liveness::Running;
  ++node.starts;
  return Done{};
}

Result<std::vector<ObservedNode>> FakeProvider::observe() {
  TRY(take_failure());
  std::vector<ObservedNode> seen;
  for (const auto& [id, node] : nodes_->nodes) seen.push_back({id, node.liveness});
  return seen;
}

Status FakeProvider::stop(const model::NodeId& id) {
  TRY(take_failure());
  const auto found = nodes_->nodes.find(id);
  if (found != nodes_->nodes.end()) found->second.liveness = Liveness::Gone;
  return Done{};
}

}  // namespace berth::target::fake
