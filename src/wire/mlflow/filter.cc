// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "wire/mlflow/filter_scanner.h"
#include "wire/mlflow/filter_words.h"

namespace berth::wire::mlflow {
namespace {

using model::Comparison;
using model::Entity;
using model::Operator;
using Type = Attribute::Type;
using Use = Attribute::Use;

constexpr std::string_view kDatasetKeys[] = {"name", "digest", "context"};

/// A column that the subject has.
struct Column {
  Entity entity = Entity::Attribute;
  std::string key{};
  std::string written{};  ///< For errors.
  Type type = Type::Text;
  bool takes_list = false;
  bool may_be_null = false;

  bool is_number() const { return type != Type::Text; }
};

class Parser {
 public:
  Parser(Subject subject, std::string_view text, std::string_view what, Use use)
      : words_(vocabulary_of(subject)), scanner_(text, what), use_(use) {}

  Result<model::Filter> filter();
  Result<model::Ordering> order();

 private:
  Result<Column> column();
  Result<Column> attribute(const Identifier& found) const;
  Result<Entity> entity_of(const Identifier& found) const;
  Result<Comparison> comparison();
  Result<Operator> comparison_operator();
  std::optional<Operator> word_operator();
  Status check_operator(const Column& column, Operator op, std::size_t place) const;
  Status read_value(const Column& column, Comparison& to);
  Status read_number(const Column& column, Comparison& to);
  Status read_text(const Column& column, Comparison& to);
  Result<std::vector<std::string>> list();
  Status list_items(std::vector<std::string>& items);
  Result<std::string> list_text();
  Status check_not_connective() const;

  const Vocabulary& words_;
  Scanner scanner_;
  Use use_;
  std::size_t column_end_ = 0;
};

std::string_view spelling(Operator op) {
  switch (op) {
    case Operator::Equal: return "=";
    case Operator::NotEqual: return "!=";
    case Operator::Less: return "<";
    case Operator::LessEqual: return "<=";
    case Operator::Greater: return ">";
    case Operator::GreaterEqual: return ">=";
    case Operator::Like: return "LIKE";
    case Operator::ILike: return "ILIKE";
    case Operator::In: return "IN";
    case Operator::NotIn: return "NOT IN";
    case Operator::IsNull: return "IS NULL";
    case Operator::IsNotNull: return "IS NOT NULL";
  }
  return "?";
}

constexpr Operator kNumberOperators[] = {Operator::Equal,   Operator::NotEqual,
                                         Operator::Less,    Operator::LessEqual,
                                         Operator::Greater, Operator::GreaterEqual};

std::vector<Operator> operators_of(const Column& column) {
  if (column.is_number()) return {std::begin(kNumberOperators), std::end(kNumberOperators)};
  std::vector<Operator> all = {Operator::Equal, Operator::NotEqual, Operator::Like,
                               Operator::ILike};
  if (column.takes_list) all.insert(all.end(), {Operator::In, Operator::NotIn});
  if (column.may_be_null) all.insert(all.end(), {Operator::IsNull, Operator::IsNotNull});
  return all;
}

// ---- Columns -----------------------------------------------------------------------------------

Result<Entity> Parser::entity_of(const Identifier& found) const {
  std::string_view word = *found.prefix;
  if (word.size() > 2 && word.front() == '`' && word.back() == '`') {
    word = word.substr(1, word.size() - 2);
  }
  const auto known = std::ranges::find(words_.prefixes, word, &Prefix::word);
  if (known != words_.prefixes.end()) return known->entity;
  std::vector<std::string_view> all;
  for (const Prefix& prefix : words_.prefixes) all.push_back(prefix.word);
  return scanner_.wrong(found.at, fmt::format("'{}' is not known here; before the dot stands one "
                                              "of {}",
                                              to_valid_utf8(word), fmt::join(all, ", ")));
}

Result<Column> Parser::attribute(const Identifier& found) const {
  std::vector<std::string_view> all;
  for (const Attribute& known : words_.attributes) {
    const bool may_be_said = known.use == Use::Both || known.use == use_;
    if (!may_be_said) continue;
    if (known.word == found.key) {
      return Column{.key = std::string(known.key),
                    .written = std::string(known.word),
                    .type = known.type,
                    .takes_list = known.takes_list};
    }
    if (known.word == known.key) all.push_back(known.word);
  }
  return scanner_.wrong(found.key_at, fmt::format("no attribute '{}'; there are {}",
                                                  to_valid_utf8(found.key), fmt::join(all, ", ")));
}

Result<Column> Parser::column() {
  const Identifier found = TRY(scanner_.identifier());
  const Entity entity = found.prefix ? TRY(entity_of(found)) : Entity::Attribute;
  if (entity == Entity::Attribute) return attribute(found);
  Column column{.entity = entity,
                .key = found.key,
                .written = fmt::format("{}.{}", *found.prefix, to_valid_utf8(found.key))};
  column.type = entity == Entity::Metric ? Type::Number : Type::Text;
  column.takes_list =
      entity == Entity::Dataset || (words_.texts_take_lists && entity != Entity::Metric);
  column.may_be_null = (entity == Entity::Param && words_.params_may_be_null) ||
                       (entity == Entity::Tag && words_.tags_may_be_null);
  if (entity == Entity::Dataset && std::ranges::count(kDatasetKeys, column.key) == 0) {
    return scanner_.wrong(
        found.key_at, fmt::format("a dataset has no '{}'; there are {}", to_valid_utf8(column.key),
                                  fmt::join(kDatasetKeys, ", ")));
  }
  return column;
}

// ---- Operators ---------------------------------------------------------------------------------

std::optional<Operator> Parser::word_operator() {
  const auto take = [this](std::string_view word) {
    scanner_.skip_space();
    return scanner_.take_word(word);
  };
  if (take("LIKE")) return Operator::Like;
  if (take("ILIKE")) return Operator::ILike;
  if (take("IN")) return Operator::In;
  if (take("NOT")) return take("IN") ? std::optional(Operator::NotIn) : std::nullopt;
  if (!take("IS")) return std::nullopt;
  const bool is_not = take("NOT");
  if (!take("NULL")) return std::nullopt;
  return is_not ? Operator::IsNotNull : Operator::IsNull;
}

Result<Operator> Parser::comparison_operator() {
  const std::size_t place = scanner_.place();
  const std::string found = scanner_.found_at(place);
  if (const std::string_view signs = scanner_.comparison_signs(); !signs.empty()) {
    for (const Operator op : kNumberOperators) {
      if (spelling(op) == signs) return op;
    }
    return scanner_.wrong(place, fmt::format("'{}' is not an operator; there are =, !=, <, <=, > "
                                             "and >=",
                                             signs));
  }
  if (const auto op = word_operator()) return *op;
  const bool is_inside_key = place > 0 && column_end_ == place;
  return scanner_.wrong(place, fmt::format("expected an operator, found {}{}", found,
                                           is_inside_key ? kQuoteKeys : ""));
}

Status Parser::check_operator(const Column& column, Operator op, std::size_t place) const {
  std::vector<std::string_view> all;
  for (const Operator allowed : operators_of(column)) {
    if (allowed == op) return Done{};
    all.push_back(spelling(allowed));
  }
  return scanner_.wrong(place, fmt::format("{} cannot be used for {}; it can be compared by {}",
                                           spelling(op), column.written, fmt::join(all, ", ")));
}

// ---- Values ------------------------------------------------------------------------------------

Status Parser::read_number(const Column& column, Comparison& to) {
  const std::size_t place = scanner_.place();
  if (const auto number = TRY(scanner_.number())) {
    to.value = *number;
    return Done{};
  }
  if (column.type == Type::NumberOrDigits) {
    if (const auto digits = scanner_.quoted()) {
      Scanner inner(*digits, "filter");
      const auto number = inner.number();
      if (number && *number && inner.at_end() && std::floor(**number) == **number) {
        to.value = **number;
        return Done{};
      }
    }
  }
  return scanner_.wrong(place, fmt::format("{} is a number and is compared with one, found {}",
                                           column.written, scanner_.found_at(place)));
}

Status Parser::read_text(const Column& column, Comparison& to) {
  const std::size_t place = scanner_.place();
  if (const auto text = scanner_.quoted()) {
    to.value = std::string(*text);
    return Done{};
  }
  if (words_.numbers_may_be_texts && TRY(scanner_.number())) {
    to.value = std::string(scanner_.taken_since(place));
    return Done{};
  }
  if (scanner_.peek() == '\'' || scanner_.peek() == '"') {
    return scanner_.wrong(place, kOpenQuote);
  }
  return scanner_.wrong(place, fmt::format("{} is compared with a text in single or double quotes, "
                                           "found {}",
                                           column.written, scanner_.found_at(place)));
}

/// Python's idea of a text, as MLflow reads lists: adjacent ones are one, and \' is a quote.
Result<std::string> Parser::list_text() {
  const std::size_t place = scanner_.place();
  std::string all;
  bool is_empty = true;
  for (;; scanner_.skip_space()) {
    const char quote = scanner_.peek();
    const auto part = scanner_.quoted();
    if (!part) break;
    is_empty = false;
    for (std::size_t index = 0; index < part->size(); ++index) {
      const bool is_pair = index + 1 < part->size();
      const char next = is_pair ? (*part)[index + 1] : '\0';
      if ((*part)[index] == quote) {
        ++index;  // 'it''s' is two texts side by side.
      } else if ((*part)[index] == '\\' && (next == '\\' || next == '\'' || next == '"')) {
        all += next;
        ++index;
      } else {
        all += (*part)[index];
      }
    }
  }
  if (!is_empty) return all;
  return scanner_.wrong(
      place, fmt::format("a list has texts in quotes, found {}", scanner_.found_at(place)));
}

Status Parser::list_items(std::vector<std::string>& items) {
  scanner_.skip_space();
  while (scanner_.peek() != ')') {
    items.push_back(TRY(list_text()));
    scanner_.skip_space();
    if (!scanner_.take(',')) break;
    scanner_.skip_space();
  }
  return Done{};
}

Result<std::vector<std::string>> Parser::list() {
  const std::size_t place = scanner_.place();
  std::size_t depth = 0;
  for (; scanner_.take('('); scanner_.skip_space()) ++depth;
  if (depth == 0) {
    return scanner_.wrong(
        place, fmt::format("expected a list in parentheses, found {}", scanner_.found_at(place)));
  }
  std::vector<std::string> items;
  TRY(list_items(items));
  for (; depth > 0; --depth) {
    scanner_.skip_space();
    if (scanner_.take(')')) continue;
    return scanner_.wrong(scanner_.place(), fmt::format("expected ',' or ')', found {}",
                                                        scanner_.found_at(scanner_.place())));
  }
  if (items.empty()) return scanner_.wrong(place, "the list is empty");
  return items;
}

Status Parser::read_value(const Column& column, Comparison& to) {
  if (to.op == Operator::IsNull || to.op == Operator::IsNotNull) return Done{};
  scanner_.skip_space();
  if (to.op == Operator::In || to.op == Operator::NotIn) {
    to.value = TRY(list());
    return Done{};
  }
  if (scanner_.peek() == '(') return scanner_.wrong(scanner_.place(), "a list needs IN or NOT IN");
  return column.is_number() ? read_number(column, to) : read_text(column, to);
}

// ---- Clauses -----------------------------------------------------------------------------------

Result<Comparison> Parser::comparison() {
  const Column column = TRY(this->column());
  column_end_ = scanner_.place();
  scanner_.skip_space();
  const std::size_t place = scanner_.place();
  Comparison comparison{.entity = column.entity, .key = column.key};
  comparison.op = TRY(comparison_operator());
  TRY(check_operator(column, comparison.op, place));
  TRY(read_value(column, comparison));
  return comparison;
}

Status Parser::check_not_connective() const {
  Scanner ahead = scanner_;
  const std::size_t place = ahead.place();
  if (ahead.take_word("OR")) {
    return scanner_.wrong(place, "OR is not supported; comparisons are joined by AND only");
  }
  if (ahead.take_word("NOT")) {
    return scanner_.wrong(place, "NOT is supported before IN only; != is the opposite of =");
  }
  if (ahead.take('(')) {
    return scanner_.wrong(place, "parentheses around comparisons are not supported");
  }
  return Done{};
}

/// AND may be missing, or stand there for nothing, as filters that programs put together have it:
/// MLflow never minded.
Result<model::Filter> Parser::filter() {
  model::Filter filter;
  scanner_.skip_space();
  if (scanner_.at_end() && scanner_.place() > 0) return scanner_.wrong(0, "there are only spaces");
  for (; !scanner_.at_end(); scanner_.skip_space()) {
    if (scanner_.take_word("AND")) continue;
    TRY(check_not_connective());
    filter.push_back(TRY(comparison()));
  }
  return filter;
}

Result<model::Ordering> Parser::order() {
  scanner_.skip_space();
  const std::size_t place = scanner_.place();
  const Column column = TRY(this->column());
  if (column.entity == Entity::Dataset) {
    return scanner_.wrong(place, "datasets are not ordered");
  }
  model::Ordering ordering{.entity = column.entity, .key = column.key};
  scanner_.skip_space();
  if (scanner_.take_word("DESC")) {
    ordering.is_ascending = false;
  } else {
    scanner_.take_word("ASC");
  }
  scanner_.skip_space();
  if (scanner_.at_end()) return ordering;
  return scanner_.wrong(scanner_.place(), fmt::format("expected ASC, DESC or the end, found {}",
                                                      scanner_.found_at(scanner_.place())));
}

}  // namespace

Result<model::Filter> parse_filter(Subject subject, std::string_view text) {
  return Parser(subject, text, "filter", Use::FilterOnly).filter();
}

Result<model::Ordering> parse_order(Subject subject, std::string_view text) {
  Result<model::Ordering> ordering = Parser(subject, text, "order_by", Use::OrderOnly).order();
  if (!ordering) return ordering;
  const bool is_attribute = ordering->entity == Entity::Attribute;
  const bool is_metric = ordering->entity == Entity::Metric;
  if (is_attribute || subject == Subject::Runs) return ordering;
  if (subject == Subject::LoggedModels && is_metric) return ordering;
  return fail(Code::InvalidArgument,
              "invalid order_by at character 1: only attributes can be ordered by here",
              "order_by");
}

}  // namespace berth::wire::mlflow
