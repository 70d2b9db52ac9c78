// SPDX-License-Identifier: Apache-2.0
#include "sim/planted.h"

#include "wire/node/message.h"

namespace berth::sim {
namespace {

class HastyStore final : public SimStore {
 public:
  using SimStore::SimStore;

  void commit(store::Batch batch, Committed done) override {
    SimStore::commit(std::move(batch), [](const Status&) {});
    answer({std::move(done)}, Done{});
  }
};

class PlantedSocket final : public io::WebSocket {
 public:
  PlantedSocket(Bug bug, server::ControlPlane& plane, model::NodeId node,
                std::shared_ptr<io::WebSocket> socket)
      : bug_(bug), plane_(plane), node_(std::move(node)), socket_(std::move(socket)) {}

  /// What was sent still arrives when the hub has let go of this socket.
  void start(Callbacks callbacks) override {
    socket_->start({.on_message =
                        [bug = bug_, &plane = plane_, hear = callbacks.on_message](
                            const std::string& data, bool binary) {
                          if (bug == Bug::TakesOldReports) take_old_report(plane, data, binary);
                          if (bug != Bug::IgnoresLeaving) return hear(data, binary);
                          if (const auto told = without_leaving(data, binary)) {
                            hear(told->data, told->binary);
                          }
                        },
                    .on_close =
                        [bug = bug_, &plane = plane_, node = node_,
                         close = callbacks.on_close](const std::string& reason) {
                          close(reason);
                          if (bug == Bug::IgnoresLeases) plane.nodes.gone(node);
                        }});
  }
  void send(std::string message, bool binary) override {
    socket_->send(std::move(message), binary);
  }
  std::size_t queued_bytes() const override { return socket_->queued_bytes(); }
  void close() override { socket_->close(); }

 private:
  static void take_old_report(server::ControlPlane& plane, const std::string& data, bool binary) {
    const auto message = wire::node::decode_to_server(data, binary);
    const auto* ended = message && *message ? std::get_if<wire::node::Ended>(&**message) : nullptr;
    if (ended == nullptr) return;
    const auto job = plane.state().jobs.find(ended->attempt.job);
    if (job == plane.state().jobs.end() || job->second.attempt <= ended->attempt.attempt) return;
    plane.nodes.job_ended(model::head_node(job->second), {job->first, job->second.attempt},
                          ended->outcome, {});
  }

  static std::optional<wire::node::Frame> without_leaving(const std::string& data, bool binary) {
    auto message = wire::node::decode_to_server(data, binary);
    if (!message || !*message) return wire::node::Frame{data, binary};
    if (std::holds_alternative<wire::node::Leaving>(**message)) return std::nullopt;
    if (auto* hello = std::get_if<wire::node::Hello>(&**message)) hello->is_leaving = false;
    return wire::node::encode(**message);
  }

  Bug bug_;
  server::ControlPlane& plane_;
  model::NodeId node_;
  std::shared_ptr<io::WebSocket> socket_;
};

class SilentEngine final : public target::Engine {
 public:
  explicit SilentEngine(std::unique_ptr<target::Engine> engine) : engine_(std::move(engine)) {}

  std::string root_of(const model::AttemptRef& ref) const override { return engine_->root_of(ref); }
  Status start(const target::AttemptSpec& spec) override { return engine_->start(spec); }
  Result<std::vector<target::ObservedAttempt>> observe() override {
    auto seen = engine_->observe();
    if (!seen) return std::vector<target::ObservedAttempt>();
    return seen;
  }
  Result<target::LogPart> read_log(const model::AttemptRef& ref, std::uint64_t from) override {
    return engine_->read_log(ref, from);
  }
  Status stop(const model::AttemptRef& ref) override { return engine_->stop(ref); }
  Status forget(const model::AttemptRef& ref) override { return engine_->forget(ref); }

 private:
  std::unique_ptr<target::Engine> engine_;
};

}  // namespace

std::unique_ptr<SimStore> make_store(Bug bug, Stage& stage, Disk& disk) {
  if (bug == Bug::ActsBeforeTheCommit) return std::make_unique<HastyStore>(stage, disk);
  return std::make_unique<SimStore>(stage, disk);
}

std::shared_ptr<io::WebSocket> plant(Bug bug, server::ControlPlane& plane,
                                     const model::NodeId& node,
                                     std::shared_ptr<io::WebSocket> socket) {
  const bool is_of_nodes =
      bug == Bug::IgnoresLeases || bug == Bug::IgnoresLeaving || bug == Bug::TakesOldReports;
  if (!is_of_nodes) return socket;
  return std::make_shared<PlantedSocket>(bug, plane, node, std::move(socket));
}

std::unique_ptr<target::Engine> plant(Bug bug, std::unique_ptr<target::Engine> engine) {
  if (bug != Bug::TakesSilenceForLoss) return engine;
  return std::make_unique<SilentEngine>(std::move(engine));
}

}  // namespace berth::sim
