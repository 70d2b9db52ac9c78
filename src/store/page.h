// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace berth::store {

/// So many bytes of rows are read for one answer: a list whose rows are large has shorter pages.
inline constexpr std::size_t kPageBytes = 4u << 20;

/// Rows of a list, as many as were asked for or as fit into one answer. One at least, if there is
/// one, however large it is.
template <typename Row>
class Page : public std::vector<Row> {
 public:
  Page() = default;
  Page(std::vector<Row> rows) : std::vector<Row>(std::move(rows)) {}  // NOLINT: a page is its rows.

  /// There are more that were asked for: the next page begins behind the last row of this one.
  bool is_cut = false;
};

/// Counts what a page holds.
class PageBudget {
 public:
  void take(std::size_t bytes) { taken_ += bytes; }
  bool is_spent() const { return taken_ >= kPageBytes; }

 private:
  std::size_t taken_ = 0;
};

}  // namespace berth::store
