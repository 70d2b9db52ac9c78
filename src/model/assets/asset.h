// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "model/workspace.h"

namespace berth::model {

/// The collections that hold named, versioned things. Their ARM names are to_collection()'s.
enum class AssetKind { Code, Data, Environment, Model, Component };
BOOST_DESCRIBE_ENUM(AssetKind, Code, Data, Environment, Model, Component)

/// "codes", "data", "environments", "models", "components".
std::string_view to_collection(AssetKind kind);

/// What MLflow's registry knows of a model's version and Azure ML has no word for.
struct ModelOrigin {
  std::string source{};  ///< As it was registered: "mlflow-artifacts:/…", "models:/m-…".
  std::string run_link{};
  std::string logged_model{};  ///< The id of MLflow 3's logged model it was made of.
  std::string user{};          ///< Who registered it.
  std::string
      pinned_from{};         ///< Where its files lay when it was registered: a datastore's address.
  std::int64_t made_by = 0;  ///< The sequence of the job that registered it; 0: no job did.
};
BOOST_DESCRIBE_STRUCT(ModelOrigin, (), (source, run_link, logged_model, user, pinned_from, made_by))

/// One immutable version of an asset. What differs between kinds is in `body`, in ARM's own field
/// names (codeUri; dataType and dataUri; image, condaFile and build; …): Berth passes most of it
/// on.
struct Asset {
  WorkspaceId workspace{};
  AssetKind kind = AssetKind::Data;
  std::string name{};
  std::string version{};
  boost::json::object body{};  ///< Immutable once made, but for a model's stage.
  ModelOrigin origin{};        ///< Models only.
  /// Of all names and bytes of a model's files, as they were registered. Empty: they are not kept
  /// here, or the version is older than digests.
  std::string digest{};
  bool is_anonymous = false;
  // What may change later:
  std::string description{};
  std::map<std::string, std::string> tags{};
  std::map<std::string, std::string> properties{};
  bool is_archived = false;
  WallTime created_at{};
  WallTime modified_at{};
};
BOOST_DESCRIBE_STRUCT(Asset, (),
                      (workspace, kind, name, version, body, origin, digest, is_anonymous,
                       description, tags, properties, is_archived, created_at, modified_at))

/// A named container of versions, with what users may say about it as a whole.
struct AssetContainer {
  WorkspaceId workspace{};
  AssetKind kind = AssetKind::Data;
  std::string name{};
  std::string description{};
  std::map<std::string, std::string> tags{};
  std::map<std::string, std::string> properties{};
  bool is_archived = false;
  WallTime created_at{};
  WallTime modified_at{};  ///< Models only; it also changes with the versions.
  /// Names for versions beside their own: MLflow's aliases, Azure ML's labels. Models only.
  std::map<std::string, std::string> labels{};
  std::string latest_version{};  ///< Most recently created, not the highest.
  std::string next_version = "1";
  std::string
      data_type{};  ///< Data only: "uri_file", "uri_folder", "mltable", as its first version.
  std::int64_t made_by = 0;  ///< The sequence of the job that made it; 0: no job did. Models only.
};
BOOST_DESCRIBE_STRUCT(AssetContainer, (),
                      (workspace, kind, name, description, tags, properties, is_archived,
                       created_at, modified_at, labels, latest_version, next_version, data_type,
                       made_by))

}  // namespace berth::model
