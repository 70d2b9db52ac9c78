// SPDX-License-Identifier: Apache-2.0
// Which words may be said about which subject of a search, and how they may be compared.
#pragma once

#include <span>
#include <string_view>

#include "wire/mlflow/filter.h"

namespace berth::wire::mlflow {

struct Attribute {
  std::string_view word;
  std::string_view key;  ///< Its canonical name; most are called by it.
  enum class Type { Text, Number, NumberOrDigits } type = Type::Text;
  bool takes_list = false;
  enum class Use { Both, FilterOnly, OrderOnly } use = Use::Both;
};

struct Prefix {
  std::string_view word;
  model::Entity entity;
};

/// What one subject knows.
struct Vocabulary {
  std::span<const Prefix> prefixes;
  std::span<const Attribute> attributes;
  bool params_may_be_null = false;
  bool tags_may_be_null = false;
  bool texts_take_lists = false;      ///< IN for tags and params too.
  bool numbers_may_be_texts = false;  ///< params.lr = 0.1, which others want quoted.
};

const Vocabulary& vocabulary_of(Subject subject);

}  // namespace berth::wire::mlflow
