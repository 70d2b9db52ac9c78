// SPDX-License-Identifier: Apache-2.0
// Which resources of a template Berth makes.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace berth::lang::arm_template {

enum class Treatment {
  Made,       ///< By the same route that other clients use.
  Satisfied,  ///< What Azure needs beside a workspace, and Berth has in itself: recorded, not made.
};

struct Kind {
  std::string_view type;
  Treatment treatment;
};

std::span<const Kind> known_kinds();
/// Nothing for types that Berth does not know; case does not matter.
std::optional<Kind> find_kind(std::string_view type);

}  // namespace berth::lang::arm_template
