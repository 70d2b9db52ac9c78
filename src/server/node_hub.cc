// SPDX-License-Identifier: Apache-2.0
#include "server/node_hub.h"

#include "base/log.h"
#include "base/random.h"
#include "base/version.h"
#include "server/launch.h"

namespace berth::server {

using model::Job;
using model::JobKey;
using model::JobStatus;
using model::Node;
using model::NodeId;
using model::NodeStatus;
using target::Liveness;
using wire::node::AttemptRef;

void NodeHub::attach(ControlPlane& plane, store::Store& store, std::string base_url) {
  plane_ = &plane;
  store_ = &store;
  base_url_ = std::move(base_url);
}

// ---- Connections -------------------------------------------------------------------------------

void NodeHub::accept(const NodeId& node, std::shared_ptr<io::WebSocket> channel) {
  // A node that dials again has lost its old connection, whatever ours looks like.
  if (const auto old = channels_.find(node); old != channels_.end()) {
    const std::shared_ptr<io::WebSocket> socket = old->second.socket;
    channels_.erase(old);
    socket->close();
  }
  const io::WebSocket* socket = channel.get();
  channels_[node] = {.socket = channel};
  channel->start({.on_message =
                      [this, node, socket](const std::string& data, bool binary) {
                        const auto current = channels_.find(node);
                        if (current == channels_.end() || current->second.socket.get() != socket)
                          return;
                        received(node, data, binary);
                      },
                  .on_close = [this, node, socket](const std::string&) { closed(node, socket); }});
}

void NodeHub::closed(const NodeId& node, const io::WebSocket* socket) {
  const auto found = channels_.find(node);
  if (found == channels_.end() || found->second.socket.get() != socket) return;
  channels_.erase(found);
  plane_->node_detached(node);
  reconcile();
}

void NodeHub::hang_up(const NodeId& node, std::string_view why) {
  const auto found = channels_.find(node);
  if (found == channels_.end()) return;
  log::warning("hanging up on node '{}': {}", node.text, why);
  const std::shared_ptr<io::WebSocket> socket = found->second.socket;
  socket->close();
}

void NodeHub::resynchronise() {
  std::vector<NodeId> connected;
  for (const auto& [node, channel] : channels_) connected.push_back(node);
  for (const NodeId& node : connected) hang_up(node, "it must say again what it holds");
}

void NodeHub::send(const NodeId& node, const wire::node::ToNode& message) {
  const auto found = channels_.find(node);
  if (found == channels_.end()) return;  // It is told when it dials in again.
  wire::node::Frame frame = wire::node::encode(message);
  found->second.socket->send(std::move(frame.data), frame.binary);
}

void NodeHub::received(const NodeId& node, std::string_view data, bool binary) {
  const auto message = wire::node::decode_to_server(data, binary);
  if (!message) return hang_up(node, message.error().message);
  if (!*message) return;  // From a newer node.
  const bool is_hello = std::holds_alternative<wire::node::Hello>(**message);
  if (!is_hello && !channels_[node].has_joined) return hang_up(node, "it did not say hello");
  std::visit([&](const auto& said) { on(node, said); }, **message);
}

// ---- What nodes say ----------------------------------------------------------------------------

void NodeHub::on(const NodeId& node, const wire::node::Hello& message) {
  if (message.node != node) return hang_up(node, "it says hello for another node");
  std::vector<ControlPlane::Held> held;
  for (const auto& [attempt, phase] : message.attempts)
    held.push_back({attempt.job, attempt.attempt});
  channels_[node].has_joined = true;
  send(node, wire::node::Welcome{std::string(kVersion)});
  if (const Status joined = plane_->node_joined(node, message.slots, message.work_root, held);
      !joined) {
    log::warning("{}", joined.error().message);
    for (const auto& [attempt, phase] : message.attempts) send(node, wire::node::Stop{attempt});
    send(node, wire::node::Leave{joined.error().message});
    return;
  }
  log::info("node '{}' is here, with {} attempts", node.text, held.size());
}

void NodeHub::on(const NodeId& node, const wire::node::Advanced& message) {
  JobStatus status = JobStatus::Preparing;
  if (message.phase == wire::node::Phase::Running) status = JobStatus::Running;
  if (message.phase == wire::node::Phase::Finalizing) status = JobStatus::Finalizing;
  plane_->job_advanced(node, {message.attempt.job, message.attempt.attempt}, status);
}

void NodeHub::on(const NodeId& node, const wire::node::LogChunk& message) {
  const auto& [job, attempt] = message.attempt;
  if (!plane_->holds(node, job, attempt)) return;
  const Result<std::uint64_t> size =
      parts_.logs.append(job, attempt, message.offset, message.bytes);
  if (size) {
    send(node, wire::node::LogStored{message.attempt, *size});
    if (!message.bytes.empty()) parts_.on_job_changed(job);
    return;
  }
  // The disk is full, most likely. The node has the bytes; ask for them again in a while.
  log::warning("the log of job '{}' could not be stored: {}", job.name, size.error().message);
  parts_.loop.after(std::chrono::seconds(1), [this, node, again = message.attempt] {
    const auto stored = parts_.logs.append(again.job, again.attempt, 0, "");
    if (stored) send(node, wire::node::LogStored{again, *stored});
  });
}

namespace {

/// A command that went well but whose outputs could not be kept has not done its work.
model::Outcome judged(const wire::node::Ended& message) {
  model::Outcome outcome = message.outcome;
  if (message.delivery_errors.empty()) return outcome;
  const std::string trouble =
      fmt::format("its outputs could not be kept: {}", message.delivery_errors.front());
  if (outcome.ending == model::Ending::Exited && outcome.exit_code == 0) {
    return {.ending = model::Ending::Lost, .message = trouble};
  }
  outcome.message += outcome.message.empty() ? trouble : "; " + trouble;
  return outcome;
}

store::PutBlob log_row(const JobKey& job, const std::vector<store::Piece>& pieces, WallTime now) {
  store::Blob blob{.key = log_blob(job), .pieces = pieces, .content_type = "text/plain"};
  for (const store::Piece& piece : pieces) blob.size += piece.size;
  blob.etag = "\"0x" + random_hex(8) + "\"";
  blob.created_at = blob.modified_at = now;
  return {std::move(blob)};
}

}  // namespace

void NodeHub::on(const NodeId& node, const wire::node::Ended& message) {
  const ControlPlane::Held held{message.attempt.job, message.attempt.attempt};
  if (!plane_->holds(node, held.job, held.attempt)) {
    plane_->job_ended(node, held, message.outcome, {});
    return;
  }
  if (!sealing_.insert(message.attempt).second) return;
  parts_.logs.seal(held.job, held.attempt,
                   [this, node, held, ref = message.attempt,
                    outcome = judged(message)](const Result<std::vector<store::Piece>>& pieces) {
                     sealing_.erase(ref);
                     if (!pieces) return hang_up(node, pieces.error().message);
                     store::Batch rows;
                     rows.push_back(log_row(held.job, *pieces, parts_.clock.now().wall));
                     plane_->job_ended(node, held, outcome, std::move(rows));
                   });
}

// ---- What the control plane decides ------------------------------------------------------------

void NodeHub::launch(const Job& job, const Node& node) {
  if (!channels_.contains(node.id)) return;
  const model::Workspace* workspace = plane_->find_workspace(job.key.workspace);
  if (workspace == nullptr) return;
  const LaunchContext context{.catalogue = {*store_, *plane_},
                              .signer = parts_.signer,
                              .base_url = base_url_,
                              .now = parts_.clock.now().wall};
  Result<wire::node::Launch> message = make_launch(context, job, node, *workspace);
  if (message) return send(node.id, *std::move(message));
  const ControlPlane::Held held{job.key, job.attempt};
  plane_->job_ended(node.id, held,
                    {.ending = model::Ending::NotStarted, .message = message.error().message}, {});
}

void NodeHub::stop(const JobKey& job, int attempt, const NodeId& node) {
  send(node, wire::node::Stop{{job, attempt}});
}

void NodeHub::forget(const JobKey& job, int attempt, const NodeId& node) {
  parts_.logs.drop(job, attempt);
  send(node, wire::node::Forget{{job, attempt}});
}

void NodeHub::start_node(const Node& node) {
  const target::NodeSpec spec{
      .id = node.id, .token = parts_.signer.node_token(node.id), .slots = node.slots};
  parts_.provider_thread.run([this, spec]() -> io::Offload::Continuation {
    const Status started = parts_.provider.start(spec);
    if (started) return {};
    return [id = spec.id, why = started.error().message] {
      log::error("node '{}' could not be started: {}", id.text, why);  // reconcile() tries again.
    };
  });
}

void NodeHub::dismiss_node(const NodeId& node) { send(node, wire::node::Leave{"idle"}); }

void NodeHub::dismiss_idle_nodes() {
  for (const auto& [id, node] : plane_->state().nodes) {
    if (core::jobs_on(plane_->state(), id).empty()) dismiss_node(id);
  }
}

// ---- Nodes that are not connected --------------------------------------------------------------

void NodeHub::reconcile() {
  const auto& nodes = plane_->state().nodes;
  const bool all_here = std::ranges::all_of(
      nodes, [this](const auto& entry) { return channels_.contains(entry.first); });
  if (all_here || is_observing_) return;
  is_observing_ = true;
  parts_.provider_thread.run([this]() -> io::Offload::Continuation {
    const Result<std::vector<target::ObservedNode>> seen = parts_.provider.observe();
    return [this, seen] {
      is_observing_ = false;
      if (!seen) return log::warning("nodes could not be observed: {}", seen.error().message);
      std::map<NodeId, Liveness> liveness;
      for (const auto& [id, how] : *seen) liveness[id] = how;
      std::vector<NodeId> absent;
      for (const auto& [id, node] : plane_->state().nodes) {
        if (!channels_.contains(id)) absent.push_back(id);
      }
      for (const NodeId& id : absent) {
        const auto found = liveness.find(id);
        settle(id, found == liveness.end() ? Liveness::Gone : found->second);
      }
    };
  });
}

void NodeHub::settle(const NodeId& id, Liveness liveness) {
  if (liveness != Liveness::Gone) return;
  const Node node = plane_->state().nodes.at(id);
  const bool has_work = !core::jobs_on(plane_->state(), id).empty();
  if (node.status == NodeStatus::Requested || has_work) {
    start_node(node);  // Its successor takes up what the old one left in its directory.
  } else {
    plane_->node_gone(id);
  }
}

}  // namespace berth::server
