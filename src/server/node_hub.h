// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "io/loop.h"
#include "io/offload.h"
#include "io/websocket.h"
#include "server/control_plane.h"
#include "server/log_store.h"
#include "server/signer.h"
#include "target/node_provider.h"
#include "wire/node/message.h"

namespace berth::server {

struct NodeHubParts {
  io::Loop& loop;
  target::NodeProvider& provider;
  io::Offload& provider_thread;  ///< One thread: provider calls never overlap.
  LogStore& logs;
  const Signer& signer;
  const Clock& clock;
  std::function<void(const model::JobKey&)> on_job_changed;
};

/// The connections to nodes: carries out what the control plane decides, and tells it what nodes
/// say. Loop thread only.
class NodeHub final : public Effects {
 public:
  explicit NodeHub(NodeHubParts parts) : parts_(std::move(parts)) {}

  /// Before anything else; `base_url` is where nodes reach us.
  void attach(ControlPlane& plane, store::Store& store, std::string base_url);

  /// A node has dialled in, with that node's own token.
  void accept(const model::NodeId& node, std::shared_ptr<io::WebSocket> channel);

  /// Compares the nodes that are not connected with what the provider sees, and starts again, or
  /// gives up, those that are gone.
  void reconcile();

  /// Lets every node go that holds nothing; for a server that stops.
  void dismiss_idle_nodes();

  void launch(const model::Job& job, const model::Node& node) override;
  void stop(const model::JobKey& job, int attempt, const model::NodeId& node) override;
  void forget(const model::JobKey& job, int attempt, const model::NodeId& node) override;
  void start_node(const model::Node& node) override;
  void dismiss_node(const model::NodeId& node) override;
  void job_changed(const model::JobKey& job) override { parts_.on_job_changed(job); }
  void resynchronise() override;

 private:
  struct Channel {
    std::shared_ptr<io::WebSocket> socket;
    bool has_joined = false;
  };

  void send(const model::NodeId& node, const wire::node::ToNode& message);
  void received(const model::NodeId& node, std::string_view data, bool binary);
  void closed(const model::NodeId& node, const io::WebSocket* socket);
  void hang_up(const model::NodeId& node, std::string_view why);
  void settle(const model::NodeId& node, target::Liveness liveness);

  void on(const model::NodeId& node, const wire::node::Hello& message);
  void on(const model::NodeId& node, const wire::node::Advanced& message);
  void on(const model::NodeId& node, const wire::node::Ended& message);
  void on(const model::NodeId& node, const wire::node::LogChunk& message);

  NodeHubParts parts_;
  ControlPlane* plane_ = nullptr;
  store::Store* store_ = nullptr;
  std::string base_url_;
  std::map<model::NodeId, Channel> channels_;
  std::set<wire::node::AttemptRef> sealing_;  ///< Ended, their logs on the way into objects.
  bool is_observing_ = false;
};

}  // namespace berth::server
