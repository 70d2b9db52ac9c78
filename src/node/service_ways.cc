// SPDX-License-Identifier: Apache-2.0
#include "node/service_ways.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "wire/node/message.h"

namespace berth::node {
namespace {

/// A burst finds so many at once; whoever comes beyond them waits for a replacement.
constexpr int kSpareConnections = 4;
constexpr std::size_t kMostConnections = 256;
constexpr Duration kBeforeDialling(500);  // And up to as much again, so that not all come at once.

}  // namespace

ServiceWays::ServiceWays(io::Loop& loop, model::NodeId node, FindServer find_server)
    : loop_(loop), node_(std::move(node)), find_server_(std::move(find_server)) {}

ServiceWays::~ServiceWays() = default;

ServiceWays::Way* ServiceWays::find_way(const model::AttemptRef& attempt) {
  const auto found = ways_.find(attempt);
  return found == ways_.end() ? nullptr : &found->second;
}

void ServiceWays::open(const model::AttemptRef& attempt, std::uint16_t port) {
  ways_[attempt].port = port;
  fill(attempt);
}

void ServiceWays::close(const model::AttemptRef& attempt) { ways_.erase(attempt); }

void ServiceWays::fill(const model::AttemptRef& attempt) {
  Way* const way = find_way(attempt);
  if (way == nullptr || way->is_waiting) return;
  const Result<io::WebSocketAddress> server = find_server_();
  if (!server) return fill_later(attempt);
  while (way->spare < kSpareConnections && way->pipes.size() < kMostConnections) {
    dial(attempt, *server, *way);
  }
}

void ServiceWays::dial(const model::AttemptRef& attempt, const io::WebSocketAddress& server,
                       Way& way) {
  io::WebSocketAddress address = server;
  address.path = wire::node::parking_path(node_, attempt);
  const PipeNumber number = ++last_number_;
  const auto is_spare = std::make_shared<bool>(true);
  ++way.spare;
  way.pipes[number] = io::ParkedPipe::open(
      loop_, std::move(address), wire::node::kParkProtocol, way.port,
      {.on_used = [this, attempt, is_spare] { used(attempt, *is_spare); },
       .on_closed = [this, attempt, number, is_spare](
                        const Status& status) { closed(attempt, number, *is_spare, status); }});
}

void ServiceWays::used(const model::AttemptRef& attempt, bool& is_spare) {
  Way* const way = find_way(attempt);
  if (way == nullptr || !std::exchange(is_spare, false)) return;
  --way->spare;
  fill(attempt);
}

/// A spare one that ends was cut by a server that ends, or that does not want it.
void ServiceWays::closed(const model::AttemptRef& attempt, PipeNumber number, bool was_spare,
                         const Status& status) {
  Way* const way = find_way(attempt);
  if (way == nullptr) return;
  way->pipes.erase(number);
  if (was_spare) --way->spare;
  const std::string trouble = status ? "" : status.error().message;
  if (!trouble.empty() && trouble != way->last_trouble) {
    log::info("no way for the server to '{}': {}", attempt.job.name, trouble);
  }
  way->last_trouble = trouble;
  was_spare ? fill_later(attempt) : fill(attempt);
}

void ServiceWays::fill_later(const model::AttemptRef& attempt) {
  Way* const way = find_way(attempt);
  if (way == nullptr || std::exchange(way->is_waiting, true)) return;
  const auto jitter = random_below(static_cast<std::size_t>(kBeforeDialling.count()));
  loop_.after(kBeforeDialling + Duration(static_cast<Duration::rep>(jitter)),
              [this, attempt, still = std::weak_ptr<int>(alive_)] {
                if (still.expired()) return;
                Way* const waiting = find_way(attempt);
                if (waiting == nullptr) return;
                waiting->is_waiting = false;
                fill(attempt);
              });
}

}  // namespace berth::node
