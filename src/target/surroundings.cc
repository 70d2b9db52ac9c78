// SPDX-License-Identifier: Apache-2.0
#include "target/surroundings.h"

#include "target/slurm/surroundings.h"

namespace berth::target {
namespace {

using Ask = std::optional<Surroundings> (*)(const Environment& environment);

/// Kinds of sites that can be told by the environment.
constexpr Ask kAsk[] = {slurm::surroundings};

}  // namespace

Surroundings surroundings_of(const Environment& environment) {
  for (const Ask ask : kAsk) {
    if (std::optional<Surroundings> found = ask(environment)) return *std::move(found);
  }
  return {};
}

}  // namespace berth::target
