// SPDX-License-Identifier: Apache-2.0
#include "wire/site.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/text.h"
#include "model/site_kind.h"
#include "wire/arm/field.h"

namespace berth::wire {
namespace {

namespace json = boost::json;
using arm::Fields;
using model::Site;
using model::SlurmSettings;

using Names = std::span<const std::string_view>;

constexpr std::string_view kSiteKeys[] = {"name",       "provider",        "capacity",  "slurm",
                                          "server_url", "job_environment", "created_at"};
constexpr std::string_view kCapacityKeys[] = {"nodes", "cores", "memory_mib", "gpus"};
constexpr std::string_view kSlurmKeys[] = {
    "partition", "account",       "qos",    "time_limit_minutes",
    "options",   "bin_directory", "config", "work_directory"};
constexpr std::int64_t kLongestMinutes = 60 * 24 * 366;

struct TextKey {
  const char* key;
  std::string SlurmSettings::*member;
};
constexpr TextKey kSlurmTexts[] = {
    {"partition", &SlurmSettings::partition},
    {"account", &SlurmSettings::account},
    {"qos", &SlurmSettings::qos},
    {"bin_directory", &SlurmSettings::bin_directory},
    {"config", &SlurmSettings::config},
    {"work_directory", &SlurmSettings::work_directory},
};

template <typename T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object slurm_json(const SlurmSettings& slurm) {
  json::object object;
  for (const auto& [key, member] : kSlurmTexts) {
    if (!(slurm.*member).empty()) object[key] = slurm.*member;
  }
  if (slurm.time_limit) object["time_limit_minutes"] = slurm.time_limit->count();
  if (!slurm.options.empty()) object["options"] = json::value_from(slurm.options);
  return object;
}

Status check_keys(const Fields& from, Names known) {
  for (const auto& [key, value] : from.object()) {
    if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
    const auto near = nearest(key, known);
    return from.wrong(to_valid_utf8(key),
                      near ? fmt::format("is unknown; did you mean '{}'?", *near)
                           : fmt::format("is unknown; known are {}", fmt::join(known, ", ")));
  }
  return Done{};
}

template <typename T>
Result<std::optional<T>> read_number(const Fields& from, std::string_view key) {
  if (from.find(key) == nullptr) return std::optional<T>();
  const std::int64_t number = TRY(from.integer(key, 0));
  if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
    return from.wrong(key, fmt::format("is {}, which no site has", number));
  }
  return std::optional<T>(static_cast<T>(number));
}

Status read_capacity(const Fields& from, model::SiteCapacity& capacity) {
  TRY(check_keys(from, kCapacityKeys));
  capacity.nodes = TRY(read_number<int>(from, "nodes"));
  capacity.cores = TRY(read_number<int>(from, "cores"));
  capacity.memory_mib = TRY(read_number<std::int64_t>(from, "memory_mib"));
  capacity.gpus = TRY(read_number<int>(from, "gpus")).value_or(0);
  return Done{};
}

Status read_options(const Fields& from, std::vector<std::string>& options) {
  const json::value* list = from.find("options");
  if (list == nullptr) return Done{};
  if (!list->is_array()) return from.wrong("options", "must be a list");
  for (const json::value& option : list->get_array()) {
    if (!option.is_string()) return from.wrong("options", "must be a list of text");
    options.emplace_back(option.get_string());
  }
  return Done{};
}

Status read_slurm(const Fields& from, SlurmSettings& slurm) {
  TRY(check_keys(from, kSlurmKeys));
  for (const auto& [key, member] : kSlurmTexts) slurm.*member = TRY(from.text(key));
  if (const auto minutes = TRY(read_number<std::int64_t>(from, "time_limit_minutes"))) {
    if (*minutes < 1 || *minutes > kLongestMinutes) {
      return from.wrong("time_limit_minutes", fmt::format("must be from 1 to {}", kLongestMinutes));
    }
    slurm.time_limit = std::chrono::minutes(*minutes);
  }
  return read_options(from, slurm.options);
}

}  // namespace

Result<model::ProviderKind> provider_from(std::string_view text) {
  for (const model::SiteKind& kind : model::site_kinds()) {
    if (equals_ignoring_case(text, kind.name)) return kind.kind;
  }
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not a provider; there are {}", to_valid_utf8(text),
                          model::names_of_site_kinds()),
              "provider");
}

json::object to_json(const Site& site) {
  json::object object = {
      {"name", site.name},
      {"provider", model::site_kind(site.provider).name},
      {"capacity",
       {{"nodes", or_null(site.capacity.nodes)},
        {"cores", or_null(site.capacity.cores)},
        {"memory_mib", or_null(site.capacity.memory_mib)},
        {"gpus", site.capacity.gpus}}},
      {"server_url", site.server_url},
      {"created_at", to_iso8601(site.created_at)},
  };
  if (site.provider == model::ProviderKind::Slurm) object["slurm"] = slurm_json(site.slurm);
  if (!site.job_environment.empty()) {
    object["job_environment"] = json::value_from(site.job_environment);
  }
  return object;
}

Result<Site> site_from_json(const json::value& body) {
  const Fields root = TRY(Fields::of(body, ""));
  TRY(check_keys(root, kSiteKeys));
  Site site;
  site.provider = TRY(provider_from(TRY(root.required_text("provider"))));
  site.server_url = TRY(root.text("server_url"));
  site.job_environment = TRY(root.text_map("job_environment"));
  if (const auto capacity = TRY(root.fields("capacity")))
    TRY(read_capacity(*capacity, site.capacity));
  if (const auto slurm = TRY(root.fields("slurm"))) TRY(read_slurm(*slurm, site.slurm));
  return site;
}

}  // namespace berth::wire
