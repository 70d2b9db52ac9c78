// SPDX-License-Identifier: Apache-2.0
#include "cli/output/table.h"

#include <numeric>

#include "base/text.h"
#include "cli/output/console.h"
#include "cli/output/text_width.h"

namespace berth::cli {
namespace {

constexpr std::size_t kGap = 2;

std::vector<std::size_t> natural_widths(const Table& table, bool is_for_scripts) {
  const std::size_t more = is_for_scripts ? kGap : 0;
  std::vector<std::size_t> widths;
  for (const std::string& title : table.titles) widths.push_back(display_width(title) + more);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  return widths;
}

std::size_t total_of(const std::vector<std::size_t>& widths) {
  const std::size_t gaps = widths.empty() ? 0 : kGap * (widths.size() - 1);
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

/// Takes from the widest column, a character at a time, until the table fits or none is wider than
/// `narrowest`. The first column is what people copy: it is left alone while there are others.
void shrink(std::vector<std::size_t>& widths, std::size_t available, std::size_t narrowest) {
  const bool only_first = widths.size() == 1;
  while (total_of(widths) > available) {
    const auto widest =
        std::ranges::max_element(widths.begin() + (only_first ? 0 : 1), widths.end());
    if (*widest <= narrowest) return;
    --*widest;
  }
}

/// Long cells give first; then columns at the end go, which matter least; then all others give.
std::vector<std::size_t> fitting_widths(std::vector<std::size_t> widths, std::size_t available) {
  constexpr std::size_t kLong = 24;
  constexpr std::size_t kFewestColumns = 3;
  constexpr std::size_t kNarrowest = 6;
  shrink(widths, available, kLong);
  while (total_of(widths) > available && widths.size() > kFewestColumns) widths.pop_back();
  shrink(widths, available, kNarrowest);
  while (total_of(widths) > available && widths.size() > 1) widths.pop_back();
  shrink(widths, available, 1);
  return widths;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    line += padded(truncated(cells[i], widths[i]), widths[i]);
    if (i + 1 < widths.size()) line.append(kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

Table printable_table(const Table& table) {
  Table clean;
  for (const std::string& title : table.titles) clean.titles.push_back(printable(title));
  for (const auto& row : table.rows) {
    auto& cells = clean.rows.emplace_back();
    for (const std::string& cell : row) cells.push_back(printable(cell));
  }
  return clean;
}

/// A row for each line of the longest cell.
Table with_lines_apart(const Table& table) {
  Table apart{.titles = table.titles};
  for (const auto& row : table.rows) {
    const std::size_t first = apart.rows.size();
    apart.rows.emplace_back(row.size());
    for (std::size_t column = 0; column < row.size(); ++column) {
      const auto lines = split(trim(row[column]), '\n');
      while (apart.rows.size() - first < lines.size()) apart.rows.emplace_back(row.size());
      for (std::size_t i = 0; i < lines.size(); ++i) {
        apart.rows[first + i][column] = std::string(lines[i]);
      }
    }
  }
  return apart;
}

}  // namespace

std::string to_text(const Table& table, const TableStyle& style) {
  if (table.titles.empty()) return style.is_for_scripts ? "\n" : "";
  const Table clean = printable_table(style.is_for_scripts ? with_lines_apart(table) : table);
  std::vector<std::size_t> widths = natural_widths(clean, style.is_for_scripts);
  if (style.width > 0) widths = fitting_widths(std::move(widths), style.width);

  std::vector<std::string> dashes;
  for (const std::size_t width : widths) dashes.emplace_back(width, '-');
  const std::string titles = line_of(clean.titles, widths);
  std::string text = style.bold_titles ? "\x1b[1m" + titles + "\x1b[0m" : titles;
  text += "\n" + line_of(dashes, widths) + "\n";
  for (const auto& row : clean.rows) text += line_of(row, widths) + "\n";
  return text;
}

std::string to_text(const Fields& fields, const TableStyle& style) {
  std::size_t label_width = 0;
  for (const auto& [label, values] : fields.lines) {
    label_width = std::max(label_width, display_width(label));
  }
  std::string text;
  for (const auto& [label, values] : fields.lines) {
    bool first = true;
    for (const std::string& value : values) {
      const std::string name = padded(first ? label : "", label_width);
      text += style.bold_titles && first ? "\x1b[1m" + name + "\x1b[0m" : name;
      text += std::string(kGap, ' ') + printable(value) + "\n";
      first = false;
    }
  }
  return text;
}

}  // namespace berth::cli
