// SPDX-License-Identifier: Apache-2.0
// Every route x everybody who may come to the door. What must happen is computed from the lists of
// actions of the roles, what does happen is what the real door says.
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "server/application_fixture.h"

namespace berth::server {
namespace {

/// Somebody at the door, and what is known of them.
struct Visitor {
  std::string name;
  std::string token;
  bool is_known = true;                           ///< Has something good to show.
  bool is_owner = false;                          ///< Of the installation, by its file.
  std::string here{}, elsewhere{}, everywhere{};  ///< Roles: in the workspace, another, all.
  bool only_elsewhere = false;                    ///< The token is for another workspace.
  bool is_job = false, is_node = false;
};

bool may(const std::string& role, const Route& route) {
  return !role.empty() && core::grants(*core::find_role(role), route.permission.action);
}

bool has(const Route& route, std::string_view text) {
  return std::string_view(route.pattern).find(text) != std::string_view::npos;
}

bool is_below_workspace(const Route& route) {
  const std::string_view pattern = route.pattern;
  return pattern == "W" || pattern.starts_with("W/") || has(route, "/W/") ||
         has(route, "{workspaceId}");
}

/// 0, 401 or 403, by the rules as users.md states them.
int expected(const Visitor& visitor, const Route& route) {
  using Kind = Permission::Kind;
  const bool takes_signature = route.permission.kind == Kind::Signature;
  if (route.permission.kind == Kind::Public) return 0;
  if (route.permission.kind == Kind::Identity) {
    return visitor.is_known && !visitor.is_job && !visitor.is_node ? 0 : 401;
  }
  if (!visitor.is_known) return takes_signature ? 403 : 401;
  if (route.permission.kind == Kind::Node) return visitor.is_node ? 0 : 403;
  if (visitor.is_owner) return 0;
  if (visitor.is_job) {
    const bool is_own = route.permission.is_for_own_job && has(route, "{name}");
    const bool is_for_jobs = route.permission.is_for_jobs && is_below_workspace(route);
    return is_own || is_for_jobs ? 0 : 403;
  }
  const std::string everywhere = visitor.everywhere;
  bool is_allowed = false;
  if (route.permission.scope == Permission::Scope::Somewhere) {
    is_allowed = (!visitor.only_elsewhere && may(visitor.here, route)) ||
                 may(visitor.elsewhere, route) || may(everywhere, route);
  } else if (is_below_workspace(route)) {
    is_allowed = !visitor.only_elsewhere && (may(visitor.here, route) || may(everywhere, route));
  } else {
    is_allowed = !visitor.only_elsewhere && may(everywhere, route);
  }
  return is_allowed ? 0 : 403;
}

class AccessTable : public ApplicationTest {
 protected:
  AccessTable() {
    other = plane.workspaces.put({.name = "other"})->id;
    job_key = running("own");
    node = plane.state().nodes.begin()->first;
  }

  std::vector<Visitor> visitors() {
    std::vector<Visitor> all = {
        {.name = "nobody", .token = "", .is_known = false},
        {.name = "guess", .token = "berth-user.0123456789abcdef.00", .is_known = false},
        {.name = "owner", .token = kOwnerToken, .is_owner = true},
        {.name = "job", .token = signer.job_token(job_key, 1), .is_job = true},
        {.name = "old attempt", .token = signer.job_token(job_key, 0), .is_known = false},
        {.name = "next attempt", .token = signer.job_token(job_key, 2), .is_known = false},
        {.name = "no such job", .token = signer.job_token(job("x"), 1), .is_known = false},
        {.name = "node", .token = signer.node_token(node), .is_node = true},
    };
    int number = 0;
    for (const model::RoleDefinition& role : core::role_definitions()) {
      const std::string name(role.name);
      const auto person = [&] { return user("user" + std::to_string(number++)); };
      const model::UserId here = person();
      this->role(here, name, workspace);
      all.push_back({.name = name + " here", .token = token(here).text, .here = name});
      const model::UserId elsewhere = person();
      this->role(elsewhere, name, other);
      all.push_back(
          {.name = name + " elsewhere", .token = token(elsewhere).text, .elsewhere = name});
      const model::UserId everywhere = person();
      this->role(everywhere, name, {});
      all.push_back(
          {.name = name + " everywhere", .token = token(everywhere).text, .everywhere = name});
      all.push_back({.name = name + " with a token for elsewhere",
                     .token = token(everywhere, other).text,
                     .everywhere = name,
                     .only_elsewhere = true});
      const auto revoked = token(everywhere);
      EXPECT_TRUE(plane.access.revoke_token(revoked.token.id));
      all.push_back({.name = name + " revoked", .token = revoked.text, .is_known = false});
      const auto expired = token(everywhere, {}, Duration(1));
      all.push_back({.name = name + " expired", .token = expired.text, .is_known = false});
      const auto renewed = token(everywhere);
      clock.advance(Duration(1));
      EXPECT_TRUE(plane.access.make_token(renewed.token));
      all.push_back({.name = name + " renewed", .token = renewed.text, .is_known = false});
    }
    all.push_back({.name = "without a role", .token = token(user("none")).text});
    settle();
    return all;
  }

  /// An address of the route, about what the visitors are known for.
  std::string address(const Route& route) const {
    std::string path;
    for (const std::string_view segment : split(route.pattern, '/')) {
      if (!path.empty() || route.pattern[0] == '/') path += '/';
      if (path == "/" && segment.empty()) path.clear();
      path += segment == "W" && !path.empty() ? kW.substr(1)
              : segment == "W"                ? kW
              : segment == "{workspaceId}"    ? workspace.text
              : segment == "{node}"           ? node.text
              : segment == "{name}"           ? "own"
              : segment == "{path...}"        ? "a/b"
              : segment.starts_with('{')      ? "x"
                                              : std::string(segment);
    }
    return path;
  }

  model::WorkspaceId other;
  model::JobKey job_key;
  model::NodeId node;
};

TEST_F(AccessTable, EveryRouteLetsInWhoMayAndNobodyElse) {
  const std::vector<Visitor> all = visitors();
  std::size_t let_in = 0, refused = 0;
  for (const Route& route : application.table().routes()) {
    clock.advance(std::chrono::seconds(5));  // Wrong tokens are throttled.
    const std::string target = address(route);
    const std::string method = std::string_view(route.method) == "*" ? "PATCH" : route.method;
    ASSERT_TRUE(application.table().find(method, target)) << target;
    for (const Visitor& visitor : all) {
      io::RequestHead head = head_of(method, target, visitor.token);
      if (route.permission.kind == Permission::Kind::Identity && !visitor.token.empty()) {
        head.headers.back() = {"X-IDENTITY-HEADER", visitor.token};
      }
      int actual = refusal(head);
      // There is nothing at the other end: whoever hears of it was let in.
      const bool is_forwarded = route.take_over != nullptr && expected(visitor, route) == 0;
      if (is_forwarded && actual != 401 && actual != 403) actual = 0;
      EXPECT_EQ(actual, expected(visitor, route))
          << visitor.name << ": " << route.method << " " << route.pattern;
      ++(actual == 0 ? let_in : refused);
    }
  }
  settle();
  EXPECT_GT(let_in, 500u);
  EXPECT_GT(refused, 1000u);
}

TEST_F(AccessTable, AWorkspaceThatIsNotThereLooksLikeOneThatIsNotYours) {
  const model::UserId ana = user("ana");
  role(ana, "Owner", workspace);
  const std::string hers = token(ana).text;
  const std::string group = kW.substr(0, kW.rfind('/'));

  EXPECT_EQ(ask("GET", group + "/other/jobs", hers).status, 403);
  EXPECT_EQ(ask("GET", group + "/nowhere/jobs", hers).status, 403);
  EXPECT_EQ(ask("PUT", group + "/new", hers, "{}").status, 403);
  EXPECT_EQ(ask("GET", group + "/nowhere/jobs", kOwnerToken).status, 404);
}

TEST_F(AccessTable, ListsShowOnlyWhatIsYours) {
  const model::UserId ana = user("ana");
  role(ana, "Reader", other);
  const std::string hers = token(ana).text;
  const std::string list = ask("GET", kW.substr(0, kW.rfind('/')), hers).body;
  EXPECT_NE(list.find("workspaces/other"), list.npos);
  EXPECT_EQ(list.find("workspaces/default"), list.npos);
  EXPECT_EQ(ask("GET", "/berth/v1/nodes", hers).at("/value"), "[]");
  EXPECT_NE(ask("GET", "/berth/v1/nodes", kOwnerToken).at("/value"), "[]");
}

TEST(RouteActions, FitTheirMethods) {
  // Roles that only read must not change anything: what an action's last word says is what its
  // method does.
  const std::set<std::string> reading_posts = {"/history/v1.0/W/rundata",
                                               "/data/v1.0/W/dataversion/batchGetResolvedUris",
                                               "/modelregistry/v1.0/W/models/batchGetResolvedUris"};
  const std::set<std::string> changes_somewhere = {"/berth/v1/nodes/{node}/preempt"};
  const std::vector<Route> routes = all_routes();
  for (const Route& route : routes) {
    const std::string name = std::string(route.method) + " " + route.pattern;
    const std::string_view method = route.method;
    const std::string_view action = route.permission.action;
    const bool has_action = route.permission.kind == Permission::Kind::Action ||
                            route.permission.kind == Permission::Kind::Signature;
    if (!has_action) continue;
    ASSERT_FALSE(action.empty()) << name;
    const bool reads = action.ends_with("/read");
    if (method == "*") {
      EXPECT_TRUE(action.ends_with("/action")) << name << ": who may only read must not get there";
      continue;
    }
    if (method == "GET" || method == "HEAD") {
      EXPECT_TRUE(reads || action.ends_with("/listNodes/action")) << name;
      continue;
    }
    // MLflow's clients post whatever they want; reading is what does not change anything. Taking a
    // tag or an alias away changes what bears it.
    if (std::string_view(route.pattern).starts_with("/mlflow/") && method != "PUT") {
      const bool searches = has(route, "/search") || has(route, "/get-");
      EXPECT_EQ(reads, searches) << name;
      continue;
    }
    // Its registry takes tags and aliases away by DELETE, which changes a model that stays.
    const bool is_small =
        has(route, "/mlflow/") && (has(route, "delete-tag") || has(route, "/alias"));
    if (is_small) {
      EXPECT_TRUE(action.ends_with("/write")) << name;
      continue;
    }
    EXPECT_EQ(reads, reading_posts.contains(route.pattern)) << name;
    const std::string_view last = method == "DELETE" ? "/delete"
                                  : method == "POST" ? (reads ? "/read" : "/action")
                                                     : "/write";
    EXPECT_TRUE(action.ends_with(last)) << name;
    if (route.permission.scope == Permission::Scope::Somewhere) {
      // Who may deploy somewhere may begin a deployment; the right to each of its resources is
      // asked for when it is made.
      const bool deploys = has(route, "Microsoft.Resources/deployments");
      EXPECT_TRUE(deploys || changes_somewhere.contains(route.pattern)) << name;
    }
  }
}

}  // namespace
}  // namespace berth::server
