// SPDX-License-Identifier: Apache-2.0
// Runs JMESPath's public compliance suite: files of {given, cases: [{expression, result | error}]}.
//
//   jmespath_compliance FOLDER
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

#include "lang/jmespath/jmespath.h"
#include "lang/jmespath/value.h"

namespace {

namespace json = boost::json;
namespace jmespath = berth::lang::jmespath;

struct Count {
  int right = 0;
  int all = 0;
};

std::string_view text_of(const json::value& value) { return value.as_string(); }

berth::Result<json::value> ask(std::string_view text, const json::value& given) {
  const auto expression = jmespath::compile(text);
  if (!expression) return berth::fail(expression.error());
  return jmespath::search(*expression, given);
}

/// What is wrong with the answer; empty when nothing is.
std::string mistake(const json::object& wanted, const berth::Result<json::value>& found) {
  if (const json::value* error = wanted.if_contains("error")) {
    if (found)
      return fmt::format("{} error expected, found {}", text_of(*error), json::serialize(*found));
    // "invalid-type error at character 3: …"; the suite has one name for both kinds of arity.
    const bool is_right =
        found.error().message.starts_with(fmt::format("{} error at", text_of(*error)));
    return is_right ? ""
                    : fmt::format("{} expected, but: {}", text_of(*error), found.error().message);
  }
  const json::value* result = wanted.if_contains("result");
  if (result == nullptr) return found ? "" : found.error().message;  // A benchmark.
  if (!found) return found.error().message;
  if (jmespath::are_equal(*result, *found)) return "";
  return fmt::format("{} expected, found {}", json::serialize(*result), json::serialize(*found));
}

void run_file(const std::filesystem::path& path, Count& count) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const json::value suite = json::parse(text);
  for (const json::value& part : suite.as_array()) {
    for (const json::value& wanted : part.at("cases").as_array()) {
      const std::string_view expression = text_of(wanted.at("expression"));
      const std::string wrong = mistake(wanted.as_object(), ask(expression, part.at("given")));
      ++count.all;
      if (wrong.empty()) {
        ++count.right;
      } else {
        std::cout << fmt::format("{}: {}\n  {}\n", path.filename().string(), expression, wrong);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: jmespath_compliance FOLDER\n";
    return 2;
  }
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() == ".json") paths.insert(entry.path());
  }
  Count count;
  for (const auto& path : paths) run_file(path, count);
  std::cout << fmt::format("jmespath compliance: {} of {}\n", count.right, count.all);
  return count.all > 0 && count.right == count.all ? 0 : 1;
}
