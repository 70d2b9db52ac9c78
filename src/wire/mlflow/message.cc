// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/message.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace berth::wire::mlflow {
namespace {

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> integer_of(const json::value& value) {
  if (value.is_string()) return number_of<std::int64_t>(value.get_string());
  if (value.is_double()) {  // Python's json writes 1e3 for a float that is whole.
    const double number = value.get_double();
    const bool fits = std::trunc(number) == number && std::abs(number) < 9e15;
    return fits ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  boost::system::error_code failed;
  const auto number = value.to_number<std::int64_t>(failed);
  return failed ? std::nullopt : std::optional(number);
}

std::optional<double> real_of(const json::value& value) {
  if (value.is_number()) return value.to_number<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.get_string();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return kInfinity;
  if (text == "-Infinity") return -kInfinity;
  const auto number = number_of<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

Message Message::of_query(const std::vector<std::pair<std::string, std::string>>& query) {
  json::object object;
  for (const auto& [key, value] : query) {
    json::value& place = object[key];
    if (place.is_null()) {
      place = value;
    } else {
      if (!place.is_array()) place = json::array{place};
      place.get_array().emplace_back(value);
    }
  }
  return Message(std::move(object));
}

const json::value* Message::find(std::string_view key) const {
  const json::value* found = object_.if_contains(key);
  return found != nullptr && found->is_null() ? nullptr : found;
}

std::string Message::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

tl::unexpected<Error> Message::wrong(std::string_view key, std::string_view problem) const {
  const std::string path = path_of(key);
  return fail(Code::InvalidArgument, fmt::format("'{}' {}", path, problem), path);
}

Result<std::string> Message::text(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return wrong(key, "must be a text");
  if (value->get_string().find('\0') != json::string::npos) return wrong(key, "holds a NUL");
  return std::string(value->get_string());
}

Result<std::string> Message::required_text(std::string_view key) const {
  std::string value = TRY(text(key));
  if (value.empty()) return wrong(key, "is missing: a value is required");
  return value;
}

Result<std::optional<std::int64_t>> Message::integer(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return std::optional<std::int64_t>();
  const auto number = integer_of(*value);
  if (!number) return wrong(key, "must be a 64-bit integer");
  return number;
}

Result<std::int64_t> Message::required_integer(std::string_view key) const {
  const auto number = TRY(integer(key));
  if (!number) return wrong(key, "is missing: a value is required");
  return *number;
}

Result<double> Message::required_number(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return wrong(key, "is missing: a value is required");
  const auto number = real_of(*value);
  if (!number) return wrong(key, "must be a number (64-bit floating point)");
  return *number;
}

Result<bool> Message::boolean(std::string_view key, bool fallback) const {
  const json::value* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_bool()) return value->get_bool();
  if (value->is_string() && equals_ignoring_case(value->get_string(), "true")) return true;
  if (value->is_string() && equals_ignoring_case(value->get_string(), "false")) return false;
  return wrong(key, "must be true or false");
}

Result<std::vector<std::string>> Message::texts(std::string_view key) const {
  const json::value* value = find(key);
  std::vector<std::string> all;
  if (value == nullptr) return all;
  if (value->is_string()) {
    all.emplace_back(value->get_string());
    return all;
  }
  if (!value->is_array()) return wrong(key, "must be a list of texts");
  for (const json::value& each : value->get_array()) {
    if (!each.is_string()) return wrong(key, "must be a list of texts");
    all.emplace_back(each.get_string());
  }
  return all;
}

Result<std::vector<Message>> Message::messages(std::string_view key) const {
  const json::value* value = find(key);
  std::vector<Message> all;
  if (value == nullptr) return all;
  if (!value->is_array()) return wrong(key, "must be a list");
  const json::array& array = value->get_array();
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_object()) return wrong(fmt::format("{}[{}]", key, i), "must be an object");
    all.emplace_back(array[i].get_object(), fmt::format("{}[{}]", path_of(key), i));
  }
  return all;
}

Result<std::optional<Message>> Message::message(std::string_view key) const {
  const json::value* value = find(key);
  if (value == nullptr) return std::optional<Message>();
  if (!value->is_object()) return wrong(key, "must be an object");
  return std::optional<Message>(Message(value->get_object(), path_of(key)));
}

Result<std::vector<std::pair<std::string, std::string>>> Message::pairs(
    std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Message& each : TRY(messages(key))) {
    std::string name = TRY(each.required_text("key"));
    std::string value = TRY(each.text("value"));
    all.emplace_back(std::move(name), std::move(value));
  }
  return all;
}

Result<std::string> run_id_of(const Message& message) {
  std::string id = TRY(message.text("run_id"));
  if (!id.empty()) return id;
  id = TRY(message.text("run_uuid"));
  if (!id.empty()) return id;
  return message.wrong("run_id", "is missing: a value is required");
}

Result<model::Metric> metric_from(const Message& message) {
  model::Metric metric;
  metric.key = TRY(message.required_text("key"));
  metric.value = TRY(message.required_number("value"));
  metric.timestamp = TRY(message.required_integer("timestamp"));
  if (metric.timestamp < 0) return message.wrong("timestamp", "must not be negative");
  metric.step = TRY(message.integer("step")).value_or(0);
  metric.model_id = TRY(message.text("model_id"));
  metric.dataset_name = TRY(message.text("dataset_name"));
  metric.dataset_digest = TRY(message.text("dataset_digest"));
  return metric;
}

Result<model::Dataset> dataset_from(const Message& message) {
  const std::optional<Message> given = TRY(message.message("dataset"));
  if (!given) return message.wrong("dataset", "is missing: a value is required");
  model::Dataset dataset;
  dataset.name = TRY(given->required_text("name"));
  dataset.digest = TRY(given->required_text("digest"));
  dataset.source_type = TRY(given->text("source_type"));
  dataset.source = TRY(given->text("source"));
  dataset.schema = TRY(given->text("schema"));
  dataset.profile = TRY(given->text("profile"));
  for (auto& [key, value] : TRY(message.pairs("tags"))) dataset.tags[key] = value;
  return dataset;
}

}  // namespace berth::wire::mlflow
