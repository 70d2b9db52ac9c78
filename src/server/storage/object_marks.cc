// SPDX-License-Identifier: Apache-2.0
#include "server/storage/object_marks.h"

#include <algorithm>

namespace berth::server {
namespace {

std::uint8_t digit(char letter) {
  return static_cast<std::uint8_t>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
}

}  // namespace

ObjectMarks::Key ObjectMarks::key_of(std::string_view sha256_hex) {
  Key key{};
  for (std::size_t i = 0; i < key.size() && 2 * i + 1 < sha256_hex.size(); ++i) {
    key[i] =
        static_cast<std::uint8_t>(digit(sha256_hex[2 * i]) << 4 | digit(sha256_hex[2 * i + 1]));
  }
  return key;
}

void ObjectMarks::add(std::string_view sha256_hex, std::uint64_t size) {
  marks_.push_back({key_of(sha256_hex), size});
}

void ObjectMarks::sort() {
  std::ranges::sort(marks_, {}, &Mark::key);
  const auto same = std::ranges::unique(marks_, {}, &Mark::key);
  marks_.erase(same.begin(), same.end());
}

bool ObjectMarks::contains(std::string_view sha256_hex) const {
  return std::ranges::binary_search(marks_, key_of(sha256_hex), {}, &Mark::key);
}

std::uint64_t ObjectMarks::bytes() const {
  std::uint64_t all = 0;
  for (const Mark& mark : marks_) all += mark.size;
  return all;
}

}  // namespace berth::server
