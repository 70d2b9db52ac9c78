// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "lang/jmespath/token.h"

namespace berth::lang::jmespath {
namespace {

namespace json = boost::json;
using Kind = Token::Kind;

/// Longer ones first: "[?" is not "[".
constexpr std::array<std::pair<std::string_view, Kind>, 24> kSigns = {{
    {"[]", Kind::Flatten},     {"[?", Kind::Filter},
    {"||", Kind::Or},          {"&&", Kind::And},
    {"==", Kind::Equal},       {"!=", Kind::NotEqual},
    {"<=", Kind::LessOrEqual}, {">=", Kind::GreaterOrEqual},
    {".", Kind::Dot},          {"*", Kind::Star},
    {"[", Kind::LeftBracket},  {"]", Kind::RightBracket},
    {"{", Kind::LeftBrace},    {"}", Kind::RightBrace},
    {"(", Kind::LeftParen},    {")", Kind::RightParen},
    {",", Kind::Comma},        {":", Kind::Colon},
    {"@", Kind::Current},      {"&", Kind::Reference},
    {"|", Kind::Pipe},         {"!", Kind::Not},
    {"<", Kind::Less},         {">", Kind::Greater},
}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The character that begins at `byte`, whole.
std::string_view character_at(std::string_view text, std::size_t byte) {
  std::size_t end = byte + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
  return text.substr(byte, end - byte);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(from)) {
      result += to;
      at += from.size();
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::optional<json::value> parse_json(std::string_view text) {
  json::error_code failed;
  json::value value = json::parse({text.data(), text.size()}, failed);
  if (failed) return std::nullopt;
  return value;
}

/// Splits an expression from its beginning to its end.
class Lexer {
 public:
  explicit Lexer(std::string_view expression) : all_(expression) {}

  Result<std::vector<Token>> tokenize() {
    std::vector<Token> tokens;
    while (true) {
      while (at_ < all_.size() && is_space(all_[at_])) ++at_;
      if (at_ == all_.size()) break;
      tokens.push_back(TRY(next()));
    }
    tokens.push_back({.kind = Kind::End, .at = at_});
    return tokens;
  }

 private:
  Result<Token> next() {
    const char c = all_[at_];
    if (is_letter(c)) return name();
    if (is_digit(c) || c == '-') return number();
    if (c == '"') return quoted_name();
    if (c == '\'') return raw_string();
    if (c == '`') return literal();
    for (const auto& [sign, kind] : kSigns) {
      if (!all_.substr(at_).starts_with(sign)) continue;
      Token token{.kind = kind, .at = at_, .text = std::string(sign)};
      at_ += sign.size();
      return token;
    }
    const std::string_view hint = c == '=' ? "; to compare, write '=='" : "";
    return wrong(at_, fmt::format("'{}' means nothing here{}", character_at(all_, at_), hint));
  }

  Token name() {
    const std::size_t start = at_;
    while (at_ < all_.size() && (is_letter(all_[at_]) || is_digit(all_[at_]))) ++at_;
    return {.kind = Kind::Name, .at = start, .text = std::string(all_.substr(start, at_ - start))};
  }

  Result<Token> number() {
    const std::size_t start = at_++;
    while (at_ < all_.size() && is_digit(all_[at_])) ++at_;
    Token token{
        .kind = Kind::Number, .at = start, .text = std::string(all_.substr(start, at_ - start))};
    const char* end = token.text.data() + token.text.size();
    const auto read = std::from_chars(token.text.data(), end, token.number);
    if (read.ec == std::errc() && read.ptr == end) return token;
    return wrong(start, fmt::format("'{}' is not a number that can be counted to", token.text));
  }

  /// What stands between two delimiters; a backslash keeps the next character from ending it.
  Result<std::string_view> delimited(char delimiter) {
    const std::size_t start = at_++;
    while (at_ < all_.size() && all_[at_] != delimiter) at_ += all_[at_] == '\\' ? 2 : 1;
    if (at_ >= all_.size()) {
      return wrong(start, fmt::format("the {} that begins here has no end", delimiter));
    }
    return all_.substr(start + 1, at_++ - start - 1);
  }

  Result<Token> quoted_name() {
    const std::size_t start = at_;
    const std::string_view inside = TRY(delimited('"'));
    const auto value = parse_json(fmt::format("\"{}\"", inside));
    if (!value) return wrong(start, fmt::format("\"{}\" is not a JSON string", inside));
    return Token{.kind = Kind::QuotedName, .at = start, .text = std::string(value->get_string())};
  }

  Result<Token> raw_string() {
    const std::size_t start = at_;
    const std::string_view inside = TRY(delimited('\''));
    return Token{.kind = Kind::Literal,
                 .at = start,
                 .text = std::string(all_.substr(start, at_ - start)),
                 .literal = json::string(replaced(inside, "\\'", "'"))};
  }

  Result<Token> literal() {
    const std::size_t start = at_;
    const std::string inside = replaced(TRY(delimited('`')), "\\`", "`");
    Token token{
        .kind = Kind::Literal, .at = start, .text = std::string(all_.substr(start, at_ - start))};
    std::optional<json::value> value = parse_json(inside);
    if (!value) {
      // Many scripts have `text` without quotes, from before the language had 'text'.
      const std::size_t first = std::min(inside.find_first_not_of(" \t\n\r"), inside.size());
      value = parse_json(fmt::format("\"{}\"", inside.substr(first)));
    }
    if (!value) return wrong(start, fmt::format("`{}` is not JSON", inside));
    token.literal = *std::move(value);
    return token;
  }

  tl::unexpected<Error> wrong(std::size_t byte, std::string_view problem) const {
    return error_at("syntax", all_, byte, problem);
  }

  std::string_view all_;
  std::size_t at_ = 0;
};

}  // namespace

tl::unexpected<Error> error_at(std::string_view kind, std::string_view expression, std::size_t byte,
                               std::string_view problem) {
  std::size_t character = 1;
  for (const char c : expression.substr(0, byte)) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++character;
  }
  return fail(Code::InvalidArgument,
              fmt::format("{} error at character {}: {}", kind, character, problem));
}

Result<std::vector<Token>> tokenize(std::string_view expression) {
  return Lexer(expression).tokenize();
}

}  // namespace berth::lang::jmespath
