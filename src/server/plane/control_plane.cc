// SPDX-License-Identifier: Apache-2.0
// Recording and deciding. What users ask for is in control_plane_jobs.cc and _computes.cc, what
// nodes report in control_plane_nodes.cc.
#include "server/plane/control_plane.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "core/ending.h"
#include "server/plane/turn.h"

namespace berth::server {

using core::State;
using model::JobKey;
using model::Node;
using model::NodeId;
using model::NodeStatus;
using model::WorkspaceId;

namespace {

/// How long a node that is to leave can still be called back by a new job.
constexpr Duration kRecallTime(200);

/// So many changes may wait for the disk at once, unless it has been slow for no more than a
/// moment: a burst of them is nothing to turn anybody away for.
constexpr std::size_t kMostInFlight = 512;
constexpr Duration kMoment = std::chrono::seconds(1);

/// A machine is shared by more nodes than it has cores: they are slots, most of them waiting.
int nodes_of_this_machine(int cores) { return std::max(8, 2 * cores); }

}  // namespace

ControlPlane::ControlPlane(store::Store& store, Effects& effects, const Clock& clock,
                           PlaneOptions options)
    : store_(store), effects_(effects), clock_(clock), options_(std::move(options)) {}

ControlPlane::~ControlPlane() = default;

Status ControlPlane::start() {
  reload();
  if (failure_) return fail(*failure_);
  next_sequence_ = TRY(store_.last_sequence()) + 1;
  next_node_sequence_ = TRY(store_.last_node_sequence()) + 1;
  TRY(make_first_things());
  decide();
  flush();
  return Done{};
}

Status ControlPlane::make_first_things() {
  if (!state_.sites.contains(model::kLocalSite)) {
    const int nodes = nodes_of_this_machine(options_.settings.machine_cores);
    apply(core::SiteMade{{.name = model::kLocalSite,
                          .capacity = {.nodes = nodes, .gpus = options_.local_gpus},
                          .created_at = clock_.now().wall}});
  }
  if (state_.workspaces.empty()) {
    TRY(put_workspace({.name = model::kDefaultWorkspace, .display_name = "Default workspace"}));
  }
  return Done{};
}

// ---- Recording ---------------------------------------------------------------------------------

ControlPlane::Turn& ControlPlane::turn() {
  if (!turn_) turn_ = std::make_shared<Turn>();
  return *turn_;
}

/// The nodes that an event's jobs hold: whether they are idle may change with it.
static std::vector<NodeId> nodes_concerned(const State& state, const core::Event& event) {
  std::vector<NodeId> nodes;
  const auto add_members = [&](const model::Job& job) {
    for (const model::Member& member : job.members) nodes.push_back(member.node);
  };
  std::visit(
      [&](const auto& fact) {
        if constexpr (requires { state.jobs.find(fact.job); }) {
          const auto job = state.jobs.find(fact.job);
          if (job != state.jobs.end()) add_members(job->second);
        }
        if constexpr (requires { fact.nodes; }) nodes = fact.nodes;
      },
      event);
  // With a node the attempts that it had a share in end, on other nodes as well.
  if (const auto* gone = std::get_if<core::NodeGone>(&event)) {
    for (const model::Job* job : core::jobs_on(state, gone->node)) add_members(*job);
  }
  return nodes;
}

void ControlPlane::apply(const core::Event& event) {
  const std::vector<NodeId> held_before = nodes_concerned(state_, event);
  core::Touched touched = core::apply_event(state_, event);
  for (const NodeId& node : held_before) note_idleness(node);
  for (const NodeId& node : touched.of<Node>()) note_idleness(node);
  core::Touched& all = turn().touched;
  core::for_each_entity([&]<typename T>() { all.of<T>().merge(touched.of<T>()); });
  for (model::Usage& usage : touched.usage) {
    turn().batch.push_back(store::AddUsage{std::move(usage)});
  }
}

void ControlPlane::note_idleness(const NodeId& node) {
  const auto found = state_.nodes.find(node);
  const bool is_idle = found != state_.nodes.end() && found->second.status == NodeStatus::Ready &&
                       !state_.held.contains(node);
  if (is_idle) {
    idle_since_.try_emplace(node, clock_.now().mono);
  } else {
    idle_since_.erase(node);
  }
}

/// Rows of everything touched, as it is now; what is gone from the state is erased.
template <typename T>
static void add_rows(const core::Touched& touched, const State& state, store::Batch& batch) {
  const auto& all = core::Entity<T>::map(state);
  for (const auto& key : touched.of<T>()) {
    const auto found = all.find(key);
    if (found == all.end()) {
      batch.push_back(store::Erase<T>{key});
    } else {
      batch.push_back(store::Put<T>{found->second});
    }
  }
}

void ControlPlane::flush() {
  if (!turn_ || open_batches_ > 0) return;
  std::shared_ptr<Turn> going = std::move(turn_);
  turn_.reset();
  if (failure_) {
    // It rests on changes that never happened. The state is loaded again as soon as the last of
    // those has come back, and under load more must not be added to them for ever.
    settle_deletions(*going);
    for (const auto& waiter : going->waiters) waiter(fail(*failure_));
    return;
  }
  const core::Touched& touched = going->touched;
  store::Batch& batch = going->batch;
  core::for_each_entity([&]<typename T>() { add_rows<T>(touched, state_, batch); });
  for (const JobKey& key : touched.of<model::Job>()) {
    const auto found = state_.jobs.find(key);
    if (found != state_.jobs.end() && model::is_terminal(found->second.status)) {
      going->ended.insert(key);
    }
  }
  going->handed_over = clock_.now().mono;
  in_flight_.push_back(going);
  store_.commit(std::move(batch),
                [this, going](const Status& status) { committed(going, status); });
}

void ControlPlane::committed(const std::shared_ptr<Turn>& turn, const Status& status) {
  CHECK(!in_flight_.empty() && in_flight_.front() == turn, "commits come back in order");
  in_flight_.pop_front();
  settle_deletions(*turn);
  if (status) {
    core::forget_ended(state_, turn->ended);
    act(*turn);
  } else {
    failure_ = status.error();
    log::error("a change could not be recorded and was undone: {}", status.error().message);
  }
  if (failure_ && in_flight_.empty()) reload();
  for (const auto& waiter : turn->waiters) waiter(status);
}

/// The disk knows of them now, or never will.
void ControlPlane::settle_deletions(const Turn& turn) {
  for (const JobKey& key : turn.deleted) {
    const auto found = deleting_.find(key);
    if (found != deleting_.end()) deleting_.erase(found);
  }
}

void ControlPlane::act(const Turn& turn) {
  for (const auto& effect : turn.effects) effect();
  for (const JobKey& key : turn.touched.of<model::Job>()) effects_.job_changed(key);
  const core::Touched& touched = turn.touched;
  const bool changes_access = !touched.of<model::User>().empty() ||
                              !touched.of<model::Token>().empty() ||
                              !touched.of<model::RoleAssignment>().empty();
  if (changes_access && options_.on_access_changed) options_.on_access_changed();
}

/// The disk is right and memory may not be: take the disk's word. Nothing is decided here, because
/// with a full disk that would fail again at once; tick() goes on.
void ControlPlane::reload() {
  Result<State> loaded = store_.load();
  if (!loaded) {
    log::error("the state could not be loaded: {}", loaded.error().message);
    failure_ = loaded.error();
    return;
  }
  const bool after_failure = failure_.has_value();
  failure_.reset();
  turn_.reset();
  deleting_.clear();
  state_ = std::move(*loaded);
  state_.settings = options_.settings;
  core::rebuild_indexes(state_);
  // Nobody is connected yet. It is not recorded: every load finds the same out again.
  for (const auto& [id, node] : state_.nodes) core::apply_event(state_, core::NodeDetached{id});
  idle_since_.clear();
  leaving_since_.clear();
  store_.resume();
  if (after_failure) effects_.resynchronise();
}

void ControlPlane::end_batch() {
  --open_batches_;
  flush();
}

void ControlPlane::give_up_batch() {
  --open_batches_;
  const std::shared_ptr<Turn> undone = std::exchange(turn_, nullptr);
  if (!undone) return;
  failure_ = Error{Code::Unavailable, "a change was given up half way; try again"};
  log::error("what a request had changed when it failed was undone");
  if (open_batches_ == 0 && in_flight_.empty()) reload();
  for (const auto& waiter : undone->waiters) waiter(fail(Code::Unavailable, "it was undone"));
}

void ControlPlane::write(store::Batch batch) {
  for (store::Write& row : batch) turn().batch.push_back(std::move(row));
  flush();
}

bool ControlPlane::is_clogged() const {
  return in_flight_.size() >= kMostInFlight &&
         clock_.now().mono - in_flight_.front()->handed_over >= kMoment;
}

void ControlPlane::when_durable(std::function<void(Status)> done) {
  if (failure_) {
    done(fail(*failure_));
  } else if (turn_) {
    turn_->waiters.push_back(std::move(done));
    flush();
  } else if (!in_flight_.empty()) {
    in_flight_.back()->waiters.push_back(std::move(done));
  } else {
    done(Done{});
  }
}

// ---- Deciding ----------------------------------------------------------------------------------

void ControlPlane::decide() {
  const core::Plan plan = core::plan(state_, clock_.now().wall);
  carry_out(plan);
  // What was called back can be given work at once.
  if (!plan.recall.empty()) carry_out(core::plan(state_, clock_.now().wall));
}

void ControlPlane::carry_out(const core::Plan& plan) {
  for (const NodeId& node : plan.recall) apply(core::NodeRecalled{node});
  // On a full disk a job could only fail: it waits.
  if (!store_.is_full()) {
    for (const Node& node : plan.request) request(node);
    for (const core::JobPlaced& placed : plan.place) place(placed);
  }
  for (const NodeId& node : plan.release) apply(core::NodeToldToLeave{node});
  for (const NodeId& node : plan.preempt) {
    preempt(node, fmt::format("node '{}' was taken for a dedicated cluster", node.text));
  }
  for (const model::ComputeKey& compute : plan.remove) apply(core::ComputeGone{compute});
}

void ControlPlane::request(Node node) {
  node.sequence = next_node_sequence_++;
  if (const model::Compute* compute = core::compute_of(state_, node.target)) {
    node.id = {fmt::format("{}-{}", compute->key.name, node.sequence)};
  }
  apply(core::NodeRequested{node});
  turn().effects.push_back([this, id = node.id] {
    const auto found = state_.nodes.find(id);
    if (found != state_.nodes.end()) effects_.start_node(found->second);
  });
}

void ControlPlane::place(core::JobPlaced placed) {
  placed.fence = options_.make_fence();
  apply(placed);
  for (const NodeId& node : placed.nodes) launch_member(placed.job, node);
}

/// That attempt and no later one: what is in the state by then may not be on disk yet.
void ControlPlane::launch_member(const JobKey& key, const NodeId& node) {
  turn().effects.push_back([this, attempt = attempt_of(state_.jobs.at(key)), node] {
    const auto where = state_.nodes.find(node);
    if (where == state_.nodes.end() || !holds(node, attempt)) return;
    effects_.launch(state_.jobs.at(attempt.job), where->second);
  });
}

void ControlPlane::preempt(const NodeId& node, const std::string& reason) {
  apply(core::NodePreempted{node});
  std::vector<JobKey> jobs;
  for (const model::Job* job : core::jobs_on(state_, node)) jobs.push_back(job->key);
  for (const JobKey& key : jobs) {
    apply(core::JobPreempted{.job = key,
                             .attempt = state_.jobs.at(key).attempt,
                             .reason = reason,
                             .at = clock_.now().wall});
    stop_rest(key);
  }
}

/// Members that the attempt needs no more are told to stop.
void ControlPlane::stop_rest(const JobKey& key) {
  const auto job = state_.jobs.find(key);
  if (job == state_.jobs.end()) return;
  for (const NodeId& node : core::members_to_stop(job->second)) {
    turn().effects.push_back(
        [this, attempt = attempt_of(job->second), node] { effects_.stop(attempt, node); });
  }
}

/// Nodes on their way out that nothing keeps any more.
void ControlPlane::dismiss_leaving() {
  const TimePoint now = clock_.now().mono;
  std::vector<NodeId> going;
  for (const auto& [id, node] : state_.nodes) {
    if (node.is_dismissed || state_.held.contains(id)) continue;
    if (node.status == NodeStatus::Preempted) going.push_back(id);
    if (node.status != NodeStatus::Leaving) continue;
    const TimePoint since = leaving_since_.try_emplace(id, now).first->second;
    if (now - since >= kRecallTime) going.push_back(id);
  }
  std::erase_if(leaving_since_, [this](const auto& entry) {
    const auto node = state_.nodes.find(entry.first);
    return node == state_.nodes.end() || node->second.status != NodeStatus::Leaving;
  });
  for (const NodeId& id : going) {
    apply(core::NodeDismissed{id});
    turn().effects.push_back([this, id] { effects_.dismiss_node(id); });
  }
}

void ControlPlane::tick() {
  if (failure_ && in_flight_.empty()) reload();
  const Status made = make_first_things();  // A failed commit may have undone them.
  if (!made) log::warning("{}", made.error().message);
  const TimePoint now = clock_.now().mono;
  dismiss_leaving();
  for (const NodeId& node : core::surplus(state_, idle_since_, options_.node_idle, now)) {
    apply(core::NodeToldToLeave{node});
  }
  decide();
  flush();
}

}  // namespace berth::server
