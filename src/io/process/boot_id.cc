// SPDX-License-Identifier: Apache-2.0
#include "io/process/boot_id.h"

#include "base/text.h"
#include "io/files/file.h"

namespace berth::io {

std::string boot_id() {
  const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id", 4096);
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace berth::io
