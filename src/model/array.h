// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/work.h"

namespace berth::model {

/// The property of a job that makes an array of its command. Azure ML has no such kind of job, and
/// its tools let any property through.
inline constexpr const char* kArrayProperty = "berth.array";

/// "1-50", "0-9%2" (no more than two at once), "7": which indices there are. `each` is what they
/// run.
Result<ArrayWork> array_from(std::string_view text, CommandWork each);
/// Back.
std::string to_text(const ArrayWork& array);

}  // namespace berth::model
