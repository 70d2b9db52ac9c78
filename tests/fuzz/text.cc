// SPDX-License-Identifier: Apache-2.0
// Short texts with a grammar of their own: times, durations, sizes, references, addresses, escapes.

#include "base/text.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "core/rules/docker_limits.h"
#include "fuzz.h"
#include "io/address.h"
#include "model/assets/reference.h"
#include "model/assets/reference_scope.h"
#include "model/memory.h"

using namespace berth;

namespace {

void read_times(std::string_view input) {
  if (const auto time = wall_time_from_iso8601(input)) {
    const auto again = wall_time_from_iso8601(to_iso8601(*time));
    fuzz::require(again && *again == *time, "a time that is written is the same time");
  }
  if (const auto duration = seconds_from_iso8601(input)) {
    const auto again = seconds_from_iso8601(to_iso8601(*duration));
    fuzz::require(again && *again == *duration, "a duration that is written is the same one");
  }
}

void read_encodings(std::string_view input) {
  fuzz::require(is_valid_utf8(to_valid_utf8(input)), "mended text is UTF-8");
  const auto decoded = percent_decode(percent_encode(input));
  const bool has_nul = input.find('\0') != std::string_view::npos;
  fuzz::require(has_nul ? !decoded : decoded == std::string(input), "escapes come back, NUL never");
  fuzz::require(from_base64(to_base64(input)) == std::string(input), "base64 comes back");
  (void)percent_decode(input);
  (void)from_base64(input);
}

void read_amounts(std::string_view input) {
  (void)model::memory_mib_from(input);
  (void)core::docker_limits({.docker_args = std::string(input)});
  const auto bytes = bytes_from(input);
  fuzz::require(!bytes || *bytes < std::uint64_t{1} << 63, "an amount of bytes fits");
}

void read_references(std::string_view input) {
  (void)model::check_workspace({.name = "default"}, input);
  (void)model::workspace_of_blob_url(input);
  (void)model::parse_compute_ref(input);
  for (const auto kind : {model::AssetKind::Code, model::AssetKind::Data}) {
    (void)model::parse_asset_ref(kind, input);
  }
  const auto data = model::parse_data_ref(input);
  const auto* const place = data ? std::get_if<model::DatastorePath>(&*data) : nullptr;
  if (place == nullptr) return;
  fuzz::require(("/" + place->path + "/").find("/../") == std::string::npos,
                "a path of a datastore goes only down");
}

}  // namespace

FUZZ(input) {
  read_times(input);
  read_encodings(input);
  read_references(input);
  read_amounts(input);
  (void)io::parse_https_address(input);
}
