// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/node_hub.h"

#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "base/version.h"
#include "core/rules/workspace_rules.h"
#include "model/compute_kind.h"
#include "server/assets/log_blob.h"
#include "server/fleet/launch.h"
#include "server/plane/attempt.h"

namespace berth::server {

using model::Job;
using model::JobKey;
using model::JobStatus;
using model::Node;
using model::NodeId;
using model::NodeStatus;
using target::Liveness;
using wire::node::AttemptRef;

namespace {

/// For nodes that are stuck or cut off, and for those of earlier versions, which do not answer.
constexpr auto kTimeToHear = std::chrono::seconds(3);

}  // namespace

NodeHub::NodeHub(NodeHubParts parts)
    : parts_(std::move(parts)),
      keeper_({.providers = parts_.providers,
               .signer = parts_.signer,
               .clock = parts_.clock,
               .lease = parts_.lease,
               .lease_while_stopped = parts_.lease_while_stopped,
               .boot_clock = parts_.boot_clock,
               .is_connected = [this](const NodeId& node) { return channels_.contains(node); }}) {}

void NodeHub::attach(ControlPlane& plane, store::Store& store, Addresses addresses) {
  plane_ = &plane;
  store_ = &store;
  keeper_.attach(plane.ledger, plane.nodes, addresses.remote_url, addresses.ca_file);
  addresses_ = std::move(addresses);
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
  plane_->nodes.detached(node);
  good_bye_heard_by(node);  // It is not waited for.
  reconcile();
}

void NodeHub::hang_up(const NodeId& node, std::string_view why) {
  const auto found = channels_.find(node);
  if (found == channels_.end()) return;
  log::warning("hanging up on node '{}': {}", node.text, why);
  const std::shared_ptr<io::WebSocket> socket = found->second.socket;
  socket->close();
}

void NodeHub::reconcile() {
  let_go_of_silent();
  keeper_.reconcile();
}

/// A link that was cut leaves its connections open. Whoever has not renewed its lease has ended its
/// work by now, and is not waited for.
void NodeHub::let_go_of_silent() {
  std::vector<NodeId> silent;
  for (const auto& [id, channel] : channels_) {
    const auto node = plane_->state().nodes.find(id);
    const bool is_known = node != plane_->state().nodes.end() && keeper_.has_lease(node->second);
    if (is_known && channel.has_joined && keeper_.has_lapsed(node->second)) silent.push_back(id);
  }
  for (const NodeId& id : silent) {
    log::warning("nothing was heard of node '{}' for longer than its lease", id.text);
    const std::shared_ptr<io::WebSocket> socket = channels_.at(id).socket;
    channels_.erase(id);
    socket->close();
    plane_->nodes.detached(id);
    good_bye_heard_by(id);
  }
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
  std::vector<NodesDesk::Held> held;
  for (const auto& [attempt, phase] : message.attempts) held.push_back(attempt);
  channels_[node].has_joined = true;
  // One that nobody expects is about to be told to stop; should it not hear that, it stops all the
  // same, since this lease is not renewed.
  const bool is_expected = plane_->state().nodes.contains(node);
  const auto lease = is_expected ? keeper_.renew(node) : std::optional(parts_.lease);
  send(node, wire::node::Welcome{std::string(kVersion), lease});
  const NodesDesk::Joining joining{.slots = message.slots,
                                   .work_root = message.work_root,
                                   .address = message.address,
                                   .ends_at = message.ends_at,
                                   .is_leaving = message.is_leaving};
  if (message.is_leaving) keeper_.withdrew(node);
  if (const Status joined = plane_->nodes.joined(node, joining, held); !joined) {
    log::warning("{}", joined.error().message);
    for (const auto& [attempt, phase] : message.attempts) send(node, wire::node::Stop{attempt});
    send(node, wire::node::Leave{joined.error().message});
    return;
  }
  // What it said of them before may have been lost with its connection, or with a server.
  for (const auto& [attempt, phase] : message.attempts) advance(node, attempt, phase);
  log::info("node '{}' is here, with {} attempts", node.text, held.size());
  if (good_bye_ && lease) give_long_leases({node});
}

void NodeHub::on(const NodeId& node, const wire::node::Heartbeat& message) {
  const auto lease = keeper_.renew(node);
  if (lease) send(node, wire::node::LeaseRenewed{message.number, lease});
}

void NodeHub::on(const NodeId& node, const wire::node::LeaseNoted&) { good_bye_heard_by(node); }

void NodeHub::on(const NodeId& node, const wire::node::Leaving& message) {
  log::info("node '{}' is leaving: {}", node.text, message.reason);
  keeper_.withdrew(node);
  plane_->nodes.withdrew(node);
}

void NodeHub::on(const NodeId& node, const wire::node::Prepared& message) {
  plane_->nodes.member_prepared(node, message.attempt, message.address, message.port);
}

void NodeHub::on(const NodeId& node, const wire::node::WorkAhead& message) {
  plane_->nodes.works_ahead(node, std::max(message.attempts, 0));
}

void NodeHub::on(const NodeId& node, const wire::node::Returned& message) {
  plane_->nodes.job_returned(node, message.attempt);
}

/// It is told to run again, by the same number: only the addresses are new.
void NodeHub::on(const NodeId& node, const wire::node::Renew& message) {
  const auto known = plane_->state().nodes.find(node);
  if (known == plane_->state().nodes.end() || !holds(plane_->state(), node, message.attempt)) {
    return send(node, wire::node::Stop{message.attempt});
  }
  launch(plane_->state().jobs.at(message.attempt.job), known->second);
}

void NodeHub::on(const NodeId& node, const wire::node::Advanced& message) {
  advance(node, message.attempt, message.phase);
}

void NodeHub::on(const NodeId& node, const wire::node::Serving& message) {
  plane_->nodes.endpoint_changed(node, message.attempt, message.endpoint);
}

void NodeHub::advance(const NodeId& node, const AttemptRef& attempt, wire::node::Phase phase) {
  if (phase == wire::node::Phase::Ended) return;  // That is said by another message.
  JobStatus status = JobStatus::Preparing;
  if (phase == wire::node::Phase::Running) status = JobStatus::Running;
  if (phase == wire::node::Phase::Finalizing) status = JobStatus::Finalizing;
  plane_->nodes.job_advanced(node, attempt, status);
}

void NodeHub::on(const NodeId& node, const wire::node::LogChunk& message) {
  const auto& [job, attempt, fence] = message.attempt;
  if (!holds(plane_->state(), node, message.attempt)) return;
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

/// A node says what it likes, but it does not fill the database with it.
void limit_notes(std::vector<std::string>& notes) {
  constexpr std::size_t kMostNotes = 64;
  constexpr std::size_t kLongestNote = 4096;
  if (notes.size() > kMostNotes) notes.resize(kMostNotes);
  for (std::string& note : notes) {
    if (note.size() > kLongestNote) note = to_valid_utf8(note.substr(0, kLongestNote));
  }
}

/// A command that went well but whose outputs could not be kept has not done its work.
model::Outcome judged(const wire::node::Ended& message) {
  model::Outcome outcome = message.outcome;
  limit_notes(outcome.notes);
  if (message.delivery_errors.empty()) return outcome;
  const std::string trouble =
      fmt::format("its outputs could not be kept: {}", message.delivery_errors.front());
  if (outcome.ending == model::Ending::Exited && outcome.exit_code == 0) {
    outcome.ending = model::Ending::Undelivered;
    outcome.message = trouble;
    return outcome;
  }
  outcome.message += outcome.message.empty() ? trouble : "; " + trouble;
  return outcome;
}

store::PutBlob log_row(store::BlobKey key, const std::vector<store::Piece>& pieces, WallTime now) {
  store::Blob blob{.key = std::move(key), .pieces = pieces, .content_type = "text/plain"};
  for (const store::Piece& piece : pieces) blob.size += piece.size;
  blob.etag = "\"0x" + random_hex(8) + "\"";
  blob.created_at = blob.modified_at = now;
  return {std::move(blob)};
}

}  // namespace

/// A short attempt is told by its end alone.
void NodeHub::note_start(const NodeId& node, const NodesDesk::Held& held,
                         const std::optional<Duration>& since_start) {
  if (since_start) plane_->nodes.job_began(node, held, parts_.clock.now().wall - *since_start);
}

void NodeHub::on(const NodeId& node, const wire::node::Ended& message) {
  const AttemptRef& held = message.attempt;
  if (!holds(plane_->state(), node, held)) {
    plane_->nodes.job_ended(node, held, message.outcome, {});
    return;
  }
  // The head's log is the job's; the others deliver theirs as files.
  if (model::head_node(plane_->state().jobs.at(held.job)) != node) {
    note_start(node, held, message.since_start);
    return plane_->nodes.job_ended(node, held, judged(message), {});
  }
  if (!sealing_.insert(message.attempt).second) return;
  parts_.logs.seal(held.job, held.attempt,
                   [this, node, held, message,
                    outcome = judged(message)](const Result<std::vector<store::Piece>>& pieces) {
                     if (!pieces) return seal_later(node, message, pieces.error());
                     sealing_.erase(held);
                     store::Batch rows;
                     rows.push_back(log_row(log_blob(held.job), *pieces, parts_.clock.now().wall));
                     note_start(node, held, message.since_start);
                     plane_->nodes.job_ended(node, held, outcome, std::move(rows));
                   });
}

/// Most likely there is no room for its log. Its node has nothing to add: it is not asked again.
void NodeHub::seal_later(const NodeId& node, const wire::node::Ended& message, const Error& why) {
  log::warning("the log of job '{}' could not be kept: {}", message.attempt.job.name, why.message);
  parts_.loop.after(std::chrono::seconds(1), [this, node, message] {
    sealing_.erase(message.attempt);
    on(node, message);
  });
}

// ---- What the control plane decides ------------------------------------------------------------

std::string NodeHub::url_for(const Node& node) const {
  if (!keeper_.has_lease(node)) return addresses_.local_url;
  const auto site = plane_->state().sites.find(node.site);
  const bool has_own = site != plane_->state().sites.end() && !site->second.server_url.empty();
  return has_own ? site->second.server_url : addresses_.remote_url;
}

void NodeHub::launch(const Job& job, const Node& node) {
  if (!channels_.contains(node.id)) return;
  const model::Workspace* workspace = core::find_workspace(plane_->state(), job.key.workspace);
  if (workspace == nullptr) return;
  const LaunchContext context{.catalogue = {*store_, plane_->state(), plane_->jobs},
                              .signer = parts_.signer,
                              .base_url = url_for(node),
                              .now = parts_.clock.now().wall,
                              .job_users = keeper_.has_lease(node) ? nullptr : parts_.job_users};
  Result<wire::node::Launch> message = make_launch(context, job, node, *workspace);
  if (message) {
    channels_[node.id].launched.insert(message->attempt);
    return send(node.id, *std::move(message));
  }
  plane_->nodes.job_ended(node.id, {job.key, job.attempt, job.fence},
                          {.ending = model::Ending::NotStarted, .message = message.error().message},
                          {});
}

void NodeHub::go(const Job& job, const NodeId& node) { send(node, make_go(job, node)); }

void NodeHub::stop(const AttemptRef& attempt, const NodeId& node) {
  const auto channel = channels_.find(node);
  if (channel == channels_.end()) return;
  // A node that has just dialled in takes a Stop without a Launch for the word that nobody wants
  // the attempt, and throws away what it made. Its Launch is on its way, with this Stop behind it.
  const bool is_wanted = holds(plane_->state(), node, attempt);
  if (is_wanted && !channel->second.launched.contains(attempt)) return;
  send(node, wire::node::Stop{attempt});
}

bool NodeHub::goes_on(const AttemptRef& attempt) const {
  const auto live = plane_->state().jobs.find(attempt.job);
  return live != plane_->state().jobs.end() && live->second.attempt == attempt.attempt &&
         model::holds_nodes(live->second);
}

void NodeHub::forget(const AttemptRef& attempt, const NodeId& node) {
  // The state may know of an end that is not on disk yet: until then the next server needs the log.
  plane_->ledger.when_durable([this, attempt](const Status& durable) {
    if (durable && !goes_on(attempt)) parts_.logs.drop(attempt.job, attempt.attempt);
  });
  if (const auto channel = channels_.find(node); channel != channels_.end()) {
    channel->second.launched.erase(attempt);
  }
  send(node, wire::node::Forget{attempt});
}

/// The log of an attempt that nobody will report the end of.
void NodeHub::attempt_taken(const JobKey& job, int attempt) {
  parts_.logs.seal(job, attempt,
                   [this, job, attempt](const Result<std::vector<store::Piece>>& pieces) {
                     if (!pieces) return log::warning("{}", pieces.error().message);
                     const WallTime now = parts_.clock.now().wall;
                     plane_->ledger.write({log_row(attempt_log_blob(job, attempt), *pieces, now)});
                     plane_->ledger.when_durable([this, job, attempt](const Status& durable) {
                       if (durable) parts_.logs.drop(job, attempt);
                     });
                   });
}

void NodeHub::start_node(const Node& node) {
  keeper_.start(node);
  parts_.on_node_wanted();
}

void NodeHub::dismiss_node(const NodeId& node) {
  keeper_.dismissed(node);
  send(node, wire::node::Leave{"idle"});
}

// ---- Good-bye ----------------------------------------------------------------------------------

void NodeHub::say_good_bye(std::function<void()> heard) {
  std::set<NodeId> leased;
  for (const auto& [id, node] : plane_->state().nodes) {
    const auto channel = channels_.find(id);
    if (channel == channels_.end()) continue;
    if (keeper_.has_lease(node) && channel->second.has_joined) leased.insert(id);
    const bool is_idle = !plane_->state().held.contains(id);
    const model::Compute* compute = core::compute_of(plane_->state(), node.target);
    const bool goes_with_us = model::traits_of(compute).is_one_machine && is_idle;
    if (goes_with_us) send(id, wire::node::Leave{"idle"});
  }
  good_bye_ = GoodBye{.heard = std::move(heard)};
  if (leased.empty()) return end_good_bye();
  good_bye_->timer = parts_.loop.after(kTimeToHear, [this] { end_good_bye(); });
  give_long_leases(leased);
}

/// Written down first: the next server must not give their work to others before that.
void NodeHub::give_long_leases(const std::set<NodeId>& nodes) {
  good_bye_->unheard.insert(nodes.begin(), nodes.end());
  for (const NodeId& id : nodes) plane_->nodes.extend_lease(keeper_.lease_while_stopped(id));
  plane_->ledger.when_durable([this, nodes](const Status& durable) {
    for (const NodeId& id : nodes) {
      if (durable) send(id, wire::node::LeaseRenewed{0, parts_.lease_while_stopped});
      if (!durable || !channels_.contains(id)) good_bye_heard_by(id);
    }
  });
}

void NodeHub::good_bye_heard_by(const NodeId& node) {
  if (!good_bye_ || good_bye_->unheard.erase(node) == 0) return;
  if (good_bye_->unheard.empty()) end_good_bye();
}

void NodeHub::end_good_bye() {
  for (const NodeId& node : good_bye_->unheard) {
    log::warning("node '{}' has not said that it may go on without a server", node.text);
  }
  good_bye_->unheard.clear();
  if (!good_bye_->heard) return;
  parts_.loop.cancel(good_bye_->timer);
  std::exchange(good_bye_->heard, {})();
}

}  // namespace berth::server
