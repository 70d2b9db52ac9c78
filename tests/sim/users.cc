// SPDX-License-Identifier: Apache-2.0
#include "sim/users.h"

#include <fmt/format.h>

namespace berth::sim {

using namespace std::chrono_literals;

namespace {

/// One cluster of each kind: on this machine, and two that share a site with leases.
struct Cluster {
  const char* name;
  const char* site;
  model::Tier tier;
};
constexpr Cluster kClusters[] = {{"near", "local", model::Tier::Dedicated},
                                 {"low", "far", model::Tier::LowPriority},
                                 {"ded", "far", model::Tier::Dedicated}};

}  // namespace

server::ControlPlane* Users::plane() {
  SimServer* server = server_();
  return server == nullptr ? nullptr : &server->plane();
}

void Users::try_again(std::function<void()> what) {
  ++open_;
  stage_.time.after(stage_.random.between(100ms, 1s), [this, what = std::move(what)] {
    --open_;
    what();
  });
}

void Users::set_up() {
  server::ControlPlane* server = plane();
  if (server == nullptr) return try_again([this] { set_up(); });
  const bool has_site = server->state().sites.contains("far");
  const model::Site far{
      .name = "far", .provider = model::ProviderKind::Slurm, .capacity = {.nodes = 3}};
  if (!has_site && !server->computes.put_site(far)) stage_.judge.blame("the site cannot be made");
  for (const Cluster& cluster : kClusters) put_cluster(cluster.name, 0, 2);
  server->ledger.when_durable([this](const Status& durable) {
    if (!durable) try_again([this] { set_up(); });
  });
}

void Users::put_cluster(const std::string& name, int least, int most) {
  for (const Cluster& cluster : kClusters) {
    if (cluster.name != name) continue;
    (void)plane()->computes.put(
        {.key = {plane()->state().workspaces.begin()->first, name},
         .name = name,
         .location = cluster.site,
         .kind = model::Cluster{
             .size = "Standard_DS1_v2",
             .tier = cluster.tier,
             .scale = {.min_nodes = least, .max_nodes = most, .idle_before_scale_down = 4s}}});
  }
}

// ---- Jobs
// ----------------------------------------------------------------------------------------

Behaviour Users::some_behaviour() {
  Random& random = stage_.random;
  Behaviour some;
  const int kind = random.below(10);
  some.runs = random.between(5ms, 60ms);
  if (kind >= 4) some.runs = random.between(200ms, 5s);
  if (kind == 9) some.runs = random.between(10s, 40s);
  some.exit_code = random.chance(20) ? 1 + random.below(3) : 0;
  some.ignores_sigterm = random.chance(20);
  if (random.chance(40)) some.fetches = random.between(1ms, 800ms);
  if (random.chance(40)) some.delivers = random.between(1ms, 800ms);
  return some;
}

model::Job Users::draft(const std::string& name, const std::string& compute, int nodes,
                        const Behaviour& behaviour) {
  const Submission submission = last_ += kNumbersOfOne;
  behaviours_[submission] = behaviour;
  model::Job job{.key = {{"w"}, name}};
  command_of(job.spec.edit()).command = command_of(submission);
  job.spec.edit().compute = compute;
  command_of(job.spec.edit()).resources.instance_count = nodes;
  return job;
}

model::Job Users::array(const std::string& name, const std::string& compute) {
  model::Job job = draft(name, compute, 1, {});
  model::ArrayWork work{.each = command_of(job.spec),
                        .last = 1 + stage_.random.below(5),
                        .at_once = stage_.random.below(4)};
  for (int index = work.first; index <= work.last; ++index) {
    behaviours_[submission_of(job) + index] = some_behaviour();
  }
  job.spec.edit().work = std::move(work);
  return job;
}

/// Its command ends all the time; the service does not, until somebody stops it.
model::Job Users::some_service(const std::string& target) {
  model::Job service =
      draft(fmt::format("s{}", stage_.random.below(4)), target, 1, some_behaviour());
  service.spec.edit().work =
      model::ServiceWork{.serves = command_of(service.spec),
                         .service = {.probe = {.period = 500ms, .failure_threshold = 2},
                                     .restart = {.back_off = 100ms, .longest_back_off = 4s}}};
  return service;
}

/// So many that a node of the cluster has a row of them, and works ahead.
void Users::submit_short_ones(const std::string& cluster) {
  const int most = 6 + stage_.random.below(12);
  for (int number = 0; number < most; ++number) {
    const bool is_gang = stage_.random.chance(10);
    Behaviour behaviour{.runs = stage_.random.between(1ms, 40ms)};
    if (stage_.random.chance(10)) behaviour = some_behaviour();
    submit(draft(fmt::format("q{}", stage_.random.below(40)), cluster, is_gang ? 2 : 1, behaviour));
  }
}

void Users::submit(model::Job draft) {
  stage_.note("submit", draft.key.name, draft.spec->compute, submission_of(draft));
  try_submit(draft);
}

/// Until there is an answer: the same name and the same content, as often as it takes.
void Users::try_submit(const model::Job& draft) {
  server::ControlPlane* server = plane();
  if (server == nullptr) return try_again([this, draft] { try_submit(draft); });
  const auto accepted = server->jobs.submit(draft);
  if (!accepted) {
    const Code code = accepted.error().code;
    if (code == Code::Unavailable) try_again([this, draft] { try_submit(draft); });
    return;  // The name is somebody else's, or the cluster is gone.
  }
  auto is_answered = std::make_shared<bool>(false);
  server->ledger.when_durable([this, draft, is_answered](const Status& durable) {
    *is_answered = true;
    if (durable) {
      stage_.judge.accepted(submission_of(draft), draft.key);
    } else {
      try_again([this, draft] { try_submit(draft); });
    }
  });
  // A server that dies says nothing: the client tries again.
  if (*is_answered) return;
  ++open_;
  stage_.time.after(10s, [this, draft, is_answered] {
    --open_;
    if (!*is_answered) try_submit(draft);
  });
}

const model::Job* Users::some_job(bool is_over) {
  std::vector<const model::Job*> fitting;
  for (const auto& [key, job] : stage_.judge.jobs()) {
    if (model::is_terminal(job.status) == is_over) fitting.push_back(&job);
  }
  if (fitting.empty()) return nullptr;
  return fitting[static_cast<std::size_t>(stage_.random.below(static_cast<int>(fitting.size())))];
}

void Users::cancel(const model::JobKey& job) {
  if (plane() == nullptr) return;
  stage_.note("cancel", job.name);
  stage_.judge.cancel_asked(job);
  (void)plane()->jobs.cancel(job);
}

void Users::cancel_something() {
  if (const model::Job* job = some_job(false)) cancel(model::JobKey(job->key));
}

void Users::delete_something() {
  const model::Job* job = some_job(true);
  if (job == nullptr || plane() == nullptr) return;
  const model::JobKey key = job->key;
  stage_.note("delete", key.name);
  stage_.judge.delete_asked(key);
  (void)plane()->jobs.remove(key);
}

void Users::relabel_something() {
  const model::Job* found = some_job(stage_.random.chance(50));
  if (found == nullptr || plane() == nullptr) return;
  // Its row may still be on the way out; the same name and content would then make a new job.
  if (stage_.judge.is_delete_asked(found->key)) return;
  model::Job again{.key = found->key, .spec = found->spec};
  stage_.note("relabel", again.key.name);
  again.display_name = fmt::format("name {}", stage_.random.below(3));
  (void)plane()->jobs.submit(again);
}

// ---- Clusters
// ------------------------------------------------------------------------------------

void Users::change_cluster() {
  if (plane() == nullptr) return;
  const Cluster& cluster = kClusters[stage_.random.below(3)];
  if (stage_.random.chance(70)) {
    const int least = stage_.random.below(2);
    return put_cluster(cluster.name, least, std::max(1, least + stage_.random.below(3)));
  }
  const bool with_jobs = stage_.random.chance(50);
  const model::ComputeKey key{{"w"}, cluster.name};
  stage_.note("delete cluster", cluster.name);
  if (with_jobs) {
    for (const auto& [name, job] : plane()->state().jobs) {
      if (job.spec->compute == cluster.name) stage_.judge.cancel_asked(name);
    }
  }
  (void)plane()->computes.remove(key, with_jobs);
}

void Users::preempt_something() {
  if (plane() == nullptr || plane()->state().nodes.empty()) return;
  const auto& nodes = plane()->state().nodes;
  const int index = stage_.random.below(static_cast<int>(nodes.size()));
  const model::NodeId node = std::next(nodes.begin(), index)->first;
  stage_.note("preempt", node.text);
  (void)plane()->computes.preempt_node(node);
}

// ---- Templates
// -----------------------------------------------------------------------------------

model::TemplateDeployment Users::deployment(const std::string& name, int resources) {
  model::TemplateDeployment draft{.subscription = "S", .resource_group = "G", .name = name};
  draft.sealed = "a secret";
  std::vector<model::DeploymentStep>& steps = draft.steps.emplace();
  for (int number = 1; number <= resources; ++number) {
    const std::string compute = fmt::format("{}-r{}", name, number);
    steps.push_back({.resource = "/" + compute, .type = kMadeType, .name = compute});
  }
  return draft;
}

/// Until there is an answer. One that had none may have been over long ago: then it is deployed
/// once more.
void Users::deploy(const model::TemplateDeployment& draft) {
  server::ControlPlane* server = plane();
  if (server == nullptr) return try_again([this, draft] { deploy(draft); });
  model::TemplateDeployment asked = draft;
  asked.id = std::to_string(++last_deployment_);
  if (asked.fingerprint.empty()) asked.fingerprint = asked.id;
  asked.created_at = asked.modified_at = stage_.wall_time();
  stage_.note("deploy", asked.name, {}, last_deployment_);
  const auto begun = server->deployments.begin(asked);
  if (!begun) return;  // One of that name goes on.
  auto is_answered = std::make_shared<bool>(false);
  const auto again = [this, asked] { deploy(asked); };
  server->ledger.when_durable([this, again, is_answered, key = model::key_of(asked),
                               id = begun->deployment.id](const Status& durable) {
    *is_answered = true;
    if (durable) return stage_.judge.deployment_accepted(key, id);
    try_again(again);
  });
  if (*is_answered) return;
  ++open_;
  stage_.time.after(10s, [this, again, is_answered] {
    --open_;
    if (!*is_answered) again();
  });
}

void Users::deploy_something() {
  Random& random = stage_.random;
  const std::string name = fmt::format("tpl{}", random.below(3));
  if (random.chance(35)) return change_deployment(name);
  model::TemplateDeployment draft = deployment(name, random.below(7));
  int number = 0;
  for (model::DeploymentStep& step : *draft.steps) {
    ++number;
    step.is_satisfied = random.chance(15);
    if (random.chance(15)) step.type = kRefusedType;
    for (int earlier = 1; earlier < number; ++earlier) {
      if (random.chance(30)) step.after.push_back(earlier);
    }
  }
  deploy(draft);
}

/// Cancelled while it goes on, deleted when it is over.
void Users::change_deployment(const std::string& name) {
  server::ControlPlane* server = plane();
  if (server == nullptr) return;
  const model::DeploymentKey key = model::deployment_key("S", "G", name);
  const auto found = server->deployments.find(key);
  if (!found || !*found) return;
  const model::TemplateDeployment& deployment = (*found)->deployment;
  if (is_over(deployment.state)) {
    stage_.note("delete deployment", name);
    stage_.judge.deployment_delete_asked(deployment.id);
    (void)server->deployments.remove(key);
  } else {
    stage_.note("cancel deployment", name);
    stage_.judge.deployment_cancel_asked(deployment.id);
    (void)server->deployments.cancel(key, "somebody");
  }
}

void Users::act() {
  static constexpr const char* kTargets[] = {"local", "local", "near", "low", "ded", kEngine};
  const int what = stage_.random.below(23);
  if (what < 9) {
    const std::string target = kTargets[stage_.random.below(6)];
    const bool is_gang = target != "local" && target != kEngine && stage_.random.chance(35);
    const int number = stage_.random.below(12);
    if (number == 0) return submit(array(fmt::format("a{}", stage_.random.below(3)), target));
    // Somebody's name may be what an array needs.
    const std::string name = number == 1 ? "a1_2" : fmt::format("j{}", number);
    model::Job job = draft(name, target, is_gang ? 2 : 1, some_behaviour());
    job.spec.edit().priority = 1 + stage_.random.below(3);
    return submit(std::move(job));
  }
  if (what >= 22) return submit_short_ones(kTargets[2 + stage_.random.below(3)]);
  if (what >= 20) return deploy_something();
  if (what >= 18) return submit(some_service(kTargets[stage_.random.below(5)]));
  if (what < 12) return cancel_something();
  if (what < 15) return delete_something();
  if (what < 16) return change_cluster();
  if (what < 17) return preempt_something();
  if (what < 18) return relabel_something();
}

/// Asked for until none is left: a server that dies forgets what it was asked.
void Users::stop_services() {
  std::vector<model::JobKey> live;
  for (const auto& [key, job] : stage_.judge.jobs()) {
    const bool is_live = model::service_of(job.spec) != nullptr && !model::is_terminal(job.status);
    if (is_live) live.push_back(key);
  }
  for (const model::JobKey& key : live) cancel(key);
  if (!live.empty() || open_ > 0) try_again([this] { stop_services(); });
}

void Users::calm_down() {
  if (std::exchange(is_calm_, true)) return;
  stop_services();
  const auto settle = [this](const auto& again) -> void {
    if (plane() == nullptr) return try_again([again] { again(again); });
    for (const auto& [key, compute] : plane()->state().computes) {
      if (compute.is_deleting || cluster_in(&compute) == nullptr) continue;
      put_cluster(key.name, 0, std::max(2, cluster_in(&compute)->scale.max_nodes));
    }
    plane()->ledger.when_durable([this, again](const Status& durable) {
      if (!durable) try_again([again] { again(again); });
    });
  };
  settle(settle);
}

}  // namespace berth::sim
