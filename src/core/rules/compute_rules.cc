// SPDX-License-Identifier: Apache-2.0
#include "core/rules/compute_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "core/rules/expression.h"
#include "model/secret.h"
#include "model/site_kind.h"

namespace berth::core {
namespace {

using model::Cluster;
using model::Compute;
using model::Site;
using model::VmSize;

constexpr std::size_t kShortestName = 3;
constexpr std::size_t kLongestName = 24;
constexpr std::size_t kLongestSiteName = 32;
constexpr std::size_t kLongestLocation = 64;
constexpr std::size_t kLongestUrl = 2048;
constexpr std::size_t kMostSuggestions = 3;
constexpr std::int64_t kMostCores = 10'000'000;
constexpr std::int64_t kMostMemoryMib = std::int64_t{1} << 40;
constexpr int kMostGpus = 1024;

tl::unexpected<Error> wrong(std::string target, std::string message) {
  return fail(Code::InvalidArgument, std::move(message), std::move(target));
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Letters, digits and what else is named; the first is a letter.
bool is_word(std::string_view text, std::string_view others) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char letter) {
    return is_letter(letter) || is_digit(letter) || others.find(letter) != others.npos;
  });
}

Result<const VmSize*> find_size_of(const State& state, const std::string& name) {
  const VmSize* size = model::find_size(state.settings.sizes, name);
  if (size == nullptr) return unknown_size(state.settings.sizes, name);
  return size;
}

std::string gpus_text(int gpus) {
  if (gpus == 0) return "none";
  return gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", gpus);
}

/// On this machine a node is given no more cores and memory than there are, but GPUs are not
/// shared; a node elsewhere is asked for as it is.
Status check_fits(const VmSize& size, const Site& site) {
  if (model::traits_of(site).shares_machine) {
    if (size.gpus <= site.capacity.gpus) return Done{};
    return wrong("size",
                 fmt::format("a node of size '{}' has {}, and site '{}' has {}", size.name,
                             gpus_text(size.gpus), site.name, gpus_text(site.capacity.gpus)));
  }
  if (site.capacity.cores && size.cores > *site.capacity.cores) {
    return wrong("size", fmt::format("a node of size '{}' has {} cores, and all of site '{}' {}",
                                     size.name, size.cores, site.name, *site.capacity.cores));
  }
  if (site.capacity.memory_mib && size.memory_mib > *site.capacity.memory_mib) {
    return wrong("size",
                 fmt::format("a node of size '{}' has {} MiB of memory, and all of site "
                             "'{}' {} MiB",
                             size.name, size.memory_mib, site.name, *site.capacity.memory_mib));
  }
  return Done{};
}

Status check_location(std::string_view location) {
  const bool is_plain = std::ranges::all_of(location, [](char letter) {
    return is_letter(letter) || is_digit(letter) || letter == '-' || letter == '_' || letter == ' ';
  });
  if (location.size() <= kLongestLocation && is_plain) return Done{};
  return wrong("location", fmt::format("'{}' is not a location: name a site, or a region of Azure",
                                       to_valid_utf8(location.substr(0, kLongestLocation))));
}

std::string notice_about(const State& state, const Compute& compute) {
  if (state.sites.contains(compute.site) && equals_ignoring_case(compute.location, compute.site)) {
    return {};
  }
  return equals_ignoring_case(compute.location, model::kLocalSite)
             ? std::string()
             : fmt::format(
                   "nobody has defined the location '{}', so the nodes of '{}' come from "
                   "the site '{}'; 'berth site add {}' would define it",
                   compute.location, compute.name, compute.site, to_lower(compute.location));
}

tl::unexpected<Error> fixed(const Compute& compute, std::string field, std::string_view present) {
  return fail(Code::Conflict,
              fmt::format("the {} of a cluster cannot be changed: '{}' has '{}'", field,
                          compute.name, present),
              field);
}

/// A cluster is to take its place.
tl::unexpected<Error> other_kind(const Compute& existing) {
  return fail(Code::Conflict,
              fmt::format("compute '{}' is not a cluster and cannot become one", existing.name),
              "type");
}

std::string_view tier_name(model::Tier tier) {
  return tier == model::Tier::Dedicated ? "dedicated" : "low_priority";
}

/// What the draft of a cluster does not say is as it was; what it may not change is refused.
Status settle_cluster(const Compute& existing, const Cluster& before, Compute& draft) {
  Cluster& cluster = *cluster_in(&draft);
  if (cluster.size.empty()) cluster.size = before.size;
  if (!equals_ignoring_case(cluster.size, before.size)) return fixed(existing, "size", before.size);
  if (cluster.tier != before.tier) return fixed(existing, "tier", tier_name(before.tier));
  cluster.size = before.size;
  cluster.allocation_changed_at = before.allocation_changed_at;
  return Done{};
}

Status settle_with(const Compute& existing, Compute& draft) {
  if (existing.is_deleting) {
    return fail(Code::Conflict,
                fmt::format("compute '{}' is being deleted; it can be made again when its nodes "
                            "have gone",
                            existing.name));
  }
  if (draft.location.empty()) draft.location = existing.location;
  const Cluster* before = cluster_in(&existing);
  if (before == nullptr) return other_kind(existing);
  TRY(settle_cluster(existing, *before, draft));
  if (!equals_ignoring_case(draft.location, existing.location)) {
    return fixed(existing, "location", existing.location);
  }
  draft.key = existing.key;
  draft.name = existing.name;
  draft.location = existing.location;
  draft.site = existing.site;
  draft.is_deleting = false;
  draft.start_error = existing.start_error;
  draft.created_at = existing.created_at;
  return Done{};
}

template <typename T>
Status check_amount(const std::optional<T>& amount, std::string_view name, std::int64_t most) {
  if (!amount || (*amount > 0 && *amount <= most)) return Done{};
  return wrong(fmt::format("capacity.{}", name),
               fmt::format("{} is {}; it must be from 1 to {}", name, *amount, most));
}

Status check_url(const std::string& url) {
  if (url.empty()) return Done{};
  const bool has_scheme = url.starts_with("https://") || url.starts_with("http://");
  const std::string_view rest = std::string_view(url).substr(has_scheme ? url.find("//") + 2 : 0);
  const bool is_plain = std::ranges::all_of(
      rest, [](char letter) { return letter > ' ' && letter < 0x7f && letter != '@'; });
  const bool is_clean = rest.find_first_of("?#\"'\\`$") == std::string_view::npos;
  if (has_scheme && is_plain && is_clean && !rest.empty() && !rest.starts_with('/') &&
      url.size() <= kLongestUrl) {
    return Done{};
  }
  return wrong("server_url", fmt::format("'{}' is not an address that nodes can reach the server "
                                         "at, such as https://head.example.org:8470",
                                         to_valid_utf8(url.substr(0, kLongestUrl))));
}

}  // namespace

Status check_may_change(const Compute& compute) {
  if (!model::is_built_in(compute)) return Done{};
  return fail(Code::Conflict,
              fmt::format("compute '{}' is the server's own machine: it is always there, in every "
                          "workspace, and cannot be changed or deleted",
                          compute.name));
}

Status check_compute_name(std::string_view name) {
  if (equals_ignoring_case(name, model::kLocalCompute) ||
      equals_ignoring_case(name, "serverless")) {
    return wrong("name", fmt::format("'{}' is a name of Berth's own; choose another", name));
  }
  const std::size_t last_dash = name.rfind('-');
  const bool ends_well =
      last_dash == std::string_view::npos || std::ranges::any_of(name.substr(last_dash), is_letter);
  if (name.size() >= kShortestName && name.size() <= kLongestName && is_word(name, "-") &&
      ends_well) {
    return Done{};
  }
  return wrong("name", fmt::format("'{}' cannot be the name of a compute: {} to {} letters, digits "
                                   "and '-', beginning with a letter, with a letter behind each "
                                   "'-'",
                                   to_valid_utf8(name), kShortestName, kLongestName));
}

const Compute* find_compute(const State& state, const model::WorkspaceId& workspace,
                            std::string_view name) {
  return compute_of(state, target_of(workspace, name));
}

Status check_scale(const model::ScaleSettings& scale) {
  for (const auto& [key, count] :
       {std::pair("min_instances", scale.min_nodes), std::pair("max_instances", scale.max_nodes)}) {
    if (count >= 0 && count <= kMostNodes) continue;
    return wrong(key, fmt::format("{} is {}; it must be from 0 to {}", key, count, kMostNodes));
  }
  if (scale.min_nodes > scale.max_nodes) {
    return wrong("min_instances", fmt::format("min_instances is {}, more than max_instances, {}",
                                              scale.min_nodes, scale.max_nodes));
  }
  if (scale.idle_before_scale_down.count() < 0 || scale.idle_before_scale_down > kLongestIdle) {
    return wrong("idle_time_before_scale_down",
                 fmt::format("idle_time_before_scale_down is {} seconds; it must be from 0 to {}",
                             scale.idle_before_scale_down.count(), kLongestIdle.count()));
  }
  return Done{};
}

std::string site_of(const State& state, std::string_view location) {
  for (const auto& [name, site] : state.sites) {
    if (equals_ignoring_case(name, location)) return name;
  }
  return model::kLocalSite;
}

Result<CheckedCompute> check_compute(const State& state, Compute draft, const Compute* existing) {
  Cluster* cluster = cluster_in(&draft);
  if (cluster == nullptr) {
    return fail(Code::NotSupported, "only clusters can be made yet", "type");
  }
  TRY(check_scale(cluster->scale));
  if (existing != nullptr) {
    TRY(settle_with(*existing, draft));
    return CheckedCompute{.compute = std::move(draft)};
  }
  TRY(check_compute_name(draft.name));
  if (cluster->size.empty()) cluster->size = kDefaultSize;
  if (draft.location.empty()) draft.location = model::kLocalSite;
  TRY(check_location(draft.location));
  draft.site = site_of(state, draft.location);
  const VmSize* size = TRY(find_size_of(state, cluster->size));
  cluster->size = size->name;
  const auto site = state.sites.find(draft.site);
  TRY(check_fits(*size, site == state.sites.end() ? Site{.name = draft.site} : site->second));
  draft.key.name = to_lower(draft.name);
  std::string notice = notice_about(state, draft);
  return CheckedCompute{.compute = std::move(draft), .notice = std::move(notice)};
}

Status check_site(const Site& site, const Site* existing) {
  if (site.name.size() > kLongestSiteName || !is_word(site.name, "-_")) {
    return wrong("name", fmt::format("'{}' cannot be the name of a site: up to {} letters, digits, "
                                     "'-' and '_', beginning with a letter",
                                     to_valid_utf8(site.name.substr(0, 2 * kLongestSiteName)),
                                     kLongestSiteName));
  }
  const model::SiteKind& kind = model::site_kind(site.provider);
  if (equals_ignoring_case(site.name, model::kLocalSite) && !kind.traits.shares_machine) {
    return fail(Code::Conflict, "the site 'local' is this machine, whatever else there is",
                "provider");
  }
  if (existing != nullptr && existing->provider != site.provider) {
    return fail(Code::Conflict,
                fmt::format("the provider of a site cannot be changed: '{}' has '{}'",
                            existing->name, model::site_kind(existing->provider).name),
                "provider");
  }
  for (const model::SiteKind& other : model::site_kinds()) {
    if (other.kind == kind.kind || !other.has_settings(site)) continue;
    return wrong(
        std::string(other.name),
        fmt::format("site '{}' has the provider '{}'; these settings belong to a site with "
                    "the provider '{}'",
                    site.name, kind.name, other.name));
  }
  for (const auto& [name, value] : site.job_environment) {
    const bool is_right = model::is_variable_name(name) && !is_reserved_variable(name) &&
                          value.find('\0') == std::string::npos;
    if (is_right) continue;
    return wrong("job_environment", fmt::format("'{}' cannot be a variable of a site's jobs: it is "
                                                "set by Berth, or not a name or text",
                                                to_valid_utf8(name)));
  }
  TRY(check_amount(site.capacity.nodes, "nodes", kMostNodes));
  TRY(check_amount(site.capacity.cores, "cores", kMostCores));
  TRY(check_amount(site.capacity.memory_mib, "memory_mib", kMostMemoryMib));
  if (site.capacity.gpus < 0 || site.capacity.gpus > kMostGpus) {
    return wrong("capacity.gpus",
                 fmt::format("gpus is {}; it must be from 0 to {}", site.capacity.gpus, kMostGpus));
  }
  return check_url(site.server_url);
}

tl::unexpected<Error> unknown_size(const model::SizeCatalogue& sizes, std::string_view name) {
  const std::string wanted = to_lower(name);
  std::vector<std::string> suggestions;
  std::vector<std::string_view> others;
  for (const auto& [key, size] : sizes) {
    const bool begins = !wanted.empty() && key.starts_with(wanted);
    if (begins && suggestions.size() < kMostSuggestions) {
      suggestions.push_back(fmt::format("'{}'", size.name));
    } else {
      others.push_back(key);
    }
  }
  if (const auto near = nearest(wanted, others); near && suggestions.empty()) {
    suggestions.push_back(fmt::format("'{}'", sizes.at(std::string(*near)).name));
  }
  std::string message = fmt::format("no size '{}'; ", to_valid_utf8(name));
  if (!suggestions.empty()) {
    message += fmt::format("did you mean {}? ", fmt::join(suggestions, " or "));
  }
  return wrong("size", message + "'berth compute list-sizes' lists them");
}

}  // namespace berth::core
