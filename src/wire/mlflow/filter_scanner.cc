// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/filter_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace berth::wire::mlflow {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Letters of other alphabets are bytes above 127.
bool is_word_start(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
         static_cast<unsigned char>(letter) >= 0x80;
}

bool is_word_part(char letter) { return is_word_start(letter) || is_digit(letter); }

bool is_space(char letter) {
  return std::string_view(" \t\n\r\f\v").find(letter) != std::string_view::npos;
}

bool is_quote(char letter) { return letter == '\'' || letter == '"' || letter == '`'; }

std::size_t digits_end(std::string_view text, std::size_t place) {
  while (place < text.size() && is_digit(text[place])) ++place;
  return place;
}

/// The end of "-1.5e+3" that begins at `place`; `place` itself when no number does.
std::size_t number_end(std::string_view text, std::size_t place) {
  const std::size_t begin = place;
  if (place < text.size() && text[place] == '-') ++place;
  const std::size_t whole = digits_end(text, place);
  std::size_t end = whole;
  if (end < text.size() && text[end] == '.') end = digits_end(text, end + 1);
  const bool has_digits = whole > place || end > whole + 1;
  if (!has_digits) return begin;
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t power = end + 1;
    if (power < text.size() && (text[power] == '+' || text[power] == '-')) ++power;
    if (const std::size_t power_end = digits_end(text, power); power_end > power) end = power_end;
  }
  return end;
}

/// Without the quotes around all of it, if it has any.
std::string_view unquoted(std::string_view key) {
  const bool is_whole = key.size() >= 2 && is_quote(key.front()) && key.front() == key.back();
  return is_whole ? key.substr(1, key.size() - 2) : key;
}

}  // namespace

void Scanner::skip_space() {
  while (!at_end() && is_space(text_[place_])) ++place_;
}

std::string_view Scanner::word_at(std::size_t place) const {
  std::size_t end = place;
  while (end < text_.size() && is_word_part(text_[end])) ++end;
  return text_.substr(place, end - place);
}

bool Scanner::take_word(std::string_view word) {
  const std::string_view found = word_at(place_);
  const std::size_t end = place_ + found.size();
  const bool is_column = end < text_.size() && text_[end] == '.';
  if (is_column || !equals_ignoring_case(found, word)) return false;
  place_ = end;
  return true;
}

bool Scanner::take(char sign) {
  if (peek() != sign) return false;
  ++place_;
  return true;
}

std::size_t Scanner::quoted_length(std::size_t place) const {
  const char quote = text_[place];
  std::size_t fallback = 0;
  for (std::size_t index = place + 1; index < text_.size(); ++index) {
    const bool is_pair = index + 1 < text_.size() && text_[index + 1] == quote;
    if (quote != '`' && is_pair && (text_[index] == quote || text_[index] == '\\')) {
      // A doubled or escaped quote, unless the text has no other end: 'C:\' ends where it seems to.
      fallback = (text_[index] == quote ? index : index + 1) + 1 - place;
      ++index;
    } else if (text_[index] == quote) {
      return index + 1 - place;
    }
  }
  return fallback;
}

Result<std::size_t> Scanner::segment_end(std::size_t place, bool is_first) const {
  if (place < text_.size() && is_quote(text_[place])) {
    const std::size_t length = quoted_length(place);
    if (length == 0) return wrong(place, kOpenQuote);
    return place + length;
  }
  const std::string_view word = word_at(place);
  const bool is_word = !word.empty() && (is_word_start(word.front()) || !is_first);
  // After a dot "1a" is a key, and "1" the rest of a number that does not belong there.
  const bool is_number = std::ranges::all_of(word, is_digit);
  if (is_word && !is_number) return place + word.size();
  if (!is_first) {
    return wrong(place, fmt::format("expected a key after the dot, found {}{}", found_at(place),
                                    kQuoteKeys));
  }
  return wrong(place,
               fmt::format("expected the name of what to compare, found {}", found_at(place)));
}

Result<Identifier> Scanner::identifier() {
  if (peek() == '\'') {
    return wrong(place_, "a text stands on the left; the column comes first, then the value");
  }
  const std::size_t first_end = TRY(segment_end(place_, true));
  Identifier found{.at = place_, .key_at = place_};
  std::size_t end = first_end;
  while (end < text_.size() && text_[end] == '.') end = TRY(segment_end(end + 1, false));
  if (end == first_end) {
    found.key = unquoted(text_.substr(place_, end - place_));
  } else {
    found.key_at = first_end + 1;
    found.prefix = text_.substr(place_, first_end - place_);
    found.key = unquoted(text_.substr(found.key_at, end - found.key_at));
  }
  place_ = end;
  return found;
}

std::string_view Scanner::comparison_signs() {
  std::size_t end = place_;
  while (end < text_.size() && std::string_view("<>=!").find(text_[end]) != std::string_view::npos)
    ++end;
  const std::string_view signs = text_.substr(place_, end - place_);
  place_ = end;
  return signs;
}

std::optional<std::string_view> Scanner::quoted() {
  if (peek() != '\'' && peek() != '"') return std::nullopt;
  const std::size_t length = quoted_length(place_);
  if (length == 0) return std::nullopt;
  const std::string_view inside = text_.substr(place_ + 1, length - 2);
  place_ += length;
  return inside;
}

Result<std::optional<double>> Scanner::number() {
  const std::size_t end = number_end(text_, place_);
  if (end == place_) return std::optional<double>();
  if (end < text_.size() && (is_word_part(text_[end]) || text_[end] == '.')) {
    return wrong(place_, fmt::format("{} is not a number", found_at(place_)));
  }
  const std::string digits(text_.substr(place_, end - place_));
  place_ = end;
  return std::optional<double>(std::strtod(digits.c_str(), nullptr));
}

tl::unexpected<Error> Scanner::wrong(std::size_t place, std::string_view problem) const {
  // Continuation bytes are no characters of their own.
  const auto characters = std::ranges::count_if(text_.substr(0, place), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U;
  });
  return fail(Code::InvalidArgument,
              fmt::format("invalid {} at character {}: {}", what_, characters + 1, problem),
              std::string(what_));
}

std::string Scanner::found_at(std::size_t place) const {
  if (place >= text_.size()) return "the end";
  std::size_t end = place;
  while (end < text_.size() && !is_space(text_[end]) && end - place < 40) ++end;
  if (end == place) return "a space";
  return fmt::format("'{}'", to_valid_utf8(text_.substr(place, end - place)));
}

}  // namespace berth::wire::mlflow
