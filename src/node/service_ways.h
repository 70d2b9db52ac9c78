// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "io/http/parked_pipe.h"
#include "io/loop.h"
#include "model/attempt.h"
#include "model/node.h"

namespace berth::node {

/// The connections by which the server gets to this node's services: for each, a few spare ones are
/// parked there, and one that is used is replaced. Loop thread only.
class ServiceWays {
 public:
  using FindServer = std::function<Result<io::WebSocketAddress>()>;

  ServiceWays(io::Loop& loop, model::NodeId node, FindServer find_server);
  ~ServiceWays();
  ServiceWays(const ServiceWays&) = delete;
  ServiceWays& operator=(const ServiceWays&) = delete;

  /// Until close(); also over the end of a server and the beginning of the next.
  void open(const model::AttemptRef& attempt, std::uint16_t port);
  /// Cuts what is under way as well.
  void close(const model::AttemptRef& attempt);

 private:
  using PipeNumber = std::uint64_t;
  struct Way {
    std::uint16_t port = 0;
    int spare = 0;  ///< Parked and unused, or being parked.
    std::map<PipeNumber, std::shared_ptr<io::ParkedPipe>> pipes{};
    bool is_waiting = false;  ///< Before it dials again.
    std::string last_trouble{};
  };

  void fill(const model::AttemptRef& attempt);
  void dial(const model::AttemptRef& attempt, const io::WebSocketAddress& server, Way& way);
  void fill_later(const model::AttemptRef& attempt);
  void used(const model::AttemptRef& attempt, bool& is_spare);
  void closed(const model::AttemptRef& attempt, PipeNumber number, bool was_spare,
              const Status& status);
  Way* find_way(const model::AttemptRef& attempt);

  io::Loop& loop_;
  const model::NodeId node_;
  const FindServer find_server_;
  PipeNumber last_number_ = 0;
  std::map<model::AttemptRef, Way> ways_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::node
