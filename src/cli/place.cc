// SPDX-License-Identifier: Apache-2.0
#include "cli/place.h"

#include <filesystem>

#include "io/process/process.h"

namespace berth::cli {

std::string Place::variable(const std::string& name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::string Place::absolute(const std::string& path) const {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

Result<Place> place_of(std::map<std::string, std::string> environment, std::string directory) {
  Place place{.environment = std::move(environment), .directory = std::move(directory)};
  place.user_home = place.variable("HOME");
  const std::string chosen = place.variable("BERTH_HOME");
  const std::string data_home = place.variable("XDG_DATA_HOME");
  if (!chosen.empty()) {
    place.home = place.absolute(chosen);
  } else if (!data_home.empty() && data_home.front() == '/') {
    place.home = data_home + "/berth";
  } else if (!place.user_home.empty()) {
    place.home = place.user_home + "/.local/share/berth";
  } else {
    return fail(Code::InvalidArgument, "neither BERTH_HOME nor HOME is set: nowhere to keep state");
  }
  return place;
}

Result<Place> current_place() {
  std::error_code failed;
  const std::filesystem::path directory = std::filesystem::current_path(failed);
  if (failed) {
    return fail(Code::NotFound, "cannot tell the working directory: " + failed.message());
  }
  return place_of(io::current_environment(), directory.string());
}

}  // namespace berth::cli
