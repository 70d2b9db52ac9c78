// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/filter_words.h"

#include "base/check.h"

namespace berth::wire::mlflow {
namespace {

using model::Entity;
using Type = Attribute::Type;
using Use = Attribute::Use;

constexpr Prefix kRunPrefixes[] = {
    {"metric", Entity::Metric},
    {"metrics", Entity::Metric},
    {"parameter", Entity::Param},
    {"parameters", Entity::Param},
    {"param", Entity::Param},
    {"params", Entity::Param},
    {"tag", Entity::Tag},
    {"tags", Entity::Tag},
    {"attribute", Entity::Attribute},
    {"attributes", Entity::Attribute},
    {"attr", Entity::Attribute},
    {"run", Entity::Attribute},
    {"dataset", Entity::Dataset},
    {"datasets", Entity::Dataset},
};
constexpr Attribute kRunAttributes[] = {
    {.word = "run_id", .key = "run_id", .takes_list = true},
    {.word = "run_name", .key = "run_name"},
    {.word = "run name", .key = "run_name", .use = Use::FilterOnly},
    {.word = "Run name", .key = "run_name", .use = Use::FilterOnly},
    {.word = "Run Name", .key = "run_name", .use = Use::FilterOnly},
    {.word = "user_id", .key = "user_id"},
    {.word = "status", .key = "status"},
    {.word = "artifact_uri", .key = "artifact_uri"},
    {.word = "start_time", .key = "start_time", .type = Type::Number},
    {.word = "created", .key = "start_time", .type = Type::Number},
    {.word = "Created", .key = "start_time", .type = Type::Number},
    {.word = "end_time", .key = "end_time", .type = Type::Number},
};

// Experiments, registered models and their versions agree on these.
constexpr Prefix kOtherPrefixes[] = {
    {"attribute", Entity::Attribute}, {"tag", Entity::Tag}, {"tags", Entity::Tag}};

constexpr Attribute kExperimentAttributes[] = {
    {.word = "name", .key = "name"},
    {.word = "experiment_id", .key = "experiment_id", .takes_list = true},
    {.word = "creation_time", .key = "creation_time", .type = Type::Number},
    {.word = "last_update_time", .key = "last_update_time", .type = Type::Number},
};
constexpr Attribute kModelAttributes[] = {
    {.word = "name", .key = "name", .takes_list = true},
    {.word = "timestamp", .key = "last_updated_timestamp", .use = Use::OrderOnly},
    {.word = "creation_timestamp", .key = "creation_timestamp", .use = Use::OrderOnly},
    {.word = "last_updated_timestamp", .key = "last_updated_timestamp", .use = Use::OrderOnly},
};
constexpr Attribute kVersionAttributes[] = {
    {.word = "name", .key = "name", .takes_list = true},
    {.word = "version_number", .key = "version_number", .type = Type::NumberOrDigits},
    {.word = "run_id", .key = "run_id", .takes_list = true, .use = Use::FilterOnly},
    {.word = "source_path", .key = "source_path", .use = Use::FilterOnly},
    {.word = "creation_timestamp", .key = "creation_timestamp", .use = Use::OrderOnly},
    {.word = "last_updated_timestamp", .key = "last_updated_timestamp", .use = Use::OrderOnly},
};

constexpr Prefix kLoggedPrefixes[] = {{"attributes", Entity::Attribute},
                                      {"metrics", Entity::Metric},
                                      {"params", Entity::Param},
                                      {"tags", Entity::Tag}};
constexpr Attribute kLoggedAttributes[] = {
    {.word = "name", .key = "name", .takes_list = true},
    {.word = "model_id", .key = "model_id", .takes_list = true},
    {.word = "model_type", .key = "model_type", .takes_list = true},
    {.word = "status", .key = "status", .takes_list = true},
    {.word = "source_run_id", .key = "source_run_id", .takes_list = true},
    {.word = "experiment_id", .key = "experiment_id", .takes_list = true},
    {.word = "creation_timestamp", .key = "creation_timestamp", .type = Type::Number},
    {.word = "creation_timestamp_ms", .key = "creation_timestamp", .type = Type::Number},
    {.word = "creation_time", .key = "creation_timestamp", .type = Type::Number},
    {.word = "last_updated_timestamp", .key = "last_updated_timestamp", .type = Type::Number},
    {.word = "last_updated_timestamp_ms", .key = "last_updated_timestamp", .type = Type::Number},
    {.word = "last_updated_time", .key = "last_updated_timestamp", .type = Type::Number},
};

constexpr Vocabulary kRuns = {.prefixes = kRunPrefixes,
                              .attributes = kRunAttributes,
                              .params_may_be_null = true,
                              .tags_may_be_null = true};
constexpr Vocabulary kExperiments = {
    .prefixes = kOtherPrefixes, .attributes = kExperimentAttributes, .tags_may_be_null = true};
constexpr Vocabulary kModels = {.prefixes = kOtherPrefixes, .attributes = kModelAttributes};
constexpr Vocabulary kVersions = {.prefixes = kOtherPrefixes, .attributes = kVersionAttributes};
constexpr Vocabulary kLogged = {.prefixes = kLoggedPrefixes,
                                .attributes = kLoggedAttributes,
                                .texts_take_lists = true,
                                .numbers_may_be_texts = true};

}  // namespace

const Vocabulary& vocabulary_of(Subject subject) {
  switch (subject) {
    case Subject::Runs: return kRuns;
    case Subject::Experiments: return kExperiments;
    case Subject::RegisteredModels: return kModels;
    case Subject::ModelVersions: return kVersions;
    case Subject::LoggedModels: return kLogged;
  }
  CHECK(false, "every subject has a vocabulary");
}

}  // namespace berth::wire::mlflow
