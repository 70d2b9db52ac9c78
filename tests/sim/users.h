// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "sim/machine.h"
#include "sim/sim_server.h"

namespace berth::sim {

/// People and their scripts: they submit, cancel, delete, and change clusters, and try again what
/// was not acknowledged.
class Users {
 public:
  /// `server` is nullptr while there is none.
  Users(Stage& stage, Behaviours& behaviours, std::function<SimServer*()> server)
      : stage_(stage), behaviours_(behaviours), server_(std::move(server)) {}

  /// Makes the site and the clusters; repeated until all are there.
  void set_up();
  /// Something a user might do now.
  void act();
  /// From now on nobody wants anything new; what keeps nodes for no reason is undone.
  void calm_down();
  bool has_open_requests() const { return open_ > 0; }

  void submit(model::Job draft);
  model::Job draft(const std::string& name, const std::string& compute, int nodes,
                   const Behaviour& behaviour);
  /// Some jobs by one submit, each of which does what it will.
  model::Job array(const std::string& name, const std::string& compute);
  void cancel(const model::JobKey& job);
  /// A template of so many resources, each of a name of its own; the last may depend on the others.
  model::TemplateDeployment deployment(const std::string& name, int resources);
  void deploy(const model::TemplateDeployment& draft);

 private:
  void try_submit(const model::Job& draft);
  void try_again(std::function<void()> what);
  void put_cluster(const std::string& name, int least, int most);
  void delete_something();
  void cancel_something();
  void change_cluster();
  void preempt_something();
  void relabel_something();
  void deploy_something();
  void change_deployment(const std::string& name);
  void stop_services();
  model::Job some_service(const std::string& target);
  void submit_short_ones(const std::string& cluster);
  const model::Job* some_job(bool is_over);
  Behaviour some_behaviour();
  server::ControlPlane* plane();

  Stage& stage_;
  Behaviours& behaviours_;
  std::function<SimServer*()> server_;
  Submission last_ = 0;
  int last_deployment_ = 0;
  int open_ = 0;
  bool is_calm_ = false;
};

}  // namespace berth::sim
