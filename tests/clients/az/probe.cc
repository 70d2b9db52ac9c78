// SPDX-License-Identifier: Apache-2.0
// Formats one JSON line after the other as the command line would: {"value": …, "query": "…",
// "format": "tsv"} in, {"text": "…"} or {"error": "…"} out. For comparing with az's own formatter.
#include <iostream>
#include <string>

#include "cli/output/output.h"

namespace json = boost::json;

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const json::value asked = json::parse(line);
    const auto format = berth::cli::format_from(asked.at("format").as_string());
    const berth::cli::OutputOptions options{.format = *format,
                                            .query = std::string(asked.at("query").as_string())};
    const auto text = berth::cli::to_text({.value = asked.at("value")}, options, {});
    const json::object answer =
        text ? json::object{{"text", *text}} : json::object{{"error", text.error().message}};
    std::cout << json::serialize(answer) << "\n";
  }
}
