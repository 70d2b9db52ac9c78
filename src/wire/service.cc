// SPDX-License-Identifier: Apache-2.0
#include "wire/service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::wire {
namespace {

namespace json = boost::json;
using arm::Fields;
using model::RestartWhen;

constexpr std::array<std::string_view, 4> kServiceKeys = {"job", "port", "probe", "restart"};
constexpr std::array<std::string_view, 5> kProbeKeys = {
    "path", "period_seconds", "timeout_seconds", "initial_delay_seconds", "failure_threshold"};
constexpr std::array<std::string_view, 4> kRestartKeys = {"when", "limit", "back_off_seconds",
                                                          "longest_back_off_seconds"};

struct WhenName {
  RestartWhen when;
  std::string_view name;
};
constexpr std::array<WhenName, 3> kWhen = {{{RestartWhen::Always, "always"},
                                            {RestartWhen::OnFailure, "on_failure"},
                                            {RestartWhen::Never, "never"}}};

Status check_service_keys(const Fields& from, std::span<const std::string_view> known) {
  for (const auto& [key, value] : from.object()) {
    if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
    return from.wrong(to_valid_utf8(key),
                      fmt::format("is unknown; known are {}", fmt::join(known, ", ")));
  }
  return Done{};
}

Result<int> small_number(const Fields& from, std::string_view key, int fallback) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::int64_t number = TRY(from.integer(key, fallback));
  if (number >= 0 && number <= kMost) return static_cast<int>(number);
  return from.wrong(key, fmt::format("must be from 0 to {}", kMost));
}

std::int64_t seconds_of(Duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

Result<Duration> seconds(const Fields& from, std::string_view key, Duration fallback) {
  if (from.find(key) == nullptr) return fallback;
  return Duration(std::chrono::seconds(TRY(small_number(from, key, 0))));
}

Status read_probe(const Fields& from, model::Probe& probe) {
  TRY(check_service_keys(from, kProbeKeys));
  probe.path = TRY(from.text("path"));
  probe.period = TRY(seconds(from, "period_seconds", probe.period));
  probe.timeout = TRY(seconds(from, "timeout_seconds", probe.timeout));
  probe.initial_delay = TRY(seconds(from, "initial_delay_seconds", probe.initial_delay));
  probe.failure_threshold = TRY(small_number(from, "failure_threshold", probe.failure_threshold));
  return Done{};
}

Result<RestartWhen> read_when(const Fields& from) {
  const std::string text = TRY(from.text("when"));
  if (text.empty()) return RestartWhen::Always;
  for (const auto& [when, name] : kWhen) {
    if (text == name) return when;
  }
  return from.wrong("when", "must be always, on_failure or never");
}

Status read_restart(const Fields& from, model::RestartPolicy& restart) {
  TRY(check_service_keys(from, kRestartKeys));
  restart.when = TRY(read_when(from));
  restart.limit = TRY(small_number(from, "limit", restart.limit));
  restart.back_off = TRY(seconds(from, "back_off_seconds", restart.back_off));
  restart.longest_back_off =
      TRY(seconds(from, "longest_back_off_seconds", restart.longest_back_off));
  return Done{};
}

std::string_view name_of_when(RestartWhen when) {
  return std::ranges::find(kWhen, when, &WhenName::when)->name;
}

/// In one word, for people and scripts: what the service does for who calls it now.
std::string_view state_of_service(const model::Job& service) {
  if (model::is_terminal(service.status)) return "Stopped";
  if (service.cancel_requested) return "Stopping";
  if (!model::holds_nodes(service)) return service.restarts > 0 ? "Restarting" : "Waiting";
  const auto& endpoint = members_of(service).front().endpoint;
  return boost::describe::enum_to_string(
      endpoint ? endpoint->state : model::EndpointState::Starting, "Starting");
}

}  // namespace

Result<model::Job> service_from_json(const json::value& body) {
  const Fields root = TRY(Fields::of(body, ""));
  TRY(check_service_keys(root, kServiceKeys));
  json::object properties = TRY(root.any_object("job"));
  properties.emplace("jobType", "Command");
  model::Job job = TRY(arm::job_from_json(json::object{{"properties", std::move(properties)}}));
  model::ServiceSpec service;
  service.port = TRY(small_number(root, "port", 0));
  if (const auto probe = TRY(root.fields("probe"))) TRY(read_probe(*probe, service.probe));
  if (const auto restart = TRY(root.fields("restart"))) {
    TRY(read_restart(*restart, service.restart));
  }
  job.spec.edit().work = model::ServiceWork{command_of(job.spec), service};
  return job;
}

json::object to_json(const model::Job& service, const std::string& address) {
  json::object object = {
      {"name", service.key.name},
      {"state", state_of_service(service)},
      {"address", address},
      {"command", command_of(service.spec).command},
      {"compute", service.spec->compute},
      {"status", boost::describe::enum_to_string(service.status, "Unknown")},
      {"attempt", service.attempt},
      {"restarts", service.restarts},
      {"created_by", service.created_by},
      {"created_at", to_iso8601(service.created_at)},
  };
  if (!service.requeue_reason.empty()) object["last_restart"] = service.requeue_reason;
  if (service.error) object["error"] = service.error->message;
  if (model::holds_nodes(service)) {
    object["node"] = members_of(service).front().node.text;
    if (const auto& endpoint = members_of(service).front().endpoint)
      object["port"] = endpoint->port;
  }
  const model::ServiceSpec* spec = model::service_of(service.spec);
  if (spec == nullptr) return object;
  object["probe"] = {{"path", spec->probe.path},
                     {"period_seconds", seconds_of(spec->probe.period)},
                     {"timeout_seconds", seconds_of(spec->probe.timeout)},
                     {"initial_delay_seconds", seconds_of(spec->probe.initial_delay)},
                     {"failure_threshold", spec->probe.failure_threshold}};
  object["restart"] = {{"when", name_of_when(spec->restart.when)},
                       {"limit", spec->restart.limit},
                       {"back_off_seconds", seconds_of(spec->restart.back_off)},
                       {"longest_back_off_seconds", seconds_of(spec->restart.longest_back_off)}};
  return object;
}

}  // namespace berth::wire
