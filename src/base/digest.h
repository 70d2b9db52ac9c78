// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace berth {

/// A running hash. finish() returns the raw bytes and may be called once.
class Digest {
 public:
  enum class Algorithm { Sha256, Md5 };
  explicit Digest(Algorithm algorithm = Algorithm::Sha256);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void update(std::string_view bytes);
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// The raw 32 bytes.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view message);

/// Compares in time that depends only on the lengths.
bool equal_in_constant_time(std::string_view left, std::string_view right);

}  // namespace berth
