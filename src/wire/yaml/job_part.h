// SPDX-License-Identifier: Apache-2.0
// The parts job_from_yaml is made of.
#pragma once

#include "wire/yaml/job.h"

namespace berth::wire::yaml {

Status read_inputs(const Node& root, const std::string& base_directory, JobFile& file);
Status read_outputs(const Node& root, model::Job& job);

Status read_distribution(const Node& root, model::Job& job);

/// resources, limits, queue_settings, distribution, identity, services, notification_setting.
Status read_settings(const Node& root, model::Job& job);

}  // namespace berth::wire::yaml
