// SPDX-License-Identifier: Apache-2.0
// --query and --set: the first line is the expression, the rest the document it is used on.

#include "cli/query.h"

#include "base/record.h"
#include "fuzz.h"
#include "wire/yaml/document.h"

using namespace berth;

FUZZ(input) {
  const std::string_view expression = fuzz::take_line(input);
  const bool is_right = cli::check_query(expression).has_value();
  if (const auto value = record::parse(input)) {
    const auto found = cli::query(*value, expression);
    if (!is_right) fuzz::require(!found, "what is refused early is refused late");
  }
  if (auto root = wire::yaml::parse(input, "fuzz.yml")) (void)wire::yaml::set(*root, expression);
}
