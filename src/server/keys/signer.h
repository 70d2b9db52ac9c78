// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/access.h"
#include "model/job.h"
#include "model/node.h"

namespace berth::server {

/// Leave to do something with blobs below a prefix, for a while: the content of a signed URL.
/// A prefix covers the blob of that very name and all below it as a folder, not names that only
/// begin alike ("runs/a" covers "runs/a/x" and not "runs/ab").
struct Grant {
  model::WorkspaceId workspace{};
  std::string container{};
  std::string prefix{};       ///< Empty: the whole container.
  std::string permissions{};  ///< Letters of "racwdl": read, add, create, write, delete, list.
  WallTime expires_at{};

  // Whom it was given to; it is good for as long as they are. Nothing here: the owner.
  model::TokenId token{};  ///< The user's token it was asked for with, and when that was made.
  WallTime issued_at{};
  std::string job{};  ///< The job, of the same workspace, and the attempt it serves.
  int attempt = 0;
  std::string fence{};  ///< Of the attempt: one of a later job of the same name has another.
};

bool covers(const Grant& grant, std::string_view path);
bool permits(const Grant& grant, char permission);

/// Signs URLs and short-lived tokens with the installation's key (HMAC-SHA256).
class Signer {
 public:
  explicit Signer(std::string key) : key_(std::move(key)) {}

  /// "sv=…&sr=c&sp=rl&se=…&spr=…&si=<prefix>&skoid=<token>&scid=<attempt>&sig=…". Only names that
  /// Azure has: its storage clients drop all others, and take a token with a stranger in it for an
  /// account key.
  std::string sign(const Grant& grant) const;
  /// The grant of a query string for this workspace and container: Forbidden when the signature is
  /// wrong or foreign, or it has expired. The caller checks permission letter and path.
  Result<Grant> check(const model::WorkspaceId& workspace, std::string_view container,
                      std::string_view query, WallTime now) const;

  /// A token for one attempt of a job: "berth-job.<…>.<sig>"; only tells who it is for. The fence
  /// tells the attempt from one of a later job of the same name.
  std::string job_token(const model::JobKey& job, int attempt, std::string_view fence = {}) const;
  struct JobToken {
    model::JobKey job{};
    int attempt = 0;
    std::string fence{};
  };
  std::optional<JobToken> check_job_token(std::string_view token) const;

  std::string node_token(const model::NodeId& node) const;
  std::optional<model::NodeId> check_node_token(std::string_view token) const;

  /// A key for one purpose: what is signed with it is good for nothing else.
  std::string derived_key(std::string_view purpose) const;

 private:
  std::string key_;
};

}  // namespace berth::server
