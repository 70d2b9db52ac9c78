// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace berth::io {

/// Bytes that have arrived and not been parsed, in one piece. Grows only when asked to.
class InputBuffer {
 public:
  std::string_view data() const { return {bytes_.get() + begin_, end_ - begin_}; }
  /// The same, for who rewrites them where they are.
  std::span<char> bytes() { return {bytes_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// Free space behind the data, after making the whole at least `capacity` large. Empty only when
  /// that much is waiting to be parsed.
  std::span<char> space(std::size_t capacity) {
    if (capacity > capacity_) {
      resize(capacity);
    } else if (end_ == capacity_ && begin_ > 0) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
    }
    return {bytes_.get() + end_, capacity_ - end_};
  }
  void commit(std::size_t count) { end_ += count; }

  /// Gives memory back when nothing is waiting and it is larger than that.
  void shrink(std::size_t capacity) {
    if (!empty() || capacity_ <= capacity) return;
    bytes_.reset();
    capacity_ = 0;
  }

 private:
  void resize(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (!empty()) std::memcpy(larger.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_{};
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace berth::io
