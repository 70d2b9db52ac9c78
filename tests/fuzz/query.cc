// SPDX-License-Identifier: Apache-2.0
// --query and --set: the first line is the expression, the rest the document it is used on.

#include "base/record.h"
#include "fuzz.h"
#include "lang/jmespath/jmespath.h"
#include "wire/yaml/edit.h"

using namespace berth;

FUZZ(input) {
  const std::string_view text = fuzz::take_line(input);
  const auto expression = lang::jmespath::compile(text);
  if (!expression) {
    fuzz::require(expression.error().message.find(" error at character ") != std::string::npos,
                  "a refusal says where");
  } else if (const auto document = record::parse(input)) {
    const auto found = lang::jmespath::search(*expression, *document);
    if (!found) {
      fuzz::require(found.error().message.starts_with("invalid-"),
                    "what is well-formed fails for its values only");
    }
  }
  if (auto root = wire::yaml::parse(input, "fuzz.yml")) (void)wire::yaml::set(*root, text);
}
