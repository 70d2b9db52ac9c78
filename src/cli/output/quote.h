// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace berth::cli {

/// The word as a POSIX shell reads it back unchanged; words that need no quotes get none.
std::string shell_quote(std::string_view word);

/// What `berth run -- WORDS…` hands to the job's shell: a single word is a shell line already,
/// several are an argument list and are quoted one by one.
std::string command_line(std::span<const std::string> words);

}  // namespace berth::cli
