// SPDX-License-Identifier: Apache-2.0
#include "server/blob/access.h"

#include "base/text.h"
#include "core/rules/workspace_rules.h"
#include "model/datastore.h"
#include "server/assets/model_files.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;
using Parameters = std::map<std::string, std::string, std::less<>>;

constexpr const char* kAllPermissions = "racwdl";

std::string value_of(const Query& query, std::string_view name) {
  for (const auto& [key, value] : query) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return {};
}

BlobOperation container_operation(std::string_view method, std::string_view comp) {
  const bool is_read = method == "GET" || method == "HEAD";
  if (method == "GET" && comp == "list") return BlobOperation::List;
  if (is_read && comp.empty()) return BlobOperation::ContainerProperties;
  if (method == "PUT" && comp.empty()) return BlobOperation::MakeContainer;
  return BlobOperation::Unknown;
}

/// Any one of these letters will do.
std::string_view permissions_for(BlobOperation operation) {
  switch (operation) {
    case BlobOperation::Get:
    case BlobOperation::Properties:
    case BlobOperation::GetMetadata: return "r";
    case BlobOperation::Put:
    case BlobOperation::PutBlock:
    case BlobOperation::PutBlockList:
    case BlobOperation::MakeContainer: return "wc";
    case BlobOperation::SetMetadata: return "w";
    case BlobOperation::Delete: return "d";
    case BlobOperation::List: return "l";
    case BlobOperation::ContainerProperties: return "rl";
    case BlobOperation::Unknown: return kAllPermissions;
  }
  return "";
}

bool is_of_container(BlobOperation operation) {
  return operation == BlobOperation::List || operation == BlobOperation::ContainerProperties ||
         operation == BlobOperation::MakeContainer;
}

/// Clients that think in accounts put ".blob.<suffix>" behind the workspace, the last part of what
/// we call our account's name.
store::BlobKey target_of(const Parameters& parameters) {
  const std::string& workspace = parameters.find("workspaceId")->second;
  const auto path = parameters.find("path");
  return {.workspace = {workspace.substr(0, workspace.find(".blob."))},
          .container = parameters.find("container")->second,
          .path = path == parameters.end() ? std::string() : path->second};
}

/// Listing with a narrow grant is fine: it shows what the grant covers.
Status check_grant(const Grant& grant, BlobOperation operation, std::string_view path) {
  const std::string_view wanted = permissions_for(operation);
  if (std::ranges::none_of(wanted, [&](char letter) { return permits(grant, letter); })) {
    return fail_blob("AuthorizationPermissionMismatch", "the signature does not allow this");
  }
  if (!is_of_container(operation) && !covers(grant, path)) {
    return fail_blob("AuthorizationPermissionMismatch", "the signature is for other blobs");
  }
  return Done{};
}

Result<Grant> check_signature(const io::RequestHead& head, const store::BlobKey& target,
                              const Services& services) {
  Result<Grant> grant = services.signer.check(target.workspace, target.container, head.query,
                                              services.clock.now().wall);
  if (!grant) return fail_blob("AuthenticationFailed", grant.error().message);
  return grant;
}

/// Whom the signature speaks for. It is as good as what they had to show when they were given it.
Result<Principal> holder_of(const Grant& grant, const Services& services) {
  const core::State& state = services.ledger.state();
  Principal holder{.kind = Principal::Kind::Signature, .name = "signature"};
  if (grant.attempt > 0) {
    holder.name = "signature of job " + grant.job;
    holder.job = {grant.workspace, grant.job};
    holder.attempt = grant.attempt;
    holder.fence = grant.fence;
  }
  if (!grant.token.text.empty()) {
    holder.token = grant.token;
    holder.issued_at = grant.issued_at;
    const auto token = state.access.tokens.find(grant.token);
    if (token != state.access.tokens.end()) {
      holder.user = token->second.user;
      holder.only_in = token->second.workspace;
      holder.name = state.access.users.at(holder.user).name;
    }
  }
  if (is_current(state, holder, services.clock.now().wall)) return holder;
  return fail_blob("AuthenticationFailed",
                   "whoever was given the signature has no rights any more");
}

Status check_container(const store::BlobKey& target, const Services& services) {
  const bool is_known = std::ranges::any_of(model::kDatastores, [&](const auto& datastore) {
    return datastore.container == target.container;
  });
  if (is_known && core::find_workspace(services.ledger.state(), target.workspace) != nullptr)
    return Done{};
  return fail_blob("ContainerNotFound", "there is no such container");
}

}  // namespace

bool wants_md5(const io::RequestHead& head) {
  return std::ranges::any_of(
             kMd5Headers,
             [&](const char* name) { return !io::header(head.headers, name).empty(); }) ||
         !io::header(head.headers, "x-ms-blob-type").empty();
}

BlobOperation operation_of(std::string_view method, const Query& query) {
  const std::string comp = to_lower(value_of(query, "comp"));
  if (equals_ignoring_case(value_of(query, "restype"), "container")) {
    return container_operation(method, comp);
  }
  struct Line {
    std::string_view method, comp;
    BlobOperation operation;
  };
  constexpr Line kLines[] = {
      {"GET", "", BlobOperation::Get},
      {"HEAD", "", BlobOperation::Properties},
      {"PUT", "", BlobOperation::Put},
      {"DELETE", "", BlobOperation::Delete},
      {"PUT", "block", BlobOperation::PutBlock},
      {"PUT", "blocklist", BlobOperation::PutBlockList},
      {"PUT", "metadata", BlobOperation::SetMetadata},
      {"GET", "metadata", BlobOperation::GetMetadata},
      {"HEAD", "metadata", BlobOperation::GetMetadata},
  };
  for (const Line& line : kLines) {
    if (line.method == method && line.comp == comp) return line.operation;
  }
  return BlobOperation::Unknown;
}

model::WorkspaceId workspace_of_blob(const Match& match) {
  return target_of(match.parameters).workspace;
}

Result<Principal> admit_blob(const io::RequestHead& head, const Match& match,
                             const Services& services) {
  const auto query = io::parse_query(head.query);
  if (!query) return fail_blob("InvalidQueryParameterValue", query.error().message);
  const store::BlobKey target = target_of(match.parameters);
  const Grant grant = TRY(check_signature(head, target, services));
  TRY(check_grant(grant, operation_of(head.method, *query), target.path));
  return holder_of(grant, services);
}

Result<BlobRequest> open_blob_request(const Call& call) {
  const io::RequestHead& head = call.request.head;
  BlobRequest request{.operation = operation_of(head.method, call.query),
                      .target = target_of(call.parameters)};
  if (call.principal.kind != Principal::Kind::Signature) {
    request.grant = {.workspace = request.target.workspace,
                     .container = request.target.container,
                     .permissions = kAllPermissions};
  } else {
    request.grant = TRY(check_signature(head, request.target, call.services));
    TRY(check_grant(request.grant, request.operation, request.target.path));
  }
  // After the signature: a stranger does not learn which containers there are.
  TRY(check_container(request.target, call.services));
  if (is_of_container(request.operation) || request.operation == BlobOperation::Unknown) {
    return request;
  }
  const bool is_reading = permissions_for(request.operation) == "r";
  if (!is_reading && is_pinned(request.target.container, request.target.path)) {
    return fail_blob("BlobImmutableDueToPolicy",
                     "this file belongs to a registered model, whose files never change");
  }
  const bool is_folder = request.target.path.ends_with('/');
  // Clients look whether there is a blob of a folder's name before they list it.
  if (is_folder && is_reading) {
    return fail_blob("BlobNotFound", "there is no blob of that name");
  }
  if (is_folder || request.target.path.empty()) {
    return fail_blob("InvalidResourceName", "a blob's name is not empty and does not end in '/'");
  }
  return request;
}

}  // namespace berth::server
