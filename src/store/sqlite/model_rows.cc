// SPDX-License-Identifier: Apache-2.0
// How SqliteStore searches models and their versions.
#include <boost/json.hpp>
#include <deque>

#include "base/check.h"
#include "store/sqlite/documents.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::store {
namespace {

using model::Comparison;
using model::Entity;
using model::Operator;

/// Registered models carry this tag when they are none but a prompt, and nothing when they are.
constexpr std::string_view kIsPrompt = "mlflow.prompt.is_prompt";

/// A statement in the making. Owns the texts that its values refer to.
struct Statement {
  Sql sql{};
  std::deque<std::string> texts{};

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

/// A version's number as SQL has it: NULL for "v2" and "2024-05".
constexpr std::string_view kVersionNumber =
    "CASE WHEN version GLOB '*[^0-9]*' THEN NULL ELSE CAST(version AS INTEGER) END";

std::string_view column_of(std::string_view attribute) {
  if (attribute == "name") return "name";
  if (attribute == "version_number") return kVersionNumber;
  if (attribute == "run_id") return "json_extract(doc, '$.body.jobName')";
  if (attribute == "source_path") {
    return "coalesce(json_extract(doc, '$.origin.source'), json_extract(doc, '$.body.modelUri'))";
  }
  if (attribute == "creation_timestamp") return "json_extract(doc, '$.created_at')";
  CHECK(attribute == "last_updated_timestamp", "the parser knows the attributes");
  return "coalesce(json_extract(doc, '$.modified_at'), json_extract(doc, '$.created_at'))";
}

std::string_view sign_of(Operator op) {
  switch (op) {
    case Operator::Equal: return " = ";
    case Operator::NotEqual: return " <> ";
    case Operator::Less: return " < ";
    case Operator::LessEqual: return " <= ";
    case Operator::Greater: return " > ";
    case Operator::GreaterEqual: return " >= ";
    default: CHECK(false, "numbers and texts are compared by signs");
  }
}

void add_text(Statement& search, std::string_view column, const Comparison& comparison) {
  const std::string_view text = search.keep(std::get<std::string>(comparison.value));
  if (comparison.op == Operator::Like || comparison.op == Operator::ILike) {
    const bool heeds_case = comparison.op == Operator::Like;
    search.sql.add(heeds_case ? "is_like(" : "is_ilike(");
    search.sql.add(column);
    search.sql.add(", ?)", text);
    return;
  }
  search.sql.add(column);
  search.sql.add(sign_of(comparison.op));
  search.sql.add("?", text);
}

void add_list(Statement& search, std::string_view column, const Comparison& comparison) {
  const auto& list = std::get<std::vector<std::string>>(comparison.value);
  const boost::json::array items(list.begin(), list.end());
  search.sql.add(column);
  search.sql.add(comparison.op == Operator::In ? " IN " : " NOT IN ");
  search.sql.add("(SELECT value FROM json_each(?))", search.keep(boost::json::serialize(items)));
}

void add_number(Statement& search, std::string_view column, double number, Operator op) {
  search.sql.add(column);
  search.sql.add(sign_of(op));
  search.sql.add("?", number);
}

void add_tag(Statement& search, const Comparison& comparison) {
  search.sql.add("(");
  const auto* wanted = std::get_if<std::string>(&comparison.value);
  if (comparison.key == kIsPrompt && wanted != nullptr) {
    const bool is_no = (comparison.op == Operator::Equal && *wanted == "false") ||
                       (comparison.op == Operator::NotEqual && *wanted == "true");
    if (is_no) {
      search.sql.add("NOT EXISTS (SELECT 1 FROM json_each(doc, '$.tags') WHERE key = ?) OR ",
                     search.keep(comparison.key));
    }
  }
  search.sql.add("EXISTS (SELECT 1 FROM json_each(doc, '$.tags') AS tag WHERE tag.key = ? AND ",
                 search.keep(comparison.key));
  add_text(search, "tag.value", comparison);
  search.sql.add("))");
}

void add_comparison(Statement& search, const Comparison& comparison) {
  search.sql.add(" AND ");
  if (comparison.entity == Entity::Tag) return add_tag(search, comparison);
  const std::string_view column = column_of(comparison.key);
  if (const auto* number = std::get_if<double>(&comparison.value)) {
    add_number(search, column, *number, comparison.op);
  } else if (comparison.op == Operator::In || comparison.op == Operator::NotIn) {
    add_list(search, column, comparison);
  } else {
    add_text(search, column, comparison);
  }
}

/// The statement from WHERE on; what is looked at are versions, or the models as a whole.
void add_rest(Statement& search, const ModelQuery& query, bool of_versions) {
  search.sql.add(" WHERE workspace = ? AND kind = 'Model' AND archived = 0", query.workspace.text);
  if (of_versions) search.sql.add(" AND json_extract(doc, '$.is_anonymous') IS NOT 1");
  for (const Comparison& comparison : query.filter) add_comparison(search, comparison);
  search.sql.add(" ORDER BY ");
  for (const model::Ordering& ordering : query.order) {
    search.sql.add(column_of(ordering.key));
    search.sql.add(ordering.is_ascending ? ", " : " DESC, ");
  }
  search.sql.add("name");
  if (of_versions) {
    search.sql.add(", ");
    search.sql.add(kVersionNumber);
    search.sql.add(" DESC, id DESC");
  }
  search.sql.add(" LIMIT ?", static_cast<std::int64_t>(query.limit));
  search.sql.add(" OFFSET ?", static_cast<std::int64_t>(query.skip));
}

}  // namespace

Result<Page<model::AssetContainer>> SqliteStore::search_models(const ModelQuery& query) {
  Statement search;
  search.sql.add("SELECT doc FROM containers");
  add_rest(search, query, false);
  return read_page<model::AssetContainer>(TRY(reader_.query(search.sql)));
}

Result<Page<model::Asset>> SqliteStore::search_model_versions(const ModelQuery& query) {
  Statement search;
  search.sql.add("SELECT doc FROM assets");
  add_rest(search, query, true);
  return read_page<model::Asset>(TRY(reader_.query(search.sql)));
}

Result<std::vector<model::Asset>> SqliteStore::latest_of_stages(const model::WorkspaceId& workspace,
                                                                const std::string& name) {
  // Beside max(), SQLite gives the other columns of the row that has it.
  return read_documents<model::Asset>(TRY(reader_.query(
      "SELECT doc, max(CAST(version AS INTEGER)) FROM assets WHERE workspace = ? "
      "AND kind = 'Model' AND name = ? AND archived = 0 AND version NOT GLOB '*[^0-9]*' "
      "GROUP BY json_extract(doc, '$.body.stage') ORDER BY 2",
      {workspace.text, name})));
}

}  // namespace berth::store
