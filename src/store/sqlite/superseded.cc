// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/superseded.h"

#include <string_view>
#include <unordered_set>

namespace berth::store {
namespace {

/// The rows that come later, seen from a place in the line.
class Later {
 public:
  /// Whether a later change writes the whole row again.
  template <typename Change>
  bool is_written_again(const Change&) {
    jobs_.clear();
    nodes_.clear();
    return false;
  }
  bool is_written_again(const Put<model::Job>& put) {
    return !jobs_.insert(put.value.sequence).second;
  }
  bool is_written_again(const Put<model::Node>& put) {
    return !nodes_.insert(put.value.id.text).second;
  }
  // They look at no job and no node.
  bool is_written_again(const AddAudit&) { return false; }
  bool is_written_again(const AddUsage&) { return false; }
  bool is_written_again(const PutBlob&) { return false; }
  bool is_written_again(const PutBlock&) { return false; }

 private:
  std::unordered_set<std::int64_t> jobs_{};  ///< By sequence, which no two jobs share.
  std::unordered_set<std::string_view> nodes_{};
};

}  // namespace

std::vector<bool> worth_writing(std::span<const Write* const> changes) {
  std::vector<bool> worth(changes.size(), true);
  Later later;
  for (std::size_t place = changes.size(); place-- > 0;) {
    worth[place] = !std::visit([&](const auto& change) { return later.is_written_again(change); },
                               *changes[place]);
  }
  return worth;
}

}  // namespace berth::store
