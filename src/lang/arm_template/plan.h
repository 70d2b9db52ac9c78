// SPDX-License-Identifier: Apache-2.0
// From a template to what is to be made, in which order. Pure: nothing has been made when a
// template is refused, and the same template with the same parameters gives the same plan after a
// restart.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/arm_template/evaluate.h"
#include "lang/arm_template/kinds.h"

namespace berth::lang::arm_template {

struct PlannedResource {
  std::string id{};    ///< "/subscriptions/…/workspaces/team/computes/cpu"
  std::string type{};  ///< As Berth spells it.
  std::string name{};  ///< "team/cpu"
  std::string api_version{};
  Treatment treatment = Treatment::Made;
  std::vector<std::size_t> after{};  ///< Indices of what must be there first: all are lower.

  // Where its body comes from:
  const json::object* source = nullptr;
  std::vector<Loop> loops{};
  std::string path{};  ///< "resources[2]", for errors.
};

/// What a deployment's parameters have come to, one for each that the template declares.
struct SettledParameter {
  std::string name{};
  std::string type{};
  json::value value{};
  bool is_secure = false;
};

class Plan {
 public:
  /// In order.
  const std::vector<PlannedResource>& resources() const { return resources_; }
  const std::vector<SettledParameter>& parameters() const { return parameters_; }

  /// What to send for a resource. `refer` is asked, with its id, for what its properties say of
  /// others.
  Result<json::object> body_of(const PlannedResource& resource, const Refer& refer) const;
  /// {"name": {"type", "value"}}; of secure ones without the value.
  Result<json::object> outputs(const Refer& refer) const;

  /// By id or name; nullptr when this plan does not make it.
  const PlannedResource* find(std::string_view id_or_name) const;

 private:
  friend class Planner;
  Refer resolved(const Refer& refer) const;

  json::object definition_;
  std::unique_ptr<Evaluator> evaluator_;
  std::vector<PlannedResource> resources_;
  std::vector<SettledParameter> parameters_;
};

struct Order {
  json::object definition{};  ///< The template.
  json::object given{};       ///< Parameters: values by name, checked by given_values().
  Place place{};
  Fresh fresh{};
};

/// Everything is checked that can be before anything is made: parameters, expressions, types and
/// names of resources, what they depend on. The error's target is the place in the template.
Result<std::unique_ptr<Plan>> make_plan(Order order);

}  // namespace berth::lang::arm_template
