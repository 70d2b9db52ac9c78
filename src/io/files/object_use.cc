// SPDX-License-Identifier: Apache-2.0
#include "io/files/object_use.h"

namespace berth::io {

Status ObjectUse::adopt(const std::string& name, const std::function<Status()>& put) {
  const std::lock_guard lock(mutex_);
  TRY(put());
  adopted_[name] = sweep_;
  if (is_sweeping_) noted_.insert(name);
  return Done{};
}

void ObjectUse::need(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    ++needed_[name];
    adopted_.erase(name);
    if (is_sweeping_) noted_.insert(name);
  }
}

void ObjectUse::release(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    const auto found = needed_.find(name);
    if (found != needed_.end() && --found->second == 0) needed_.erase(found);
  }
}

void ObjectUse::begin_sweep() {
  const std::lock_guard lock(mutex_);
  ++sweep_;
  is_sweeping_ = true;
  noted_.clear();
  // Uploads that were refused after all.
  std::erase_if(adopted_, [this](const auto& entry) { return entry.second + 2 <= sweep_; });
  for (const auto& [name, count] : needed_) noted_.insert(name);
  for (const auto& [name, since] : adopted_) noted_.insert(name);
}

void ObjectUse::end_sweep() {
  const std::lock_guard lock(mutex_);
  is_sweeping_ = false;
  noted_.clear();
}

Result<bool> ObjectUse::remove_unused(const std::string& name,
                                      const std::function<Status()>& remove) {
  const std::lock_guard lock(mutex_);
  const bool is_used =
      !is_sweeping_ || noted_.contains(name) || needed_.contains(name) || adopted_.contains(name);
  if (is_used) return false;
  TRY(remove());
  return true;
}

}  // namespace berth::io
