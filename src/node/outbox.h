// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "wire/node/message.h"

namespace berth::node {

/// The way to the server, as attempts see it. Loop thread only.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual bool is_open() const = 0;
  /// What is sent while it is closed is dropped: Hello says it all again.
  virtual void send(const wire::node::ToServer& message) = 0;
  virtual std::size_t queued_bytes() const = 0;
  /// Dials anew: the server repeats every Launch then, with addresses that are valid again.
  virtual void redial() = 0;
};

}  // namespace berth::node
