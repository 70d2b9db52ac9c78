// SPDX-License-Identifier: Apache-2.0
// The durable things of the State: the only place that lists them. What an event touched
// (core/state.h), the rows of a batch (store/store.h), how they are written and loaded, and the
// store in memory of the tests follow from the list.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "model/access.h"
#include "model/compute.h"
#include "model/job.h"
#include "model/node.h"
#include "model/site.h"
#include "model/template_deployment.h"
#include "model/workspace.h"

namespace berth::core {

template <typename... T>
struct TypeList {};

/// What most entities have: one member is the key, and a row is nothing but a document.
template <typename T, typename KeyType, KeyType T::*kMember>
struct KeyedBy {
  using Key = KeyType;
  static constexpr KeyType T::*kKey = kMember;
  static const Key& key(const T& value) { return value.*kKey; }
  /// A row of the table `documents`. False: store/ has a table of its own for it, with indexes.
  static constexpr bool kIsDocument = true;
};

/// Describes a durable thing: its Key, key(value), map(state), and kKind, which is written in the
/// rows and never changes. The key of a document is text, an Id, or a struct of `workspace` and
/// `name`; the last is owned by that workspace and goes with it.
template <typename T>
struct Entity;

template <>
struct Entity<model::Workspace>
    : KeyedBy<model::Workspace, model::WorkspaceId, &model::Workspace::id> {
  static constexpr std::string_view kKind = "workspace";
  static auto& map(auto& state) { return state.workspaces; }
};

template <>
struct Entity<model::Site> : KeyedBy<model::Site, std::string, &model::Site::name> {
  static constexpr std::string_view kKind = "site";
  static auto& map(auto& state) { return state.sites; }
};

template <>
struct Entity<model::Compute> : KeyedBy<model::Compute, model::ComputeKey, &model::Compute::key> {
  static constexpr std::string_view kKind = "compute";
  static auto& map(auto& state) { return state.computes; }
};

/// The State has those that are not over, and those whose end is on its way to the disk.
template <>
struct Entity<model::Job> : KeyedBy<model::Job, model::JobKey, &model::Job::key> {
  static constexpr std::string_view kKind = "job";
  static constexpr bool kIsDocument = false;
  static auto& map(auto& state) { return state.jobs; }
};

template <>
struct Entity<model::Node> : KeyedBy<model::Node, model::NodeId, &model::Node::id> {
  static constexpr std::string_view kKind = "node";
  static auto& map(auto& state) { return state.nodes; }
};

template <>
struct Entity<model::User> : KeyedBy<model::User, model::UserId, &model::User::id> {
  static constexpr std::string_view kKind = "user";
  static auto& map(auto& state) { return state.access.users; }
};

template <>
struct Entity<model::Token> : KeyedBy<model::Token, model::TokenId, &model::Token::id> {
  static constexpr std::string_view kKind = "token";
  static auto& map(auto& state) { return state.access.tokens; }
};

template <>
struct Entity<model::RoleAssignment>
    : KeyedBy<model::RoleAssignment, model::RoleAssignmentId, &model::RoleAssignment::id> {
  static constexpr std::string_view kKind = "role_assignment";
  static auto& map(auto& state) { return state.access.assignments; }
};

/// The State has those that are not over, and those whose end is on its way to the disk.
template <>
struct Entity<model::TemplateDeployment> {
  using Key = model::DeploymentKey;
  static Key key(const model::TemplateDeployment& value) { return model::key_of(value); }
  static constexpr std::string_view kKind = "template_deployment";
  static constexpr bool kIsDocument = false;
  static auto& map(auto& state) { return state.deployments; }
};

/// Those of the deployments in the State: one line of each resource that has been settled. They go
/// with their deployment.
template <>
struct Entity<model::DeploymentOperation> {
  using Key = model::OperationKey;
  static Key key(const model::DeploymentOperation& value) {
    return {value.deployment, value.number};
  }
  static constexpr std::string_view kKind = "deployment_operation";
  static constexpr bool kIsDocument = false;
  static auto& map(auto& state) { return state.operations; }
};

/// In the order in which the rows of a batch are written.
using Entities = TypeList<model::Workspace, model::Site, model::Compute, model::Job, model::Node,
                          model::User, model::Token, model::RoleAssignment,
                          model::TemplateDeployment, model::DeploymentOperation>;

template <typename T>
using EntityKey = typename Entity<T>::Key;

/// The key names the workspace that the thing belongs to. The thing goes with it, from the State
/// (state.cc) and from the disk (store/sqlite/rows.cc), without a line of its own.
template <typename Key>
inline constexpr bool kIsOwned = requires(const Key& key) {
  key.workspace;
};

/// Calls visit.operator()<T>() for each of them: for_each_entity([&]<typename T>() { … }).
template <typename Visit>
void for_each_entity(Visit&& visit) {
  [&]<typename... T>(TypeList<T...>) { (visit.template operator()<T>(), ...); }(Entities{});
}

/// A set of keys for each entity.
class EntityKeys {
 public:
  template <typename T>
  std::set<EntityKey<T>>& of() {
    return std::get<KeysOf<T>>(keys_).keys;
  }
  template <typename T>
  const std::set<EntityKey<T>>& of() const {
    return std::get<KeysOf<T>>(keys_).keys;
  }

 private:
  /// Two entities may have keys of the same type; these are never the same type.
  template <typename T>
  struct KeysOf {
    std::set<EntityKey<T>> keys{};
  };
  template <typename List>
  struct Sets;
  template <typename... T>
  struct Sets<TypeList<T...>> {
    using Type = std::tuple<KeysOf<T>...>;
  };

  Sets<Entities>::Type keys_{};
};

}  // namespace berth::core
