// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/check.h"

namespace berth {

struct Digest::Context {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> evp{EVP_MD_CTX_new()};
};

Digest::Digest(Algorithm algorithm) : context_(std::make_unique<Context>()) {
  const EVP_MD* type = algorithm == Algorithm::Sha256 ? EVP_sha256() : EVP_md5();
  CHECK(EVP_DigestInit_ex(context_->evp.get(), type, nullptr) == 1, "OpenSSL has the algorithm");
}

Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::update(std::string_view bytes) {
  CHECK(context_ && EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()) == 1,
        "a digest is updated before it is finished");
}

std::string Digest::finish() {
  CHECK(context_, "a digest is finished once");
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  CHECK(EVP_DigestFinal_ex(context_->evp.get(), bytes.data(), &size) == 1, "OpenSSL finishes");
  context_.reset();
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.update(bytes);
  return digest.finish();
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  const auto* text = reinterpret_cast<const unsigned char*>(message.data());
  CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text, message.size(),
             bytes.data(), &size) != nullptr,
        "OpenSSL has HMAC");
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace berth
