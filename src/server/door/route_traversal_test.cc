// SPDX-License-Identifier: Apache-2.0
// Paths that try to leave, in every parameter of every route there is: a new route is in here by
// being in the table.

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "server/door/route.h"

namespace berth::server {
namespace {

/// What a dot, a slash and a backslash may be dressed up as.
constexpr std::string_view kDots[] = {"..",           "%2e%2e",     ".%2e",
                                      "%2E.",         "%252e%252e", "%25252e%25252e",
                                      "%c0%ae%c0%ae", "%e0%80%ae.", "%ef%bc%8e%ef%bc%8e",
                                      "..%00",        "%00..",      "..;",
                                      "..%20",        "..%09",      "...",
                                      "....",         "..%0d%0a",   "%u002e%u002e"};
constexpr std::string_view kSlashes[] = {"/",      "%2f",       "%2F",       "%5c", "\\", "%252f",
                                         "%c0%af", "%e2%88%95", "%ef%bc%8f", "//",  "/./"};
constexpr std::string_view kWhole[] = {"/etc/passwd",
                                       "%2fetc%2fpasswd",
                                       "//etc/passwd",
                                       "file:///etc/passwd",
                                       "file:%2f%2f/etc/passwd",
                                       "\\\\host\\x",
                                       "%5c%5chost%5cx",
                                       "C:\\x",
                                       "C:%5cx",
                                       "~",
                                       "~root",
                                       "%7eroot",
                                       "mlflow-artifacts:/x",
                                       "runs:/x",
                                       "azureml://jobs/x",
                                       "a%00",
                                       "%00",
                                       "a%0ab",
                                       "a%0d%0aX:%201",
                                       ".",
                                       "./",
                                       "%2e",
                                       "a/.",
                                       "a%2f.",
                                       "-rf",
                                       "--help",
                                       "$(id)",
                                       "`id`",
                                       ";id",
                                       "a b",
                                       "a%20b",
                                       "*",
                                       "?",
                                       "%",
                                       "%z",
                                       "%2",
                                       "a%",
                                       "%e2%80%ae",
                                       "%ff%fe",
                                       "|id"};

std::vector<std::string> escapes() {
  std::set<std::string> all(std::begin(kWhole), std::end(kWhole));
  for (const std::string_view dots : kDots) {
    all.emplace(dots);
    for (const std::string_view slash : kSlashes) {
      all.insert(fmt::format("{}{}x", dots, slash));
      all.insert(fmt::format("a{1}{0}{1}{0}{1}etc{1}passwd", dots, slash));
    }
  }
  all.insert(std::string(300, 'a'));
  all.insert(std::string(5000, '.'));
  return {all.begin(), all.end()};
}

/// The pattern with `value` in the place of one parameter and harmless names in all others.
std::string address(std::string_view pattern, std::size_t parameter, std::string_view value) {
  std::string path;
  std::size_t seen = 0;
  for (const std::string_view segment : split(pattern.substr(1), '/')) {
    path += '/';
    if (segment.starts_with('{')) {
      path += seen++ == parameter ? value : "name";
    } else {
      path += segment;
    }
  }
  return path;
}

/// W stands for the path of a workspace.
std::string written_out(std::string_view pattern) {
  const std::string workspace =
      "/subscriptions/{s}/resourceGroups/{g}/providers/Microsoft.MachineLearningServices/"
      "workspaces/{w}";
  std::string path;
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  for (const std::string_view segment : split(pattern, '/')) {
    if (segment == "W") {
      path += workspace;
    } else {
      path += fmt::format("/{}", segment);
    }
  }
  return path;
}

bool goes_only_down(std::string_view value) {
  const auto segments = split(value, '/');
  return !value.starts_with('/') && value.find('\0') == std::string_view::npos &&
         value.find('\\') == std::string_view::npos &&
         std::ranges::none_of(segments,
                              [](std::string_view each) { return each == "." || each == ".."; });
}

TEST(RouteTraversal, ThereAreEnoughWaysOut) { EXPECT_GE(escapes().size(), 200u); }

TEST(RouteTraversal, NoParameterOfAnyRouteTakesAWayOut) {
  const RouteTable table(all_routes());
  const std::vector<std::string> ways = escapes();
  std::size_t tried = 0;

  for (const Route& route : table.routes()) {
    const std::string pattern = written_out(route.pattern);
    const auto count = static_cast<std::size_t>(std::ranges::count(pattern, '{'));
    for (std::size_t parameter = 0; parameter < count; ++parameter) {
      ASSERT_TRUE(table.find(route.method, address(pattern, parameter, "name"))) << pattern;
      for (const std::string& way : ways) {
        ++tried;
        const auto match = table.find(route.method, address(pattern, parameter, way));
        if (!match) continue;
        const bool takes_path = std::string_view(match->route->pattern).ends_with("...}");
        for (const auto& [name, value] : match->parameters) {
          const bool is_harmless = is_resource_name(value) || (takes_path && goes_only_down(value));
          EXPECT_TRUE(is_harmless) << route.method << " " << pattern << " took '" << way << "' as "
                                   << name << " '" << value << "'";
        }
      }
    }
  }
  EXPECT_GE(tried, ways.size() * table.routes().size());
}

}  // namespace
}  // namespace berth::server
