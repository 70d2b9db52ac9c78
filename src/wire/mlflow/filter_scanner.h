// SPDX-License-Identifier: Apache-2.0
// The words, quotes, numbers and signs of a search, each with its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::wire::mlflow {

inline constexpr std::string_view kOpenQuote = "this quote is not closed";
inline constexpr std::string_view kQuoteKeys =
    "; a key with other characters than letters, digits and '_' is written in backticks";

/// A column: `prefix` is "metrics" in metrics.`a b`, and empty where there is no dot; `key` is
/// without its quotes.
struct Identifier {
  std::optional<std::string> prefix{};
  std::string key{};
  std::size_t at = 0;      ///< Of its first byte.
  std::size_t key_at = 0;  ///< Of the key.
};

/// Reads from the left; every function either takes what it is named for, or leaves the place where
/// it was and gives nothing or an error.
class Scanner {
 public:
  /// `what` is said in errors: "filter".
  Scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  void skip_space();
  bool at_end() const { return place_ == text_.size(); }
  std::size_t place() const { return place_; }
  std::string_view taken_since(std::size_t place) const {
    return text_.substr(place, place_ - place);
  }
  char peek() const { return at_end() ? '\0' : text_[place_]; }

  /// Takes the word, in any case, when it stands here alone.
  bool take_word(std::string_view word);
  bool take(char sign);
  Result<Identifier> identifier();
  /// The longest run of <, >, = and !; empty when there is none.
  std::string_view comparison_signs();
  /// A text in single or double quotes, as it stands between them.
  std::optional<std::string_view> quoted();
  Result<std::optional<double>> number();

  /// InvalidArgument: "invalid filter at character 12: <problem>".
  tl::unexpected<Error> wrong(std::size_t place, std::string_view problem) const;
  /// What stands at a place, for an error: "'OR'", "the end".
  std::string found_at(std::size_t place) const;

 private:
  std::string_view rest() const { return text_.substr(place_); }
  std::string_view word_at(std::size_t place) const;
  /// The length of the quoted text that begins at `place`, quotes included; 0: it has no end.
  std::size_t quoted_length(std::size_t place) const;
  Result<std::size_t> segment_end(std::size_t place, bool is_first) const;

  std::string_view text_;
  std::string_view what_;
  std::size_t place_ = 0;
};

}  // namespace berth::wire::mlflow
