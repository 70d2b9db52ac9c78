// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/syntax.h"

#include <fmt/format.h>

#include <charconv>

namespace berth::lang::arm_template {
namespace {

constexpr std::size_t kLongest = 24'576;  // As in Azure.
constexpr int kDeepest = 64;
constexpr std::size_t kShown = 100;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Expression> whole() {
    at_ = 1;  // Behind the '['.
    Expression expression = TRY(read());
    skip_blanks();
    if (at_ + 1 != text_.size()) return wrong("there is more than one expression");
    return expression;
  }

 private:
  char peek() const { return at_ + 1 < text_.size() ? text_[at_] : '\0'; }  // Not the last ']'.
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(Code::InvalidArgument, fmt::format("{} {}", what, place_in(text_, at_)));
  }

  Result<Expression> read() {
    if (++depth_ > kDeepest) return wrong(fmt::format("more than {} levels", kDeepest));
    Expression expression = TRY(read_first());
    while (true) {
      skip_blanks();
      const std::size_t at = at_;
      if (take('.')) {
        expression = TRY(read_member(std::move(expression), at));
      } else if (take('[')) {
        expression = TRY(read_index(std::move(expression), at));
      } else {
        break;
      }
      // Each is one level more for whoever walks the tree.
      if (++chained_ > kLongest / 64) return wrong("too many members and indices");
    }
    --depth_;
    return expression;
  }

  Result<Expression> read_first() {
    skip_blanks();
    const char next = peek();
    if (next == '\'') return read_text();
    if (is_digit(next) || next == '-' || next == '+') return read_number();
    if (is_letter(next)) return read_call();
    return wrong(next == '\0' ? "the expression ends too early" : "this is no expression");
  }

  Result<Expression> read_text() {
    Expression text{.kind = Expression::Kind::Text, .at = at_++};
    while (peek() != '\0') {
      const char next = text_[at_++];
      if (next != '\'') {
        text.name += next;
      } else if (peek() == '\'') {  // Two stand for one.
        text.name += '\'';
        ++at_;
      } else {
        return text;
      }
    }
    at_ = text.at;
    return wrong("the text that begins here has no end");
  }

  Result<Expression> read_number() {
    Expression number{.kind = Expression::Kind::Number, .at = at_};
    const std::size_t first = peek() == '+' ? at_ + 1 : at_;
    if (peek() == '-' || peek() == '+') ++at_;
    while (is_digit(peek())) ++at_;
    const char* end = text_.data() + at_;
    const auto [stopped, failed] = std::from_chars(text_.data() + first, end, number.number);
    if (failed == std::errc() && stopped == end && !is_letter(peek())) return number;
    at_ = number.at;
    return wrong("this is not a whole number of 64 bits");
  }

  /// Letters and digits, and the '.' of a function that the template defines.
  std::string read_name(bool takes_dots) {
    const std::size_t first = at_;
    while (is_letter(peek()) || is_digit(peek()) || (takes_dots && peek() == '.')) ++at_;
    return std::string(text_.substr(first, at_ - first));
  }

  Result<Expression> read_call() {
    Expression call{.kind = Expression::Kind::Call, .at = at_};
    call.name = read_name(true);
    if (!take('(')) {
      at_ = call.at;
      return wrong(fmt::format("'{}' is followed by no '('; text stands in single quotes",
                               call.name.substr(0, kShown)));
    }
    if (take(')')) return call;
    do {
      call.parts.push_back(TRY(read()));
    } while (take(','));
    if (!take(')')) return wrong("expected ',' or ')'");
    return call;
  }

  Result<Expression> read_member(Expression of, std::size_t at) {
    Expression member{.kind = Expression::Kind::Member, .at = at};
    member.is_safe = take('?');
    skip_blanks();
    if (!is_letter(peek())) return wrong("expected a name");
    member.name = read_name(false);
    member.parts.push_back(std::move(of));
    return member;
  }

  Result<Expression> read_index(Expression of, std::size_t at) {
    Expression index{.kind = Expression::Kind::Index, .at = at};
    index.is_safe = take('?');
    index.parts.push_back(std::move(of));
    index.parts.push_back(TRY(read()));
    if (!take(']')) return wrong("expected ']'");
    return index;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t chained_ = 0;
};

}  // namespace

bool is_expression(std::string_view text) {
  return text.size() >= 2 && text.front() == '[' && text.back() == ']' && !text.starts_with("[[");
}

std::string literal_of(std::string_view text) {
  if (text.starts_with("[[") && text.ends_with(']')) text.remove_prefix(1);
  return std::string(text);
}

std::string place_in(std::string_view text, std::size_t at) {
  const bool is_long = text.size() > kShown;
  return fmt::format("at character {} of \"{}{}\"", at + 1, text.substr(0, kShown),
                     is_long ? "…" : "");
}

Result<Expression> parse_expression(std::string_view text) {
  if (text.size() > kLongest) {
    return fail(Code::TooLarge, fmt::format("an expression has at most {} characters", kLongest));
  }
  return Parser(text).whole();
}

void for_each_call(const Expression& expression,
                   const std::function<void(const Expression&)>& found) {
  if (expression.kind == Expression::Kind::Call) found(expression);
  for (const Expression& part : expression.parts) for_each_call(part, found);
}

}  // namespace berth::lang::arm_template
