// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

struct Table {
  std::vector<std::string> titles{};
  std::vector<std::vector<std::string>> rows{};  ///< Each as long as `titles`.
};

struct TableStyle {
  std::size_t width = 0;  ///< Columns of the terminal; 0: as wide as it needs to be.
  bool bold_titles = false;
  /// As wide as `az` makes it, every column two more than its title at least, and with as many
  /// lines for a row as its longest cell has; otherwise a line break in a cell is shown as one.
  bool is_for_scripts = false;
};

/// Titles, a line of dashes, rows; two spaces between columns, as `az` prints tables. A table that
/// is too wide cuts long cells and leaves out columns at its end. Cells are made printable.
std::string to_text(const Table& table, const TableStyle& style);

/// Label and value, one pair a line; further lines of a value stand below its first one.
struct Fields {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines{};
};
std::string to_text(const Fields& fields, const TableStyle& style);

}  // namespace berth::cli
