// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "model/site.h"

namespace berth::target::slurm {

/// Whether a site may be made with these: nothing in them can become an option or a line of its
/// own, and no option takes away what Berth relies on. The error's target names the field.
Status check_settings(const model::SlurmSettings& settings);

}  // namespace berth::target::slurm
