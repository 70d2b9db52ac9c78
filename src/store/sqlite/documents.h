// SPDX-License-Identifier: Apache-2.0
// Rows of which one column is a JSON document, read back into structs.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/record.h"
#include "base/text.h"
#include "store/database/sqlite.h"
#include "store/page.h"

namespace berth::store {

/// A row's document. JSON that is not UTF-8 could not be read again, so what is broken is replaced
/// before it is stored.
template <typename T>
std::string document(const T& value) {
  std::string text = record::encode_text(value);
  return is_valid_utf8(text) ? text : to_valid_utf8(text);
}

/// What the disk gives back and we cannot read is our fault or the disk's, not the caller's.
template <typename T>
Result<T> read_document(std::string_view text) {
  Result<T> value = record::decode_text<T>(text);
  if (value) return value;
  return fail(Code::Internal, fmt::format("database: a row cannot be read: {} {}",
                                          value.error().target, value.error().message));
}

/// The documents in the first column of all rows.
template <typename T>
Result<std::vector<T>> read_documents(Cursor cursor) {
  std::vector<T> all;
  while (TRY(cursor.next())) all.push_back(TRY(read_document<T>(cursor.text(0))));
  return all;
}

/// What `read(cursor, budget)` makes of each row, until the page is full. It takes from the budget.
template <typename Row, typename Read>
Result<Page<Row>> fill_page(Cursor cursor, const Read& read) {
  Page<Row> page;
  PageBudget budget;
  while (TRY(cursor.next())) {
    if (budget.is_spent()) {
      page.is_cut = true;
      break;
    }
    page.push_back(TRY(read(cursor, budget)));
  }
  return page;
}

/// The documents in the first column, until the page is full.
template <typename T>
Result<Page<T>> read_page(Cursor cursor) {
  return fill_page<T>(std::move(cursor), [](Cursor& row, PageBudget& budget) {
    budget.take(row.text(0).size());
    return read_document<T>(row.text(0));
  });
}

template <typename T>
Result<std::optional<T>> read_first(Cursor cursor) {
  if (!TRY(cursor.next())) return std::nullopt;
  return TRY(read_document<T>(cursor.text(0)));
}

}  // namespace berth::store
