// SPDX-License-Identifier: Apache-2.0
#include "io/tls.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

namespace berth::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Context = asio::ssl::context;

/// TLS 1.2 and newer; buffers of idle connections are given back.
void harden(Context& context) {
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
}

}  // namespace

struct ServerTls::State {
  Context context{Context::tls_server};
};

ServerTls::ServerTls() : state_(std::make_unique<State>()) {}
ServerTls::~ServerTls() = default;
void* ServerTls::context() const { return &state_->context; }

Result<std::shared_ptr<const ServerTls>> ServerTls::make(const KeyPair& identity) {
  std::shared_ptr<ServerTls> tls(new ServerTls);
  Context& context = tls->state_->context;
  harden(context);
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION);
  error_code error;
  context.use_certificate_chain(asio::buffer(identity.certificate), error);
  if (error) return fail(Code::InvalidArgument, "the server certificate is not readable");
  context.use_private_key(asio::buffer(identity.key), Context::pem, error);
  if (error) return fail(Code::InvalidArgument, "the key does not fit the server certificate");
  return tls;
}

struct ClientTls::State {
  Context context{Context::tls_client};
};

ClientTls::ClientTls() : state_(std::make_unique<State>()) {}
ClientTls::~ClientTls() = default;
void* ClientTls::context() const { return &state_->context; }

Result<std::shared_ptr<const ClientTls>> ClientTls::make(const std::string& authority_certificate) {
  std::shared_ptr<ClientTls> tls(new ClientTls);
  Context& context = tls->state_->context;
  harden(context);
  error_code error;
  context.add_certificate_authority(asio::buffer(authority_certificate), error);
  if (error) return fail(Code::InvalidArgument, "the authority's certificate is not readable");
  context.set_verify_mode(asio::ssl::verify_peer, error);
  if (error) return fail(Code::Internal, "cannot verify certificates");
  return tls;
}

}  // namespace berth::io
