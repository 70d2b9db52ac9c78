// SPDX-License-Identifier: Apache-2.0
#include "node/files/restored.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

namespace berth::node {
namespace {

/// Nobody can set it back, unlike the time of the last write.
using ChangeTime = std::pair<time_t, long>;

std::optional<ChangeTime> change_time(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return ChangeTime(found.st_ctim.tv_sec, found.st_ctim.tv_nsec);
}

}  // namespace

Status mark_start(const AttemptPaths& paths) {
  // File times go by the kernel's tick: what was fetched just now may bear the time of what the
  // command writes next.
  constexpr int kMostTries = 200;
  TRY(replace_file(paths.start, ""));
  const auto before = change_time(paths.start);
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    ::usleep(1'000);
    TRY(replace_file(paths.start, ""));
    if (change_time(paths.start) != before) return Done{};
  }
  return Done{};
}

void keep_changed(const AttemptPaths& paths, const std::string& folder,
                  std::vector<io::FileEntry>& files) {
  const auto start = change_time(paths.start);
  std::erase_if(files, [&](const io::FileEntry& file) {
    const auto changed = change_time(folder + "/" + file.path);
    return !start || (changed && *changed < *start);
  });
}

}  // namespace berth::node
