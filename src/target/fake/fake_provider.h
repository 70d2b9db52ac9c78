// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/node_provider.h"

namespace berth::target::fake {

/// Nodes that exist only here, and outlive the provider object as real ones do.
struct FakeNodes {
  struct Node {
    NodeSpec spec{};
    Liveness liveness = Liveness::Running;
    int starts = 0;
  };
  std::map<model::NodeId, Node> nodes{};
  std::optional<Error> next_failure{};  ///< What the next call answers instead of doing anything.
};

/// For tests. Passes tests/contract, which is what entitles other tests to trust it.
class FakeProvider final : public NodeProvider {
 public:
  explicit FakeProvider(std::shared_ptr<FakeNodes> nodes = std::make_shared<FakeNodes>())
      : nodes_(std::move(nodes)) {}

  FakeNodes& nodes() { return *nodes_; }

  Status start(const NodeSpec& spec) override;
  Result<std::vector<ObservedNode>> observe() override;
  Status stop(const model::NodeId& id) override;

 private:
  Status take_failure();

  std::shared_ptr<FakeNodes> nodes_;
};

}  // namespace berth::target::fake
