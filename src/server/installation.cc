// SPDX-License-Identifier: Apache-2.0
#include "server/installation.h"

#include <unistd.h>

#include <boost/json.hpp>

#include "base/random.h"
#include "base/text.h"
#include "base/version.h"
#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::server {
namespace {

/// The file's content, made by `make` and written when there is none.
Result<std::string> read_or_make(const std::string& path,
                                 const std::function<std::string()>& make) {
  Result<std::string> existing = io::read_file(path);
  if (existing) return std::string(trim(*existing));
  if (existing.error().code != Code::NotFound) return existing;
  std::string made = make();
  TRY(io::write_file(path, made + "\n"));
  return made;
}

Result<io::KeyPair> read_pair(const std::string& certificate, const std::string& key) {
  io::KeyPair pair;
  pair.certificate = TRY(io::read_file(certificate));
  pair.key = TRY(io::read_file(key));
  return pair;
}

Result<io::KeyPair> open_authority(const std::string& home, const std::string& host, WallTime now) {
  const std::string certificate = home + "/ca.pem";
  const std::string key = home + "/secrets/ca.key";
  if (Result<io::KeyPair> existing = read_pair(certificate, key)) return existing;
  const io::KeyPair made = TRY(io::make_authority("Berth on " + host, now));
  TRY(io::write_file(key, made.key));
  TRY(io::write_file(certificate, made.certificate));
  return made;
}

Result<io::KeyPair> open_identity(const std::string& home, const std::vector<std::string>& more,
                                  WallTime now) {
  const io::KeyPair authority = TRY(open_authority(home, more.front(), now));
  const std::string certificate = home + "/secrets/server.pem";
  const std::string key = home + "/secrets/server.key";
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  names.insert(names.end(), more.begin(), more.end());
  const Result<io::KeyPair> existing = read_pair(certificate, key);
  const auto margin = std::chrono::days(30);
  if (existing && !io::needs_renewal(existing->certificate, names, now, margin)) return existing;
  const io::KeyPair made = TRY(io::make_server_certificate(authority, names, now));
  TRY(io::write_file(key, made.key));
  TRY(io::write_file(certificate, made.certificate));
  return made;
}

}  // namespace

Result<Secrets> open_installation(const std::string& home, const std::vector<std::string>& names,
                                  WallTime now) {
  for (const char* folder : {"", "/secrets", "/objects", "/live", "/spool", "/nodes", "/logs"}) {
    TRY(io::make_directories(home + folder));
  }
  Secrets secrets;
  secrets.id = TRY(read_or_make(home + "/installation.id", [] { return random_hex(6); }));
  secrets.owner_token = TRY(read_or_make(home + "/owner.token", [] { return random_hex(32); }));
  secrets.signing_key =
      TRY(read_or_make(home + "/secrets/signing.key", [] { return random_hex(32); }));
  secrets.identity = TRY(open_identity(home, names, now));
  return secrets;
}

Status announce(const std::string& home, std::uint16_t port, const Clock& clock) {
  const io::ProcessIdentity self = TRY(io::identify(::getpid()));
  const boost::json::object facts = {
      {"pid", self.pid},        {"start_ticks", self.start_ticks},
      {"address", "127.0.0.1"}, {"port", port},
      {"version", kVersion},    {"started_at", to_iso8601(clock.now().wall)}};
  return io::write_file(home + "/server.json", boost::json::serialize(facts) + "\n");
}

void withdraw(const std::string& home) { ::unlink((home + "/server.json").c_str()); }

}  // namespace berth::server
