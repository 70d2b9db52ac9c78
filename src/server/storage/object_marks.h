// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::server {

/// The objects that rows name, at 40 bytes each: there may be millions.
class ObjectMarks {
 public:
  void add(std::string_view sha256_hex, std::uint64_t size);
  /// After the last add(), and before anything is asked.
  void sort();
  bool contains(std::string_view sha256_hex) const;
  std::size_t count() const { return marks_.size(); }
  std::uint64_t bytes() const;

 private:
  using Key = std::array<std::uint8_t, 32>;
  struct Mark {
    Key key{};
    std::uint64_t size = 0;
  };
  static Key key_of(std::string_view sha256_hex);

  std::vector<Mark> marks_;
};

}  // namespace berth::server
