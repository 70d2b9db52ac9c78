// SPDX-License-Identifier: Apache-2.0
#include "server/door/route.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"

namespace berth::server {
namespace {

Result<io::Reply> nothing(Call&) { return io::Reply{}; }

const std::string kW =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.MachineLearningServices/workspaces/w1";

RouteTable make_table() {
  const Permission any{};
  return RouteTable({
      {"GET", "W", any, BodyKind::None, nothing},
      {"GET", "W/jobs", any, BodyKind::None, nothing},
      {"GET", "W/jobs/{name}", any, BodyKind::None, nothing},
      {"PUT", "W/jobs/{name}", any, BodyKind::Json, nothing},
      {"POST", "W/jobs/{id}/cancel", any, BodyKind::Json, nothing},
      {"GET", "W/jobs/special", any, BodyKind::None, nothing},
      {"GET", "/history/v1.0/W/runs/{name}/details", any, BodyKind::None, nothing},
      {"GET", "/blob/{workspace}/{container}", any, BodyKind::None, nothing},
      {"GET", "/blob/{workspace}/{container}/{path...}", any, BodyKind::None, nothing},
  });
}

class RouteTableTest : public testing::Test {
 protected:
  /// The pattern of the route that is found, or why there is none.
  std::string pattern(std::string_view method, const std::string& path) const {
    const auto match = table.find(method, path);
    return match ? match->route->pattern : match.error().message;
  }
  Code refusal(std::string_view method, const std::string& path) const {
    const auto match = table.find(method, path);
    EXPECT_FALSE(match) << path;
    return match ? Code::Internal : match.error().code;
  }

  RouteTable table = make_table();
};

TEST_F(RouteTableTest, FindsRoutesAndTheirParameters) {
  const auto match = table.find("PUT", kW + "/jobs/train-7");

  ASSERT_TRUE(match);
  EXPECT_STREQ(match->route->method, "PUT");
  EXPECT_EQ(match->parameters.at("name"), "train-7");
  EXPECT_EQ(match->parameters.at("subscriptionId"), "s1");
  EXPECT_EQ(match->parameters.at("resourceGroupName"), "g1");
  EXPECT_EQ(match->parameters.at("workspaceName"), "w1");
}

TEST_F(RouteTableTest, EachRouteHasItsOwnNamesForParameters) {
  EXPECT_EQ(table.find("POST", kW + "/jobs/a/cancel")->parameters.at("id"), "a");
}

TEST_F(RouteTableTest, LiteralsIgnoreCaseAndParametersKeepIt) {
  const auto match = table.find("GET",
                                "/SUBSCRIPTIONS/S1/resourcegroups/G1/Providers/"
                                "microsoft.machinelearningservices/WorkSpaces/W1/JOBS/MyJob");

  ASSERT_TRUE(match);
  EXPECT_EQ(match->parameters.at("subscriptionId"), "S1");
  EXPECT_EQ(match->parameters.at("name"), "MyJob");
}

TEST_F(RouteTableTest, LiteralsWinOverParameters) {
  EXPECT_EQ(pattern("GET", kW + "/jobs/special"), "W/jobs/special");
  EXPECT_EQ(pattern("GET", kW + "/jobs/other"), "W/jobs/{name}");
  // Behind the literal there is nothing, so the parameter is tried after all.
  EXPECT_EQ(pattern("POST", kW + "/jobs/special/cancel"), "W/jobs/{id}/cancel");
}

TEST_F(RouteTableTest, AWorkspaceMayStandInTheMiddle) {
  EXPECT_EQ(pattern("GET", "/history/v1.0" + kW + "/runs/a/details"),
            "/history/v1.0/W/runs/{name}/details");
}

TEST_F(RouteTableTest, TheRestIsTakenWhole) {
  EXPECT_EQ(table.find("GET", "/blob/w/c/a/b%20c/d.txt")->parameters.at("path"), "a/b c/d.txt");
  EXPECT_EQ(table.find("GET", "/blob/w/c/a%2Fb")->parameters.at("path"), "a/b");
  EXPECT_EQ(table.find("GET", "/blob/w/c/100%2525")->parameters.at("path"), "100%25");
  EXPECT_EQ(table.find("GET", "/blob/w/c/folder/")->parameters.at("path"), "folder/");
  EXPECT_EQ(pattern("GET", "/blob/w/c"), "/blob/{workspace}/{container}");
}

TEST_F(RouteTableTest, TellsAWrongMethodFromAWrongPath) {
  EXPECT_EQ(refusal("GET", "/nowhere"), Code::NotFound);
  EXPECT_EQ(refusal("GET", "/"), Code::NotFound);
  EXPECT_EQ(refusal("GET", kW + "/jobs/a/b/c"), Code::NotFound);
  EXPECT_EQ(refusal("PATCH", kW + "/jobs/a"), Code::NotSupported);
  EXPECT_EQ(pattern("PATCH", kW + "/jobs/a"), "this address takes GET, PUT only");
  EXPECT_EQ(refusal("GET", ""), Code::InvalidArgument);
  EXPECT_EQ(refusal("GET", "*"), Code::InvalidArgument);
}

/// Strings that try to leave the place they are put into.
const std::string kTraversals[] = {
    "..",
    ".",
    "%2e%2e",
    "%2E%2E",
    ".%2e",
    "%2e.",
    "%2e",
    "..%2f",
    "..%2F..%2F",
    "%2e%2e%2f",
    "%2e%2e%2fetc%2fpasswd",
    "..%5c",
    "..%5C..%5c",
    "%2e%2e%5c",
    "%252e%252e",
    "%252e%252e%252f",
    "%25252e%25252e",
    "..%252f",
    "..%255c",
    "%c0%ae%c0%ae",
    "%c0%ae",
    "%c0%af",
    "%e0%80%af",
    "%e0%40%ae",
    "%f0%80%80%ae",
    "%c1%9c",
    "..%c0%af",
    "..%ef%bc%8f",
    "%ef%bc%8e%ef%bc%8e",
    "%u002e%u002e",
    "%uff0e",
    "%00",
    "a%00",
    "a%00.txt",
    "..%00",
    "%0a",
    "a%0d%0ab",
    "%09",
    "%7f",
    "%1b%5b2J",
    "..;",
    "..%3b",
    ".%00.",
    "...",
    "....",
    "....%2f%2f",
    "~",
    "~root",
    "%2fetc%2fpasswd",
    "%2f",
    "%5c",
    "%5c%5chost%5cc",
    "c%3a%5cwindows",
    "file%3a%2f%2f%2fetc",
    "a%2fb",
    "a%5cb",
    "a%20b",
    "%20",
    "-rf",
    "--",
    "%",
    "%2",
    "%zz",
    "%2g",
    "a%",
    "a%2",
    "%%32%65",
    "\\",
    "..\\..",
    "a b",
    "a:b",
    "a?b",
    "a*b",
    "$(id)",
    "`id`",
    "a;b",
    "a|b",
    "a'b",
    "a\"b",
    "<a>",
    "{name}",
    std::string("a\0b", 3),
    std::string(256, 'a'),
};

TEST_F(RouteTableTest, NoParameterTakesAPathTrick) {
  ASSERT_GE(std::size(kTraversals), 80u);
  for (const std::string& text : kTraversals) {
    EXPECT_EQ(refusal("GET", kW + "/jobs/" + text), Code::InvalidArgument) << text;
    EXPECT_EQ(refusal("GET", "/blob/" + text + "/c/x"), Code::InvalidArgument) << text;
    EXPECT_EQ(refusal("GET", "/blob/w/" + text), Code::InvalidArgument) << text;
  }
}

TEST_F(RouteTableTest, NamesAreNotNormalisedAway) {
  EXPECT_EQ(refusal("GET", kW + "/jobs/../jobs"), Code::NotFound);
  EXPECT_EQ(refusal("GET", kW + "//jobs"), Code::NotFound);
  EXPECT_EQ(refusal("GET", kW + "/jobs/"), Code::InvalidArgument);
  EXPECT_EQ(refusal("GET", "/" + kW + "/jobs"), Code::NotFound);
  EXPECT_EQ(refusal("GET", "/blob/w/c/../../x"), Code::InvalidArgument);
}

TEST_F(RouteTableTest, NoBlobPathLeavesItsContainer) {
  const std::string refused[] = {
      "..",
      "../x",
      "x/..",
      "x/../y",
      "%2e%2e/x",
      "x/%2e%2e",
      "x%2f..%2fy",
      "x/%2e%2e%2fy",
      "..%2fx",
      ".",
      "./x",
      "x/./y",
      "x//y",
      "/x",
      "%2fx",
      "x%2f%2fy",
      "x\\y",
      "x%5cy",
      "..%5cx",
      "x%00",
      "x%0ay",
      "x%0d%0ay",
      "%7f",
      "x%1by",
      "%c0%ae%c0%ae/x",
      "%c0%af",
      "%e0%80%af",
      "%ff",
      "%ed%a0%80",
      "%",
      "x/%",
      "%zz",
      std::string(1025, 'a'),
      "",
  };
  for (const std::string& path : refused) {
    EXPECT_EQ(refusal("GET", "/blob/w/c/" + path), Code::InvalidArgument) << path;
  }
  // Decoded once, these are odd names and nothing more.
  for (const std::string path :
       {"%252e%252e", "%252e%252e%252fx", "...", "..x", "x..", "a%20b", "~"}) {
    const auto match = table.find("GET", "/blob/w/c/" + path);
    ASSERT_TRUE(match) << path;
    EXPECT_EQ(match->parameters.at("path"), *percent_decode(path));
  }
}

TEST_F(RouteTableTest, AVeryLongPathIsRefusedAndNotWalked) {
  std::string path;
  for (int i = 0; i < 10'000; ++i) path += "/a";

  EXPECT_EQ(refusal("GET", path), Code::InvalidArgument);
}

TEST(Routes, AllHaveAPermissionAndAPlace) {
  const RouteTable table(all_routes());
  ASSERT_GT(table.routes().size(), 60u);
  std::set<std::string> open;
  for (const Route& route : table.routes()) {
    const std::string name = std::string(route.method) + " " + route.pattern;
    const Permission& permission = route.permission;
    if (permission.kind == Permission::Kind::Action ||
        permission.kind == Permission::Kind::Signature) {
      EXPECT_STRNE(permission.action, "") << name;
    }
    if (permission.kind == Permission::Kind::Public) open.insert(route.pattern);
    if (permission.kind == Permission::Kind::Signature) {
      EXPECT_TRUE(std::string_view(route.pattern).starts_with("/blob/")) << name;
    }
  }
  EXPECT_EQ(open, (std::set<std::string>{"/health", "/discovery", "/metadata/endpoints"}));
}

}  // namespace
}  // namespace berth::server
