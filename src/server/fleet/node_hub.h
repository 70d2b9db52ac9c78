// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "io/http/websocket.h"
#include "io/loop.h"
#include "io/offload.h"
#include "server/fleet/job_users.h"
#include "server/fleet/log_store.h"
#include "server/fleet/node_keeper.h"
#include "server/fleet/providers.h"
#include "server/keys/signer.h"
#include "server/plane/control_plane.h"
#include "wire/node/message.h"

namespace berth::server {

struct NodeHubParts {
  io::Loop& loop;
  Providers& providers;
  LogStore& logs;
  const Signer& signer;
  const Clock& clock;
  Duration lease = std::chrono::seconds(10);  ///< Of nodes that are not of this machine.
  Duration lease_while_stopped = std::chrono::hours(1);
  BootClock boot_clock{};
  std::function<void(const model::JobKey&)> on_job_changed;
  std::function<void()> on_node_wanted = [] {};  ///< One is started.
  const JobUsers* job_users = nullptr;  ///< Null: jobs of this machine run as its nodes do.
};

/// The connections to nodes: carries out what the control plane decides, and tells it what nodes
/// say. Loop thread only.
class NodeHub final : public Effects {
 public:
  explicit NodeHub(NodeHubParts parts);

  struct Addresses {
    std::string local_url{};   ///< http://…, for nodes of this machine.
    std::string remote_url{};  ///< https://…, for all others.
    std::string ca_file{};
  };
  /// Before anything else.
  void attach(ControlPlane& plane, store::Store& store, Addresses addresses);

  /// A node has dialled in, with that node's own token.
  void accept(const model::NodeId& node, std::shared_ptr<io::WebSocket> channel);

  /// Compares the nodes that are not connected with what their sites see.
  void reconcile();

  /// For a server that stops: this machine's own node goes when it holds nothing, and nodes with a
  /// lease get a long one. `heard` is called, once, when they all have it, or when those that have
  /// not said so in a few seconds are not waited for any longer. Connections must be kept until
  /// then.
  void say_good_bye(std::function<void()> heard);

  void launch(const model::Job& job, const model::Node& node) override;
  void go(const model::Job& job, const model::NodeId& node) override;
  void stop(const wire::node::AttemptRef& attempt, const model::NodeId& node) override;
  void forget(const wire::node::AttemptRef& attempt, const model::NodeId& node) override;
  void start_node(const model::Node& node) override;
  void dismiss_node(const model::NodeId& node) override;
  void attempt_taken(const model::JobKey& job, int attempt) override;
  void job_changed(const model::JobKey& job) override { parts_.on_job_changed(job); }
  void resynchronise() override;

 private:
  struct Channel {
    std::shared_ptr<io::WebSocket> socket;
    bool has_joined = false;
    std::set<wire::node::AttemptRef> launched{};  ///< Told to run, or to go on.
  };

  /// A server that stops, and the nodes that have not said yet that they have heard it.
  struct GoodBye {
    std::set<model::NodeId> unheard{};
    std::function<void()> heard{};  ///< Empty once it was called.
    io::Loop::TimerId timer{};
  };

  void give_long_leases(const std::set<model::NodeId>& nodes);
  void good_bye_heard_by(const model::NodeId& node);
  void end_good_bye();
  bool goes_on(const wire::node::AttemptRef& attempt) const;
  void send(const model::NodeId& node, const wire::node::ToNode& message);
  void received(const model::NodeId& node, std::string_view data, bool binary);
  void closed(const model::NodeId& node, const io::WebSocket* socket);
  void hang_up(const model::NodeId& node, std::string_view why);
  void let_go_of_silent();
  void advance(const model::NodeId& node, const wire::node::AttemptRef& attempt,
               wire::node::Phase phase);
  void note_start(const model::NodeId& node, const NodesDesk::Held& held,
                  const std::optional<Duration>& since_start);
  void seal_later(const model::NodeId& node, const wire::node::Ended& message, const Error& why);
  std::string url_for(const model::Node& node) const;

  void on(const model::NodeId& node, const wire::node::Hello& message);
  void on(const model::NodeId& node, const wire::node::Heartbeat& message);
  void on(const model::NodeId& node, const wire::node::LeaseNoted& message);
  void on(const model::NodeId& node, const wire::node::Leaving& message);
  void on(const model::NodeId& node, const wire::node::Prepared& message);
  void on(const model::NodeId& node, const wire::node::WorkAhead& message);
  void on(const model::NodeId& node, const wire::node::Returned& message);
  void on(const model::NodeId& node, const wire::node::Renew& message);
  void on(const model::NodeId& node, const wire::node::Advanced& message);
  void on(const model::NodeId& node, const wire::node::Serving& message);
  void on(const model::NodeId& node, const wire::node::Ended& message);
  void on(const model::NodeId& node, const wire::node::LogChunk& message);

  NodeHubParts parts_;
  ControlPlane* plane_ = nullptr;
  store::Store* store_ = nullptr;
  Addresses addresses_;
  NodeKeeper keeper_;
  std::map<model::NodeId, Channel> channels_;
  std::set<wire::node::AttemptRef> sealing_;  ///< Ended, their logs on the way into objects.
  std::optional<GoodBye> good_bye_{};
};

}  // namespace berth::server
