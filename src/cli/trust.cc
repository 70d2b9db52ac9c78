// SPDX-License-Identifier: Apache-2.0
#include "cli/trust.h"

#include <unistd.h>

#include <set>
#include <vector>

#include "io/files/file.h"

namespace berth::cli {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

std::vector<std::string_view> certificates_of(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t begin = text.find(kBegin);
  while (begin != text.npos) {
    const std::size_t end = text.find(kEnd, begin);
    if (end == text.npos) break;
    found.push_back(text.substr(begin, end + kEnd.size() - begin));
    begin = text.find(kBegin, end);
  }
  return found;
}

}  // namespace

std::string joined_certificates(std::string_view first, std::string_view second) {
  std::string joined;
  std::set<std::string_view> known;
  for (const std::string_view text : {first, second}) {
    for (const std::string_view certificate : certificates_of(text)) {
      if (!known.insert(certificate).second) continue;
      joined += certificate;
      joined += '\n';
    }
  }
  return joined;
}

std::string system_authorities() {
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (::access(path, R_OK) == 0) return path;
  }
  return {};
}

Result<bool> write_bundle(const std::string& target, std::span<const std::string> sources,
                          const std::string& authority_file) {
  std::string bundle;
  for (const std::string& source : sources) {
    const auto text = io::read_file(source);
    if (text) bundle = joined_certificates(bundle, *text);
  }
  const bool has_others = !bundle.empty();
  bundle = joined_certificates(bundle, TRY(io::read_file(authority_file)));
  const auto present = io::read_file(target);
  if (!present || *present != bundle) TRY(io::write_file(target, bundle));
  return has_others;
}

}  // namespace berth::cli
