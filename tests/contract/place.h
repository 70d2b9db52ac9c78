// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "target/node_provider.h"

namespace berth::target {

/// Where a provider's nodes live: it outlasts provider objects, as the world does.
class Place {
 public:
  virtual ~Place() = default;
  virtual std::string why_not() { return {}; }    ///< Why it cannot be used here.
  virtual std::string authority() { return {}; }  ///< NodeSpec::ca_file.
  virtual std::unique_ptr<NodeProvider> make_provider() = 0;
  virtual int starts_of(const model::NodeId& id) = 0;  ///< How often such a node really began.
  virtual void kill(const model::NodeId& id) = 0;      ///< It dies, without anybody's asking.
};

/// Waits, for at most five minutes, until it is so: a scheduler may be behind it.
inline bool eventually(const std::function<bool()>& is_so) {
  for (int attempt = 0; attempt < 30'000; ++attempt) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace berth::target
