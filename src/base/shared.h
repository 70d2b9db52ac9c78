// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace berth {

/// A value that is large and hardly ever changes: copies of it are one and the same, until one of
/// them is edited. Copies may be used by different threads, one copy by one thread at a time.
template <typename T>
class Shared {
 public:
  Shared() : value_(blank()) {}
  Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }

  /// From here on this copy is one of its own. Of use until the next copy is made of it.
  T& edit() {
    if (value_.use_count() != 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }
  bool is_same(const Shared& other) const { return value_ == other.value_; }

  friend bool operator==(const Shared& left, const Shared& right) {
    return left.is_same(right) || *left == *right;
  }

 private:
  static const std::shared_ptr<T>& blank() {
    static const std::shared_ptr<T> kBlank = std::make_shared<T>();
    return kBlank;
  }

  std::shared_ptr<T> value_;  ///< Never null, except in one that was moved from.
};

}  // namespace berth
