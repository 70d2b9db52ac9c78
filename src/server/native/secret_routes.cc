// SPDX-License-Identifier: Apache-2.0
// /berth/v1: secrets of a workspace. Their values come in and go to jobs; no answer holds one.
#include "base/text.h"
#include "server/door/route.h"
#include "server/keys/secrets.h"
#include "server/plane/ledger.h"
#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace json = boost::json;
using model::Secret;
using model::SecretKey;

SecretKey own_key(const Call& call) {
  return {call.workspace->id, secret_owner(call.principal), call.parameter("secret")};
}
SecretKey shared_key(const Call& call) {
  return {call.workspace->id, model::kSharedSecrets, call.parameter("secret")};
}

json::object shown(const Secret& secret) {
  return {{"name", secret.key.name},
          {"shared", secret.key.owner == model::kSharedSecrets},
          {"set_by", secret.set_by},
          {"created_at", to_iso8601(secret.created_at)},
          {"modified_at", to_iso8601(secret.modified_at)}};
}

Result<io::Reply> list(Call& call) {
  json::array values;
  for (const std::string& owner :
       {secret_owner(call.principal), std::string(model::kSharedSecrets)}) {
    for (const Secret& secret : TRY(call.services.store.secrets().list(call.workspace->id, owner)))
      values.push_back(shown(secret));
  }
  return json_reply(200, wire::arm::page(std::move(values)));
}

Result<io::Reply> get(Call& call, const SecretKey& key) {
  const auto secret = TRY(call.services.store.secrets().find(key));
  if (secret) return json_reply(200, shown(*secret));
  return fail(Code::NotFound, fmt::format("no secret '{}'{}", key.name,
                                          key.owner.empty() ? " is shared" : " of yours"));
}

Status check_value(std::string_view value) {
  if (value.empty()) return fail(Code::InvalidArgument, "a secret cannot be empty", "value");
  if (value.find('\0') != value.npos || !is_valid_utf8(value)) {
    return fail(Code::InvalidArgument,
                "a secret is text without NUL, as it becomes an environment variable", "value");
  }
  if (value.size() <= kLongestSecret) return Done{};
  return fail(Code::TooLarge, fmt::format("a secret has at most {}", human_bytes(kLongestSecret)),
              "value");
}

Result<io::Reply> put(Call& call, const SecretKey& key) {
  const json::value body = TRY(json_body(call));
  const wire::arm::Fields fields = TRY(wire::arm::Fields::of(body, ""));
  const std::string value = TRY(fields.required_text("value"));
  TRY(check_value(value));
  store::SecretReader& secrets = call.services.store.secrets();
  const auto existing = TRY(secrets.find(key));
  const bool is_full =
      !existing && TRY(secrets.list(key.workspace, key.owner)).size() >= kMostSecrets;
  if (is_full) {
    return fail(Code::Conflict, fmt::format("there are {} secrets already", kMostSecrets));
  }
  const WallTime now = call.services.clock.now().wall;
  const Secret secret{.key = key,
                      .sealed = seal_secret(call.services.signer, key, value),
                      .set_by = call.principal.name,
                      .created_at = existing ? existing->created_at : now,
                      .modified_at = now};
  call.services.ledger.write({store::PutSecret{secret}});
  return json_reply(existing ? 200 : 201, shown(secret));
}

Result<io::Reply> remove(Call& call, const SecretKey& key) {
  call.services.ledger.write({store::DeleteSecret{key}});
  return io::Reply{.status = 204};
}

Result<io::Reply> get_own(Call& call) { return get(call, own_key(call)); }
Result<io::Reply> put_own(Call& call) { return put(call, own_key(call)); }
Result<io::Reply> remove_own(Call& call) { return remove(call, own_key(call)); }
Result<io::Reply> get_shared(Call& call) { return get(call, shared_key(call)); }
Result<io::Reply> put_shared(Call& call) { return put(call, shared_key(call)); }
Result<io::Reply> remove_shared(Call& call) { return remove(call, shared_key(call)); }

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = allow("Berth/secrets/read");
constexpr Permission kWrite = allow("Berth/secrets/write");
constexpr Permission kDelete = allow("Berth/secrets/delete");
constexpr Permission kWriteShared = allow("Berth/sharedSecrets/write");
constexpr Permission kDeleteShared = allow("Berth/sharedSecrets/delete");

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/W/secrets", kRead, BodyKind::None, list},
    {"GET", "/berth/v1/W/secrets/{secret}", kRead, BodyKind::None, get_own},
    {"PUT", "/berth/v1/W/secrets/{secret}", kWrite, BodyKind::Json, put_own},
    {"DELETE", "/berth/v1/W/secrets/{secret}", kDelete, BodyKind::None, remove_own},
    {"GET", "/berth/v1/W/sharedSecrets/{secret}", kRead, BodyKind::None, get_shared},
    {"PUT", "/berth/v1/W/sharedSecrets/{secret}", kWriteShared, BodyKind::Json, put_shared},
    {"DELETE", "/berth/v1/W/sharedSecrets/{secret}", kDeleteShared, BodyKind::None, remove_shared},
};

}  // namespace

std::span<const Route> secret_routes() { return kRoutes; }

}  // namespace berth::server
