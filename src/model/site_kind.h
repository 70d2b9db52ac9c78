// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/mp11.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/site.h"

namespace berth::model {

/// What is true of every site of a kind. A decision asks for a trait, never for the kind, so that
/// it holds for kinds that are added later.
struct SiteTraits {
  /// Its nodes are processes of the server's own machine: none is given more cores or memory than
  /// that machine has, and a larger size is no mistake.
  bool shares_machine = false;
  /// Its nodes can be cut off from the server, so they work on a lease.
  bool has_lease = true;
  /// The server gives out its GPUs by number; elsewhere the site does that.
  bool numbers_devices = false;
  /// The shortest time between two looks at its nodes. Zero: a look costs nothing.
  Duration look_every{};
};

/// One row for each kind. What a kind needs beyond this is in server/plane/site_kinds.h (how its
/// settings are checked, how its provider is made) and wire/site.cc (its settings in JSON).
struct SiteKind {
  ProviderKind kind;
  std::string_view name;  ///< As users write it.
  SiteTraits traits;
  /// Does the site have any settings that only this kind knows?
  bool (*has_settings)(const Site& site);
  /// For how long it gives a node; none: it does not say, or there is no limit.
  std::optional<std::chrono::seconds> (*time_limit)(const Site& site);
};

/// Has every kind one row in a table whose rows have a `kind`? For a static_assert beside each such
/// table: it does not compile any more when a kind is added and its row is not.
template <typename Row, std::size_t kCount>
constexpr bool has_a_row_for_every_kind(const Row (&rows)[kCount]) {
  bool has_all = true;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<ProviderKind>>([&](auto kind) {
    has_all = has_all && std::ranges::count(rows, kind.value, &Row::kind) == 1;
  });
  return has_all;
}

std::span<const SiteKind> site_kinds();
const SiteKind& site_kind(ProviderKind kind);
inline const SiteTraits& traits_of(const Site& site) { return site_kind(site.provider).traits; }
inline std::optional<std::chrono::seconds> time_limit_of(const Site& site) {
  return site_kind(site.provider).time_limit(site);
}
/// "local and slurm": for messages.
std::string names_of_site_kinds();

}  // namespace berth::model
