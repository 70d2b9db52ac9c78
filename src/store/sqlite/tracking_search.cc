// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "store/sqlite/tracking_columns.h"
#include "store/tracking_names.h"

namespace berth::store {
namespace {

using model::Comparison;
using model::Entity;
using model::Operator;
using model::Ordering;

/// More parts than this are not worth keeping apart: they are sorted together.
constexpr std::size_t kMostParts = 100;

struct Column {
  std::string_view key;  ///< As the filter language calls it.
  const char* sql;
  bool may_be_null = false;
};

/// What differs between the things that are searched.
struct Table {
  const char* name;     ///< "runs r".
  const char* columns;  ///< What is read of each row.
  const char* number;   ///< By which the tables of its texts and metrics know it.
  const char* age;      ///< Newest first, when nothing else is asked for.
  std::string_view age_key;
  const char* id;
  const char* owner;  ///< The column of the other tables that holds `number`.
  const char* params;
  const char* tags;
  const char* metrics;
  std::span<const Column> attributes;
  std::span<const Column> tag_columns;  ///< Tags that are columns.
  void (*add_reach)(Sql& sql, const JobReach& job);
};

/// " AND (r.id = ? OR …)": what the token of a job reaches.
void add_runs_of(Sql& sql, const JobReach& job) {
  sql.add(" AND (r.id = ?", job.run);
  sql.add(" OR r.maker = ?", job.sequence);
  sql.add(fmt::format(" OR (r.job = 1 AND EXISTS (SELECT 1 FROM run_tags x WHERE "
                      "x.run = r.number AND x.key = '{}' AND x.value = ?)))",
                      kParentTag),
          job.run);
}
void add_models_of(Sql& sql, const JobReach& job) {
  sql.add(" AND (m.source_run = ?", job.run);
  sql.add(" OR m.maker = ?)", job.sequence);
}
void add_experiments_of(Sql& sql, const JobReach& job) {
  sql.add(" AND (e.id = ?", job.experiment);
  sql.add(" OR e.maker = ?)", job.sequence);
}

constexpr Column kRunAttributes[] = {
    {"run_id", "r.id"},
    {"run_name", "r.name"},
    {"user_id", "r.user"},
    {"status", "r.status"},
    {"start_time", "r.started_at"},
    {"end_time", "r.ended_at", true},
    {"artifact_uri", "('mlflow-artifacts:/ExperimentRun/dcid.' || r.id)"},
};
constexpr Column kRunTags[] = {{kNameTag, "r.name"}, {kUserTag, "r.user"}};
constexpr Column kModelAttributes[] = {
    {"name", "m.name"},
    {"model_id", "m.id"},
    {"model_type", "nullif(m.type, '')", true},
    {"status", "replace(m.status, 'LOGGED_MODEL_', '')"},
    {"source_run_id", "nullif(m.source_run, '')", true},
    {"experiment_id", "m.experiment"},
    {"creation_timestamp", "m.created_at"},
    {"last_updated_timestamp", "m.updated_at"},
};
constexpr Column kExperimentAttributes[] = {
    {"experiment_id", "e.id"},
    {"name", "e.name"},
    {"creation_time", "e.created_at"},
    {"last_update_time", "e.updated_at"},
};

constexpr Table kRuns = {.name = "runs r",
                         .columns = kRunColumns,
                         .number = "r.number",
                         .age = "r.started_at",
                         .age_key = "start_time",
                         .id = "r.id",
                         .owner = "run",
                         .params = "run_params",
                         .tags = "run_tags",
                         .metrics = "latest_metrics",
                         .attributes = kRunAttributes,
                         .tag_columns = kRunTags,
                         .add_reach = add_runs_of};
constexpr Table kModels = {.name = "logged_models m",
                           .columns = kModelColumns,
                           .number = "m.number",
                           .age = "m.created_at",
                           .age_key = "creation_timestamp",
                           .id = "m.id",
                           .owner = "model",
                           .params = "logged_model_params",
                           .tags = "logged_model_tags",
                           .metrics = "logged_model_metrics",
                           .attributes = kModelAttributes,
                           .tag_columns = {},
                           .add_reach = add_models_of};
constexpr Table kExperiments = {.name = "experiments e",
                                .columns = kExperimentColumns,
                                .number = "",
                                .age = "e.created_at",
                                .age_key = "creation_time",
                                .id = "e.id",
                                .owner = "",
                                .params = "",
                                .tags = "experiment_tags",
                                .metrics = "",
                                .attributes = kExperimentAttributes,
                                .tag_columns = {},
                                .add_reach = add_experiments_of};

const Column* find(std::span<const Column> columns, std::string_view key) {
  const auto found = std::ranges::find(columns, key, &Column::key);
  return found == columns.end() ? nullptr : &*found;
}

tl::unexpected<Error> unknown(std::string_view key) {
  return fail(Code::InvalidArgument, fmt::format("'{}' cannot be searched for here", key));
}

// ---- Comparisons --------------------------------------------------------------------------------

std::string_view symbol_of(Operator op) {
  switch (op) {
    case Operator::Equal: return "=";
    case Operator::NotEqual: return "<>";
    case Operator::Less: return "<";
    case Operator::LessEqual: return "<=";
    case Operator::Greater: return ">";
    case Operator::GreaterEqual: return ">=";
    default: return "";
  }
}

void add_list(Sql& sql, const std::vector<std::string>& values) {
  sql.add("(");
  for (std::size_t i = 0; i < values.size(); ++i) sql.add(i == 0 ? "?" : ", ?", values[i]);
  sql.add(")");
}

/// "<column> <op> ?".
void add_comparison(Sql& sql, std::string_view column, const Comparison& comparison) {
  const auto* text = std::get_if<std::string>(&comparison.value);
  const auto* list = std::get_if<std::vector<std::string>>(&comparison.value);
  if (comparison.op == Operator::IsNull || comparison.op == Operator::IsNotNull) {
    sql.add(fmt::format("{} IS {}NULL", column, comparison.op == Operator::IsNull ? "" : "NOT "));
  } else if (list != nullptr) {
    sql.add(fmt::format("{} {}IN ", column, comparison.op == Operator::NotIn ? "NOT " : ""));
    add_list(sql, *list);
  } else if (text == nullptr) {
    const auto* number = std::get_if<double>(&comparison.value);
    sql.add(fmt::format("{} {} ?", column, symbol_of(comparison.op)), number ? *number : 0.0);
  } else if (comparison.op == Operator::Like) {
    sql.add(fmt::format("is_like({}, ?)", column), *text);
  } else if (comparison.op == Operator::ILike) {
    sql.add(fmt::format("is_ilike({}, ?)", column), *text);
  } else {
    sql.add(fmt::format("{} {} ?", column, symbol_of(comparison.op)), *text);
  }
}

/// "EXISTS (SELECT 1 FROM run_tags x WHERE x.run = r.number AND x.key = ? AND x.value = ?)".
void add_text(Sql& sql, const Table& table, const char* texts, const Comparison& comparison) {
  const bool asks_for_presence =
      comparison.op == Operator::IsNull || comparison.op == Operator::IsNotNull;
  if (comparison.op == Operator::IsNull) sql.add("NOT ");
  if (*table.number == '\0') {
    sql.add(fmt::format("EXISTS (SELECT 1 FROM {} x WHERE x.workspace = e.workspace AND "
                        "x.experiment = e.id AND x.key = ?",
                        texts),
            comparison.key);
  } else {
    sql.add(fmt::format("EXISTS (SELECT 1 FROM {} x WHERE x.{} = {} AND x.key = ?", texts,
                        table.owner, table.number),
            comparison.key);
  }
  if (!asks_for_presence) {
    sql.add(" AND ");
    add_comparison(sql, "x.value", comparison);
  }
  sql.add(")");
}

void add_dataset_filters(Sql& sql, const std::vector<DatasetFilter>& datasets) {
  if (datasets.empty()) return;
  sql.add(" AND (");
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    sql.add(i == 0 ? "x.dataset_name = ?" : " OR x.dataset_name = ?", datasets[i].name);
    if (!datasets[i].digest.empty()) sql.add(" AND x.dataset_digest = ?", datasets[i].digest);
  }
  sql.add(")");
}

/// What is not a number is unequal to everything, and nothing else.
void add_metric(Sql& sql, const Table& table, const Comparison& comparison,
                const std::vector<DatasetFilter>& datasets) {
  sql.add(fmt::format("EXISTS (SELECT 1 FROM {} x WHERE x.{} = {} AND x.key = ? AND ",
                      table.metrics, table.owner, table.number),
          comparison.key);
  sql.add(comparison.op == Operator::NotEqual ? "(x.nan = 1 OR " : "(x.nan = 0 AND ");
  add_comparison(sql, "x.value", comparison);
  sql.add(")");
  add_dataset_filters(sql, datasets);
  sql.add(")");
}

Status add_dataset(Sql& sql, const Comparison& comparison) {
  const bool is_known =
      comparison.key == "name" || comparison.key == "digest" || comparison.key == "context";
  if (!is_known) return unknown(comparison.key);
  sql.add("EXISTS (SELECT 1 FROM run_datasets x WHERE x.run = r.number AND ");
  add_comparison(sql, "x." + comparison.key, comparison);
  sql.add(")");
  return Done{};
}

Status add_condition(Sql& sql, const Table& table, const Comparison& comparison,
                     const std::vector<DatasetFilter>& datasets) {
  const bool is_tag = comparison.entity == Entity::Tag;
  const Column* column = is_tag ? find(table.tag_columns, comparison.key) : nullptr;
  if (comparison.entity == Entity::Attribute) {
    column = find(table.attributes, comparison.key);
    if (column == nullptr) return unknown(comparison.key);
  }
  if (column != nullptr) {
    add_comparison(sql, column->sql, comparison);
  } else if (is_tag) {
    add_text(sql, table, table.tags, comparison);
  } else if (comparison.entity == Entity::Param && *table.params != '\0') {
    add_text(sql, table, table.params, comparison);
  } else if (comparison.entity == Entity::Metric && *table.metrics != '\0') {
    add_metric(sql, table, comparison, datasets);
  } else if (comparison.entity == Entity::Dataset && &table == &kRuns) {
    return add_dataset(sql, comparison);
  } else {
    return unknown(comparison.key);
  }
  return Done{};
}

// ---- Order --------------------------------------------------------------------------------------

/// What rows are ordered by: columns k0, k1, … of the statement.
struct Keys {
  Sql columns{};  ///< ", … AS k0, … AS k1".
  std::string order{};
  std::size_t count = 0;

  void add(const Sql& column, bool is_ascending) {
    columns.add(", " + column.text + fmt::format(" AS k{}", count));
    columns.values.insert(columns.values.end(), column.values.begin(), column.values.end());
    order += fmt::format("{}k{}{}", count == 0 ? "" : ", ", count, is_ascending ? "" : " DESC");
    ++count;
  }
  void add(const char* column, bool is_ascending) { add(Sql{column, {}}, is_ascending); }
};

/// "(SELECT value FROM run_params WHERE run = r.number AND key = ?)".
Sql scalar(const Table& table, const char* what, const char* from, const std::string& key) {
  Sql sql;
  sql.add(fmt::format("(SELECT {} FROM {} WHERE {} = {} AND key = ?", what, from, table.owner,
                      table.number),
          key);
  if (&table == &kModels && from == table.metrics) {
    sql.add(" ORDER BY timestamp DESC, step DESC, run LIMIT 1");
  }
  sql.add(")");
  return sql;
}

/// What is missing comes last, whichever way the rest goes; so does what is not a number.
Status add_key(Keys& keys, const Table& table, const Ordering& ordering) {
  const bool is_tag = ordering.entity == Entity::Tag;
  const Column* column = is_tag ? find(table.tag_columns, ordering.key) : nullptr;
  if (ordering.entity == Entity::Attribute) column = find(table.attributes, ordering.key);
  if (column != nullptr) {
    if (column->may_be_null) keys.add(Sql{fmt::format("({} IS NULL)", column->sql), {}}, true);
    keys.add(column->sql, ordering.is_ascending);
    return Done{};
  }
  const bool is_metric = ordering.entity == Entity::Metric;
  const char* from = is_metric                          ? table.metrics
                     : is_tag                           ? table.tags
                     : ordering.entity == Entity::Param ? table.params
                                                        : "";
  if (*from == '\0' || *table.number == '\0') return unknown(ordering.key);
  Sql rank = scalar(table, is_metric ? "nan" : "0", from, ordering.key);
  rank.text = fmt::format("coalesce({}, 2)", rank.text);
  keys.add(rank, true);
  keys.add(scalar(table, "value", from, ordering.key), ordering.is_ascending);
  return Done{};
}

Result<Keys> keys_of(const Table& table, const std::vector<Ordering>& order) {
  Keys keys;
  bool has_age = false;
  for (const Ordering& ordering : order) {
    TRY(add_key(keys, table, ordering));
    has_age |= ordering.entity == Entity::Attribute && ordering.key == table.age_key;
  }
  if (!has_age) keys.add(table.age, false);
  keys.add(table.id, true);
  return keys;
}

// ---- Statements ---------------------------------------------------------------------------------

std::vector<std::int64_t> stages_of(LifeView view) {
  if (view == LifeView::Active) return {0};
  if (view == LifeView::Deleted) return {1};
  return {0, 1};
}

void append(Sql& sql, const Sql& more) {
  sql.text += more.text;
  sql.values.insert(sql.values.end(), more.values.begin(), more.values.end());
}

std::int64_t rows(std::size_t count) {
  return static_cast<std::int64_t>(std::min<std::size_t>(count, 10'000'000));
}

/// "SELECT … FROM runs r WHERE r.workspace = ?".
Sql begin(const Table& table, const Search& search, const Keys& keys) {
  Sql sql;
  sql.add(fmt::format("SELECT {}", table.columns));
  append(sql, keys.columns);
  sql.add(fmt::format(" FROM {} WHERE workspace = ?", table.name), search.workspace.text);
  return sql;
}

Status finish(Sql& sql, const Table& table, const Search& search,
              const std::vector<DatasetFilter>& datasets) {
  if (search.only) table.add_reach(sql, *search.only);
  for (const Comparison& comparison : search.filter) {
    sql.add(" AND ");
    TRY(add_condition(sql, table, comparison, datasets));
  }
  return Done{};
}

/// Each experiment, deleted or not, is in order in the index: of each the first rows are enough,
/// however many there are.
Result<Sql> by_parts(const Table& table, const Search& search,
                     const std::vector<DatasetFilter>& datasets) {
  const Keys keys = TRY(keys_of(table, search.order));
  Sql all;
  all.add("SELECT * FROM (");
  bool is_first = true;
  for (const std::string& experiment : search.experiments) {
    for (const std::int64_t stage : stages_of(search.view)) {
      all.add(is_first ? "SELECT * FROM (" : " UNION ALL SELECT * FROM (");
      is_first = false;
      Sql part = begin(table, search, keys);
      part.add(" AND experiment = ?", experiment);
      part.add(" AND deleted = ?", stage);
      TRY(finish(part, table, search, datasets));
      part.add(fmt::format(" ORDER BY {} LIMIT ?)", keys.order), rows(search.skip + search.limit));
      append(all, part);
    }
  }
  all.add(fmt::format(") ORDER BY {} LIMIT ?", keys.order), rows(search.limit));
  all.add(" OFFSET ?", rows(search.skip));
  return all;
}

Result<Sql> together(const Table& table, const Search& search,
                     const std::vector<DatasetFilter>& datasets) {
  const Keys keys = TRY(keys_of(table, search.order));
  Sql sql = begin(table, search, keys);
  sql.add(" AND experiment IN ");
  add_list(sql, search.experiments);
  if (search.view != LifeView::All) {
    sql.add(" AND deleted = ?", stages_of(search.view).front());
  }
  TRY(finish(sql, table, search, datasets));
  sql.add(fmt::format(" ORDER BY {} LIMIT ?", keys.order), rows(search.limit));
  sql.add(" OFFSET ?", rows(search.skip));
  return sql;
}

}  // namespace

Result<Sql> run_search(const Search& search) {
  const bool is_many = search.experiments.size() > kMostParts;
  return is_many ? together(kRuns, search, {}) : by_parts(kRuns, search, {});
}

Result<Sql> logged_model_search(const Search& search, const std::vector<DatasetFilter>& datasets) {
  const bool is_many = search.experiments.size() > kMostParts;
  Sql sql =
      TRY(is_many ? together(kModels, search, datasets) : by_parts(kModels, search, datasets));
  return sql;
}

Result<Sql> experiment_search(const Search& search) {
  const Keys keys = TRY(keys_of(kExperiments, search.order));
  Sql sql = begin(kExperiments, search, keys);
  if (search.view != LifeView::All) {
    sql.add(" AND deleted = ?", stages_of(search.view).front());
  }
  TRY(finish(sql, kExperiments, search, {}));
  sql.add(fmt::format(" ORDER BY {} LIMIT ?", keys.order), rows(search.limit));
  sql.add(" OFFSET ?", rows(search.skip));
  return sql;
}

}  // namespace berth::store
