// SPDX-License-Identifier: Apache-2.0
// Reading MLflow's requests. Its clients send a JSON object or, with GET, the same as a query; a
// number may come as text.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/tracking.h"

namespace berth::wire::mlflow {

namespace json = boost::json;

/// The fields of a request, or of an object in it. Null counts as absent. Errors are
/// InvalidArgument and name the field.
class Message {
 public:
  explicit Message(json::object object, std::string path = {})
      : object_(std::move(object)), path_(std::move(path)) {}
  static Message of_query(const std::vector<std::pair<std::string, std::string>>& query);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  Result<std::string> text(std::string_view key) const;  ///< Empty when absent.
  Result<std::string> required_text(std::string_view key) const;
  Result<std::optional<std::int64_t>> integer(std::string_view key) const;
  Result<std::int64_t> required_integer(std::string_view key) const;
  /// "NaN", "Infinity" and "-Infinity" are numbers, too.
  Result<double> required_number(std::string_view key) const;
  Result<bool> boolean(std::string_view key, bool fallback) const;
  /// Of a query: all values of the key.
  Result<std::vector<std::string>> texts(std::string_view key) const;
  Result<std::vector<Message>> messages(std::string_view key) const;
  Result<std::optional<Message>> message(std::string_view key) const;
  /// [{"key": …, "value": …}], checked by nobody yet.
  Result<std::vector<std::pair<std::string, std::string>>> pairs(std::string_view key) const;

  std::string path_of(std::string_view key) const;
  tl::unexpected<Error> wrong(std::string_view key, std::string_view problem) const;

 private:
  const json::value* find(std::string_view key) const;

  json::object object_;
  std::string path_;
};

/// "run_id", or "run_uuid" as it was called once.
Result<std::string> run_id_of(const Message& message);

Result<model::Metric> metric_from(const Message& message);
Result<model::Dataset> dataset_from(const Message& message);

}  // namespace berth::wire::mlflow
