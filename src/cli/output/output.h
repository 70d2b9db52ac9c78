// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/output/console.h"

namespace berth::cli {

enum class Format { Json, Jsonc, Yaml, Yamlc, Table, Tsv, None };

/// Reads the value of -o. The message of a failure lists what there is.
Result<Format> format_from(std::string_view text);

/// A title and the key it shows: "creation_context.created_at".
struct Column {
  std::string_view title;
  std::string_view path;
};

/// What a command answers with, and what people most want to see of it.
struct Answer {
  boost::json::value value = nullptr;
  std::span<const Column> columns{};  ///< Of a list's table, or the lines of a summary.
};

struct OutputOptions {
  std::optional<Format> format{};  ///< Not given: for people on a terminal, JSON elsewhere.
  std::string query{};
};

/// The text for stdout. null prints nothing, as in `az`.
Result<std::string> to_text(const Answer& answer, const OutputOptions& options,
                            const Console& console);

}  // namespace berth::cli
