// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace berth::wire::mlflow {
namespace {

using model::Comparison;
using model::Entity;
using model::Operator;

std::string show(Operator op) {
  constexpr const char* kSigns[] = {
      "=", "!=", "<", "<=", ">", ">=", "LIKE", "ILIKE", "IN", "NOT IN", "IS NULL", "IS NOT NULL"};
  return kSigns[static_cast<std::size_t>(op)];
}

std::string show(const Comparison& comparison) {
  constexpr const char* kEntities[] = {"attribute", "metric", "param", "tag", "dataset"};
  std::string text =
      fmt::format("{}[{}] {}", kEntities[static_cast<std::size_t>(comparison.entity)],
                  comparison.key, show(comparison.op));
  if (const auto* value = std::get_if<std::string>(&comparison.value)) text += " <" + *value + ">";
  if (const auto* value = std::get_if<double>(&comparison.value))
    text += fmt::format(" {}", *value);
  if (const auto* list = std::get_if<std::vector<std::string>>(&comparison.value)) {
    for (const std::string& value : *list) text += " <" + value + ">";
  }
  return text;
}

/// The comparisons, or the error.
std::string read(Subject subject, std::string_view text) {
  const Result<model::Filter> filter = parse_filter(subject, text);
  if (!filter) return filter.error().message;
  std::vector<std::string> all;
  for (const Comparison& comparison : *filter) all.push_back(show(comparison));
  return fmt::format("{}", fmt::join(all, "; "));
}

struct Example {
  std::string_view text;
  std::string_view meaning;
};

TEST(Filter, ReadsWhatCanBeSaidOfRuns) {
  const Example examples[] = {
      {"", ""},
      {"AND", ""},
      {"metrics.a > 1", "metric[a] > 1"},
      {"metric.a>1", "metric[a] > 1"},
      {"metrics.a >= -1.5", "metric[a] >= -1.5"},
      {"metrics.a < .5", "metric[a] < 0.5"},
      {"metrics.a <= 5.", "metric[a] <= 5"},
      {"metrics.a = 1e5", "metric[a] = 100000"},
      {"metrics.a != 1.5E-2", "metric[a] != 0.015"},
      {"metrics.a > 1e400", "metric[a] > inf"},
      {"metrics.`a b` > 1", "metric[a b] > 1"},
      {"metrics.\"a b\" > 1", "metric[a b] > 1"},
      {"metrics.'a b' > 1", "metric[a b] > 1"},
      {"metrics.`a.b` > 1", "metric[a.b] > 1"},
      {"metrics.`a\"b'c` > 1", "metric[a\"b'c] > 1"},
      {"metrics.a.b.c > 1", "metric[a.b.c] > 1"},
      {"metrics.1a > 1", "metric[1a] > 1"},
      {"metrics.and > 1", "metric[and] > 1"},
      {"metrics.from > 1", "metric[from] > 1"},
      {"metrics.größe > 1", "metric[größe] > 1"},
      {"`metrics`.`a` > 1", "metric[a] > 1"},
      {"params.a = 'x'", "param[a] = <x>"},
      {"param.a = \"x\"", "param[a] = <x>"},
      {"parameter.a != ''", "param[a] != <>"},
      {"parameters.a='5'", "param[a] = <5>"},
      {"params.a = 'it''s'", "param[a] = <it''s>"},
      {"params.a = \"it's\"", "param[a] = <it's>"},
      {"params.a = 'C:\\'", "param[a] = <C:\\>"},
      {"params.a = 'it\\'s'", "param[a] = <it\\'s>"},
      {"params.a = 'x AND y; z'", "param[a] = <x AND y; z>"},
      {"params.a like 'x%'", "param[a] LIKE <x%>"},
      {"params.a ILIKE\"x%\"", "param[a] ILIKE <x%>"},
      {"params.a is null", "param[a] IS NULL"},
      {"params.a IS NOT NULL", "param[a] IS NOT NULL"},
      {"tag.a = 'x'", "tag[a] = <x>"},
      {"tags.mlflow.source.name = 'x'", "tag[mlflow.source.name] = <x>"},
      {"tags.`mlflow.source.name` LIKE '%.py'", "tag[mlflow.source.name] LIKE <%.py>"},
      {"tags.a IS NULL", "tag[a] IS NULL"},
      {"status = 'RUNNING'", "attribute[status] = <RUNNING>"},
      {"attributes.status != 'RUNNING'", "attribute[status] != <RUNNING>"},
      {"attr.user_id = 'me'", "attribute[user_id] = <me>"},
      {"run.artifact_uri LIKE '%x'", "attribute[artifact_uri] LIKE <%x>"},
      {"`status` = 'x'", "attribute[status] = <x>"},
      {"run_id IN ('a', \"b\")", "attribute[run_id] IN <a> <b>"},
      {"run_id in('a',)", "attribute[run_id] IN <a>"},
      {"run_id NOT IN ('a')", "attribute[run_id] NOT IN <a>"},
      {"run_id IN (('a'))", "attribute[run_id] IN <a>"},
      {"run_id IN ('a' 'b', 'c\\'d')", "attribute[run_id] IN <ab> <c'd>"},
      {"attributes.`Run name` = 'x'", "attribute[run_name] = <x>"},
      {"\"Run Name\" = 'x'", "attribute[run_name] = <x>"},
      {"`run name` = 'x'", "attribute[run_name] = <x>"},
      {"run_name LIKE '%x%'", "attribute[run_name] LIKE <%x%>"},
      {"start_time > 1700000000000", "attribute[start_time] > 1700000000000"},
      {"created > 5", "attribute[start_time] > 5"},
      {"attribute.Created <= 5.5", "attribute[start_time] <= 5.5"},
      {"end_time != -1", "attribute[end_time] != -1"},
      {"dataset.name = 'x'", "dataset[name] = <x>"},
      {"datasets.digest IN ('x', 'y')", "dataset[digest] IN <x> <y>"},
      {"dataset.context NOT IN ('x')", "dataset[context] NOT IN <x>"},
      {"metrics.a > 1 and params.b = 'x'\n\tAND tags.c IS NULL",
       "metric[a] > 1; param[b] = <x>; tag[c] IS NULL"},
      {"AND metrics.a > 1 AND AND params.b = 'x' AND", "metric[a] > 1; param[b] = <x>"},
      {"params.b = 'x'AND metrics.a > 1", "param[b] = <x>; metric[a] > 1"},
      {"params.b = 'x' metrics.a > 1", "param[b] = <x>; metric[a] > 1"},
  };
  for (const Example& example : examples) {
    EXPECT_EQ(read(Subject::Runs, example.text), example.meaning) << example.text;
  }
}

TEST(Filter, SaysWhereItIsWrong) {
  const Example examples[] = {
      {"   ", "character 1: there are only spaces"},
      {"metrics.a > 1 OR params.b = 'x'", "character 15: OR is not supported"},
      {"(metrics.a > 1)", "character 1: parentheses"},
      {"NOT metrics.a > 1", "character 1: NOT is supported before IN only"},
      {"metrics.a > 1;", "character 14: expected the name of what to compare, found ';'"},
      {"metrics.a > 1 -- why", "character 15: expected the name"},
      {"metrics.a > 1, metrics.b > 1", "character 14: expected the name"},
      {"metrics.a", "character 10: expected an operator, found the end"},
      {"metrics.a >",
       "character 12: metrics.a is a number and is compared with one, found the end"},
      {"metrics.a > x", "character 13: metrics.a is a number"},
      {"metrics.a > '1'", "character 13: metrics.a is a number"},
      {"metrics.a > +1", "character 13: metrics.a is a number"},
      {"metrics.a > inf", "character 13: metrics.a is a number"},
      {"metrics.a > 1_000", "character 13: '1_000' is not a number"},
      {"metrics.a > 1AND", "character 13: '1AND' is not a number"},
      {"metrics.a > 1.2.3", "character 13: '1.2.3' is not a number"},
      {"metrics.a == 1", "character 11: '==' is not an operator"},
      {"metrics.a <> 1", "character 11: '<>' is not an operator"},
      {"metrics.a LIKE '1'", "character 11: LIKE cannot be used for metrics.a"},
      {"metrics.a IN (1, 2)", "character 11: IN cannot be used for metrics.a"},
      {"metrics.a IS NULL", "character 11: IS NULL cannot be used for metrics.a"},
      {"metrics.a BETWEEN 1 AND 2", "character 11: expected an operator, found 'BETWEEN'"},
      {"metrics.a-b > 1", "character 10: expected an operator, found '-b'; a key with other"},
      {"metrics. > 1", "character 9: expected a key after the dot"},
      {"metrics.1 > 1", "character 9: expected a key after the dot"},
      {"metrics.`a > 1", "character 9: this quote is not closed"},
      {"Metrics.a > 1", "character 1: 'Metrics' is not known here"},
      {"\"metrics\".a > 1", "character 1: '\"metrics\"' is not known here"},
      {"metrics > 1", "character 1: no attribute 'metrics'"},
      {"größe.a > 1", "character 1: 'größe' is not known here"},
      {"tags.größe = 5", "character 14: tags.größe is compared with a text"},
      {"params.a = x", "character 12: params.a is compared with a text in single or double quotes"},
      {"params.a = `x`", "character 12: params.a is compared with a text"},
      {"params.a = 'x", "character 12: this quote is not closed"},
      {"params.a > 'x'", "character 10: > cannot be used for params.a"},
      {"params.a NOT LIKE 'x'", "character 10: expected an operator, found 'NOT'"},
      {"params.a IS 'x'", "character 10: expected an operator, found 'IS'"},
      {"params.a IN ('x')", "character 10: IN cannot be used for params.a"},
      {"status IN ('x')", "character 8: IN cannot be used for status"},
      {"Status = 'x'", "character 1: no attribute 'Status'; there are run_id, run_name"},
      {"attributes.foo = 'x'", "character 12: no attribute 'foo'"},
      {"start_time > '5'", "character 14: start_time is a number"},
      {"end_time IS NULL", "character 10: IS NULL cannot be used for end_time"},
      {"experiment_id = '1'", "character 1: no attribute 'experiment_id'"},
      {"run_id IN ()", "character 11: the list is empty"},
      {"run_id IN (1)", "character 12: a list has texts in quotes, found '1)'"},
      {"run_id IN ('a'", "character 15: expected ',' or ')', found the end"},
      {"run_id IN 'a'", "character 11: expected a list in parentheses"},
      {"run_id = ('a')", "character 10: a list needs IN or NOT IN"},
      {"dataset.profile = 'x'", "character 9: a dataset has no 'profile'"},
      {"'x' = params.a", "character 1: a text stands on the left"},
      {"1 < metrics.a", "character 1: expected the name of what to compare, found '1'"},
      {"params.a = 'x' 'y'", "character 16: a text stands on the left"},
      {"metrics.a > 1 y", "character 15: no attribute 'y'"},
      {"DROP TABLE runs", "character 1: no attribute 'DROP'"},
  };
  for (const Example& example : examples) {
    const std::string problem = read(Subject::Runs, example.text);
    EXPECT_TRUE(problem.starts_with(fmt::format("invalid filter at {}", example.meaning)))
        << example.text << ": " << problem;
  }
}

TEST(Filter, KnowsWhatExperimentsHave) {
  const auto read_it = [](std::string_view text) { return read(Subject::Experiments, text); };
  EXPECT_EQ(read_it("name LIKE 'a%' AND tags.b = 'c'"), "attribute[name] LIKE <a%>; tag[b] = <c>");
  EXPECT_EQ(read_it("attribute.creation_time > 5"), "attribute[creation_time] > 5");
  EXPECT_EQ(read_it("experiment_id IN ('1', '2')"), "attribute[experiment_id] IN <1> <2>");
  EXPECT_EQ(read_it("tag.a IS NOT NULL"), "tag[a] IS NOT NULL");
  EXPECT_TRUE(read_it("attributes.name = 'x'").ends_with("one of attribute, tag, tags"));
  EXPECT_TRUE(read_it("name IN ('x')").starts_with("invalid filter at character 6"));
  EXPECT_TRUE(read_it("metrics.a > 1").starts_with("invalid filter at character 1"));
}

TEST(Filter, KnowsWhatTheRegistryHas) {
  EXPECT_EQ(read(Subject::RegisteredModels, "name IN ('a') AND tags.`b c` ILIKE '%x'"),
            "attribute[name] IN <a>; tag[b c] ILIKE <%x>");
  EXPECT_EQ(read(Subject::ModelVersions, "version_number >= 2 AND version_number = '5'"),
            "attribute[version_number] >= 2; attribute[version_number] = 5");
  EXPECT_EQ(read(Subject::ModelVersions, "run_id = 'a' AND source_path LIKE 'x%'"),
            "attribute[run_id] = <a>; attribute[source_path] LIKE <x%>");
  EXPECT_TRUE(read(Subject::ModelVersions, "version_number = 'x'").starts_with("invalid"));
  EXPECT_TRUE(read(Subject::ModelVersions, "version_number = '1.5'").starts_with("invalid"));
  EXPECT_TRUE(read(Subject::ModelVersions, "tags.a IS NULL").starts_with("invalid"));
  EXPECT_TRUE(read(Subject::RegisteredModels, "run_id = 'a'").starts_with("invalid"));
  EXPECT_TRUE(read(Subject::RegisteredModels, "creation_timestamp > 5").starts_with("invalid"));
}

TEST(Filter, KnowsWhatLoggedModelsHave) {
  EXPECT_EQ(read(Subject::LoggedModels, "metrics.loss < 0.1 AND params.lr = 0.01"),
            "metric[loss] < 0.1; param[lr] = <0.01>");
  EXPECT_EQ(read(Subject::LoggedModels, "creation_time > 5 AND tags.a IN ('x', 'y')"),
            "attribute[creation_timestamp] > 5; tag[a] IN <x> <y>");
  EXPECT_EQ(read(Subject::LoggedModels, "attributes.name NOT IN ('x')"),
            "attribute[name] NOT IN <x>");
  EXPECT_TRUE(read(Subject::LoggedModels, "metric.a > 1").starts_with("invalid"));
  EXPECT_TRUE(read(Subject::LoggedModels, "params.a IS NULL").starts_with("invalid"));
}

std::string order(Subject subject, std::string_view text) {
  const Result<model::Ordering> found = parse_order(subject, text);
  if (!found) return found.error().message;
  return fmt::format("{} {} {}", static_cast<int>(found->entity), found->key,
                     found->is_ascending ? "up" : "down");
}

TEST(Filter, ReadsAnOrder) {
  EXPECT_EQ(order(Subject::Runs, "start_time"), "0 start_time up");
  EXPECT_EQ(order(Subject::Runs, "Created desc"), "0 start_time down");
  EXPECT_EQ(order(Subject::Runs, "attributes.run_name ASC"), "0 run_name up");
  EXPECT_EQ(order(Subject::Runs, "metrics.`a b`  DESC"), "1 a b down");
  EXPECT_EQ(order(Subject::Runs, "params.\"a.b\" asc"), "2 a.b up");
  EXPECT_EQ(order(Subject::Runs, "tags.mlflow.user"), "3 mlflow.user up");
  EXPECT_EQ(order(Subject::Experiments, "last_update_time DESC"), "0 last_update_time down");
  EXPECT_EQ(order(Subject::RegisteredModels, "timestamp DESC"), "0 last_updated_timestamp down");
  EXPECT_EQ(order(Subject::RegisteredModels, "name"), "0 name up");
  EXPECT_EQ(order(Subject::ModelVersions, "version_number DESC"), "0 version_number down");
  EXPECT_EQ(order(Subject::LoggedModels, "metrics.loss"), "1 loss up");
  EXPECT_EQ(order(Subject::LoggedModels, "creation_time"), "0 creation_timestamp up");
}

TEST(Filter, SaysWhereAnOrderIsWrong) {
  EXPECT_EQ(order(Subject::Runs, "start_time down"),
            "invalid order_by at character 12: expected ASC, DESC or the end, found 'down'");
  EXPECT_EQ(order(Subject::Runs, ""),
            "invalid order_by at character 1: expected the name of what to compare, found the end");
  EXPECT_TRUE(order(Subject::Runs, "start_time, end_time").starts_with("invalid order_by at char"));
  EXPECT_TRUE(order(Subject::Runs, "`run name`").starts_with("invalid order_by at character 1"));
  EXPECT_TRUE(order(Subject::Runs, "dataset.name").starts_with("invalid order_by at character 1"));
  EXPECT_TRUE(order(Subject::Experiments, "tags.a").starts_with("invalid order_by at character 1"));
  EXPECT_TRUE(order(Subject::ModelVersions, "run_id").starts_with("invalid order_by"));
  EXPECT_TRUE(order(Subject::LoggedModels, "params.a").starts_with("invalid order_by"));
}

/// Whatever is sent, an answer comes back.
TEST(Filter, CutsAnywhereAreAnswered) {
  constexpr std::string_view kLong =
      "metrics.`a b` >= -1.5e3 AND run_id NOT IN ('x', \"y\") AND tags.ü IS NOT NULL";
  for (std::size_t end = 0; end <= kLong.size(); ++end) {
    for (std::size_t begin = 0; begin <= end; ++begin) {
      const auto filter = parse_filter(Subject::Runs, kLong.substr(begin, end - begin));
      if (!filter) {
        EXPECT_EQ(filter.error().code, Code::InvalidArgument);
      }
    }
  }
}

}  // namespace
}  // namespace berth::wire::mlflow
