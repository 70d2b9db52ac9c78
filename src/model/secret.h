// SPDX-License-Identifier: Apache-2.0
// What jobs may know and nobody may see: a token, a password.
#pragma once

#include <boost/describe.hpp>
#include <compare>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/workspace.h"

namespace berth::model {

/// The owner of secrets that whoever submits jobs to the workspace may use.
inline constexpr const char* kSharedSecrets = "";

/// A secret belongs to one user in one workspace, or to the workspace.
struct SecretKey {
  WorkspaceId workspace{};
  std::string owner{};  ///< A user's id, kOwnerName, or kSharedSecrets.
  std::string name{};

  friend auto operator<=>(const SecretKey&, const SecretKey&) = default;
};
BOOST_DESCRIBE_STRUCT(SecretKey, (), (workspace, owner, name))

struct Secret {
  SecretKey key{};
  std::string sealed{};  ///< The value, encrypted with a key of this installation and secret.
  std::string set_by{};  ///< For people: who set it last.
  WallTime created_at{};
  WallTime modified_at{};
};
BOOST_DESCRIBE_STRUCT(Secret, (), (key, sealed, set_by, created_at, modified_at))

/// Which secret is in which variable of a job: variable -> the secret's name.
using SecretVariables = std::map<std::string, std::string>;

/// The property of a job that names its secrets. Azure's own tools let any property through.
inline constexpr const char* kSecretsProperty = "berth.secrets";

/// "HF_TOKEN" or "WANDB=WANDB_API_KEY": the secret and the variable it goes into. Adds it.
Status add_secret_variable(std::string_view text, SecretVariables& variables);
/// "HF_TOKEN,WANDB=WANDB_API_KEY", and back.
Result<SecretVariables> secret_variables_from(std::string_view text);
std::string to_text(const SecretVariables& variables);

/// [A-Za-z_][A-Za-z0-9_]*, as a shell can name it.
bool is_variable_name(std::string_view name);

}  // namespace berth::model
