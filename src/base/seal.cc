// SPDX-License-Identifier: Apache-2.0
#include "base/seal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"

namespace berth {
namespace {

constexpr std::size_t kNonce = 12;
constexpr std::size_t kTag = 16;

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, Free>;

unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string seal(std::string_view key, std::string_view secret) {
  const Context context(EVP_CIPHER_CTX_new());
  std::string nonce(kNonce, '\0');
  std::string hidden(secret.size(), '\0');
  std::string tag(kTag, '\0');
  int length = 0;
  const std::string hashed = sha256(key);
  const bool is_done = RAND_bytes(bytes(nonce), static_cast<int>(kNonce)) == 1 &&
                       EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr,
                                          bytes(std::string_view(hashed)), bytes(nonce)) == 1 &&
                       EVP_EncryptUpdate(context.get(), bytes(hidden), &length, bytes(secret),
                                         static_cast<int>(secret.size())) == 1 &&
                       EVP_EncryptFinal_ex(context.get(), bytes(hidden) + length, &length) == 1 &&
                       EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG,
                                           static_cast<int>(kTag), bytes(tag)) == 1;
  CHECK(is_done, "OpenSSL encrypts");
  return to_base64(nonce + tag + hidden);
}

Result<std::string> unseal(std::string_view key, std::string_view sealed) {
  const Result<std::string> decoded = from_base64(sealed);
  if (!decoded || decoded->size() < kNonce + kTag) {
    return fail(Code::Internal, "a sealed secret is damaged");
  }
  std::string nonce = decoded->substr(0, kNonce);
  std::string tag = decoded->substr(kNonce, kTag);
  const std::string hidden = decoded->substr(kNonce + kTag);
  std::string secret(hidden.size(), '\0');
  const Context context(EVP_CIPHER_CTX_new());
  int length = 0;
  const std::string hashed = sha256(key);
  const bool is_done =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes(std::string_view(hashed)),
                         bytes(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes(secret), &length, bytes(std::string_view(hidden)),
                        static_cast<int>(hidden.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(kTag),
                          bytes(tag)) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes(secret) + length, &length) == 1;
  if (!is_done) return fail(Code::Internal, "a sealed secret cannot be opened with this key");
  return secret;
}

}  // namespace berth
