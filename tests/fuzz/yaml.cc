// SPDX-License-Identifier: Apache-2.0
// Files that people write: parsed, written again, and read as everything a file may be.

#include "fuzz.h"
#include "wire/yaml/asset.h"
#include "wire/yaml/compute.h"
#include "wire/yaml/document.h"
#include "wire/yaml/job.h"
#include "wire/yaml/server_settings.h"
#include "wire/yaml/value.h"

using namespace berth;
using namespace berth::wire::yaml;

namespace {

/// Readers look for local files; there is none here, and a device must not be opened.
bool names_a_local_file(std::string_view text) {
  return text.find("/dev") != std::string_view::npos ||
         text.find("/proc") != std::string_view::npos;
}

/// An edit changes what it is about and nothing else.
void edit_settings(const Node& root, std::string_view input) {
  const Result<ServerSettings> settings = server_settings_from(root);
  if (!settings) return;
  const auto text = edited(std::string(input), "fuzz.yml", {{"slots", {"3"}}, {"bind", {}}});
  fuzz::require(text.has_value(), "what can be read can be edited");
  ServerSettings wanted = merged(*settings, {{"slots", {"3"}}});
  wanted.erase("bind");
  const auto again = parse(*text, "again.yml");
  fuzz::require(again && server_settings_from(*again) == wanted, "an edit changes its own key");
}

}  // namespace

FUZZ(input) {
  const Result<Node> root = parse(input, "fuzz.yml");
  if (!root) return;
  const std::string written = to_yaml_text(*root);
  fuzz::require(parse(written, "again.yml").has_value(), "what was written can be read");
  if (names_a_local_file(written)) return;
  const std::string folder = "/nowhere";
  (void)job_from_yaml(*root, folder);
  (void)data_from_yaml(*root, folder);
  (void)environment_from_yaml(*root, folder);
  (void)workspace_from_yaml(*root);
  (void)compute_from_yaml(*root);
  (void)compute_change_from_yaml(*root);
  (void)sizes_from_yaml(*root);
  edit_settings(*root, input);
  (void)to_yaml_text(to_json(*root));
}
