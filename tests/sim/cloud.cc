// SPDX-License-Identifier: Apache-2.0
#include "sim/cloud.h"

#include "model/site_kind.h"

namespace berth::sim {

using namespace std::chrono_literals;
using target::Liveness;

namespace {

bool is_remote(const model::Site& site) { return !model::traits_of(site).shares_machine; }

class SimProvider final : public target::NodeProvider {
 public:
  SimProvider(Stage& stage, Cloud& cloud, model::Site site, std::weak_ptr<int> caller)
      : stage_(stage), cloud_(cloud), site_(std::move(site)), caller_(std::move(caller)) {}

  Status start(const target::NodeSpec& spec) override {
    TRY(fail_early());
    if (lies()) return Done{};
    TRY(cloud_.start(site_, spec));
    return fail_late();
  }
  Result<std::vector<target::ObservedNode>> observe() override {
    TRY(fail_early());
    return cloud_.observe(site_);
  }
  Status stop(const model::NodeId& id) override {
    TRY(fail_early());
    if (is_remote(site_) && lies()) return Done{};
    cloud_.stop(site_, id);
    return fail_late();
  }

 private:
  Status fail_early() {
    // What a server does on its own machine dies with it; a command for a site may outlive it.
    if (!is_remote(site_) && caller_.expired()) return fail(Code::Unavailable, "killed");
    if (!stage_.happens(stage_.faults.provider_fails)) return Done{};
    ++stage_.faulted_calls;
    return fail(Code::Unavailable, "the site does not answer");
  }
  Status fail_late() {
    if (!stage_.happens(stage_.faults.provider_fails_late)) return Done{};
    ++stage_.faulted_calls;
    return fail(Code::Unavailable, "timed out");
  }
  bool lies() {
    const bool lie = stage_.happens(stage_.faults.provider_lies);
    if (lie) ++stage_.faulted_calls;
    return lie;
  }

  Stage& stage_;
  Cloud& cloud_;
  model::Site site_;
  std::weak_ptr<int> caller_;
};

}  // namespace

std::unique_ptr<target::NodeProvider> Cloud::provider(const model::Site& site,
                                                      std::weak_ptr<int> caller) {
  return std::make_unique<SimProvider>(stage_, *this, site, std::move(caller));
}

Status Cloud::start(const model::Site& site, const target::NodeSpec& spec) {
  const Place place{site.name, spec.id};
  Slot& slot = slots_[place];
  const bool is_there = slot.machine && !slot.machine->is_destroyed();
  if (is_there && (is_remote(site) || slot.machine->has_agent())) return Done{};
  stage_.note("site starts", spec.id.text);
  if (!is_there) {
    slot.machine = std::make_unique<Machine>(
        Machine::Parts{stage_, network_, behaviours_, is_remote(site)}, spec);
    slot.number = ++last_number_;
    slot.is_pending = true;
  }
  boot_later(place, site);
  return Done{};
}

void Cloud::boot_later(const Place& place, const model::Site& site) {
  const bool never = stage_.happens(stage_.faults.boots_fail);
  const Duration takes = is_remote(site) ? stage_.random.between(100ms, 4s) : 20ms;
  stage_.time.after(takes, [this, place, number = slots_.at(place).number, never] {
    const auto found = slots_.find(place);
    if (found == slots_.end() || found->second.number != number) return;
    found->second.is_pending = false;
    if (!never) found->second.machine->start_agent();
  });
}

std::vector<target::ObservedNode> Cloud::observe(const model::Site& site) {
  std::vector<target::ObservedNode> seen;
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    const auto& [name, id] = slot->first;
    if (name != site.name) {
      ++slot;
      continue;
    }
    const Machine& machine = *slot->second.machine;
    const bool is_gone = is_remote(site) ? machine.is_destroyed() : !machine.has_agent();
    Liveness liveness = slot->second.is_pending ? Liveness::Pending : Liveness::Running;
    if (is_gone) liveness = Liveness::Gone;
    if (!is_gone || stage_.random.chance(50)) seen.push_back({id, liveness, ""});
    slot = machine.is_destroyed() ? slots_.erase(slot) : std::next(slot);
  }
  return seen;
}

void Cloud::stop(const model::Site& site, const model::NodeId& id) {
  const Place place{site.name, id};
  const auto found = slots_.find(place);
  if (found == slots_.end()) return;
  stage_.note("site stops", id.text);
  Machine& machine = *found->second.machine;
  if (is_remote(site)) {
    machine.withdraw();
    return destroy_later(place, stage_.random.between(0ms, 2s));
  }
  machine.destroy();
  slots_.erase(found);
}

void Cloud::destroy_later(const Place& place, Duration delay) {
  stage_.time.after(delay, [this, place, number = slots_.at(place).number] {
    const auto found = slots_.find(place);
    if (found != slots_.end() && found->second.number == number) {
      found->second.machine->destroy();
    }
  });
}

void Cloud::destroy_later(const Machine& machine, Duration delay) {
  for (const auto& [place, slot] : slots_) {
    if (slot.machine.get() == &machine) return destroy_later(place, delay);
  }
}

void Cloud::kill_agent(Machine& machine) {
  machine.kill_agent();
  if (machine.parts().is_remote) destroy_later(machine, stage_.random.between(0ms, 20s));
}

void Cloud::take_back(Machine& machine) {
  machine.withdraw();
  destroy_later(machine, stage_.random.between(100ms, 5s));
}

std::vector<Machine*> Cloud::machines() {
  std::vector<Machine*> all;
  for (const auto& [place, slot] : slots_) {
    if (!slot.machine->is_destroyed()) all.push_back(slot.machine.get());
  }
  return all;
}

std::vector<std::string> Cloud::leftovers() {
  std::vector<std::string> left;
  for (const auto& [place, slot] : slots_) {
    const Machine& machine = *slot.machine;
    if (machine.is_destroyed()) continue;
    const std::string name = place.first + "/" + place.second.text;
    if (machine.parts().is_remote || machine.has_agent()) left.push_back(name);
    if (machine.holds_attempts()) left.push_back(name + " (attempts)");
  }
  return left;
}

void SimOffload::run(std::function<Continuation()> blocking) {
  const bool is_slow = stage_.happens(stage_.faults.provider_is_slow);
  const Duration takes =
      is_slow ? stage_.random.between(1s, 40s) : stage_.random.between(5ms, 60ms);
  const Duration acts = stage_.random.between(1ms, takes);
  const Duration begins = std::max(busy_until_, stage_.time.now());
  busy_until_ = begins + takes;
  const bool goes_out_alone = stage_.random.chance(50);
  auto then = std::make_shared<Continuation>();
  const std::weak_ptr<int> alive = alive_;
  stage_.time.at(begins + acts, [alive, goes_out_alone, then, blocking = std::move(blocking)] {
    if (!alive.expired() || goes_out_alone) *then = blocking();
  });
  stage_.time.at(busy_until_, [alive, then] {
    if (!alive.expired() && *then) (*then)();
  });
}

}  // namespace berth::sim
