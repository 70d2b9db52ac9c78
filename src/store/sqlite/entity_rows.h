// SPDX-License-Identifier: Apache-2.0
// How the durable things of the State (core/entity.h) stand in the database.
#pragma once

#include <string>

#include "core/entity.h"
#include "core/state.h"
#include "store/database/sqlite.h"
#include "store/sqlite/documents.h"

namespace berth::store {

/// With what the keys of all that a workspace owns begin. Its id is a GUID: there is no slash in
/// it.
inline std::string owned_prefix(const model::WorkspaceId& workspace) {
  return workspace.text + "/";
}

/// The key as it is written in `documents`.
template <typename Key>
std::string key_text(const Key& key) {
  if constexpr (core::kIsOwned<Key>) {
    return owned_prefix(key.workspace) + key.name;
  } else if constexpr (requires { key.text; }) {
    return key.text;
  } else {
    return key;
  }
}

/// The documents of all that the State has of a kind.
template <typename T>
Result<Cursor> query_entities(Database& reader) {
  return reader.query("SELECT doc FROM documents WHERE kind = ?", {core::Entity<T>::kKind});
}
template <>
inline Result<Cursor> query_entities<model::Job>(Database& reader) {
  return reader.query("SELECT doc FROM jobs INDEXED BY jobs_live WHERE live = 1");
}
template <>
inline Result<Cursor> query_entities<model::TemplateDeployment>(Database& reader) {
  return reader.query("SELECT doc FROM deployments WHERE live = 1");
}
template <>
inline Result<Cursor> query_entities<model::DeploymentOperation>(Database& reader) {
  return reader.query(
      "SELECT doc FROM deployment_operations WHERE deployment IN "
      "(SELECT id FROM deployments WHERE live = 1)");
}

template <typename T>
Status load_entities(Database& reader, core::State& state) {
  Cursor rows = TRY(query_entities<T>(reader));
  while (TRY(rows.next())) {
    T value = TRY(read_document<T>(rows.text(0)));
    if constexpr (std::is_same_v<T, model::Job>) state.recent_specs.share(value);
    core::EntityKey<T> key = core::Entity<T>::key(value);
    core::Entity<T>::map(state).emplace(std::move(key), std::move(value));
  }
  return Done{};
}

}  // namespace berth::store
