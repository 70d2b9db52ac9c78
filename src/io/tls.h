// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::io {

/// A certificate and its key, as PEM text.
struct KeyPair {
  std::string certificate{};
  std::string key{};
};

/// A new certificate authority (EC P-256, 10 years) that may sign only for this installation.
Result<KeyPair> make_authority(const std::string& common_name, WallTime now);

/// A server certificate (825 days) for these DNS names and IP addresses, signed by the authority.
Result<KeyPair> make_server_certificate(const KeyPair& authority,
                                        const std::vector<std::string>& names, WallTime now);

/// True when the certificate is not valid at `now` plus `margin`, or lacks one of the names.
bool needs_renewal(const std::string& certificate, const std::vector<std::string>& names,
                   WallTime now, Duration margin);

/// A server's TLS settings: TLS 1.2 and newer. Immutable, shared by connections.
class ServerTls {
 public:
  static Result<std::shared_ptr<const ServerTls>> make(const KeyPair& identity);
  ~ServerTls();
  void* context() const;  ///< boost::asio::ssl::context*, for io/ only.

 private:
  ServerTls();
  struct State;
  std::unique_ptr<State> state_;
};

/// Trusts exactly one authority.
class ClientTls {
 public:
  static Result<std::shared_ptr<const ClientTls>> make(const std::string& authority_certificate);
  ~ClientTls();
  void* context() const;

 private:
  ClientTls();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::io
