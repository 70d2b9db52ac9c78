// SPDX-License-Identifier: Apache-2.0
// Top-down operator precedence: each sign says how strongly it binds what stands left of it.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lang/jmespath/function.h"
#include "lang/jmespath/syntax.h"

namespace berth::lang::jmespath {
namespace {

using Kind = Token::Kind;

/// Deeper trees are nobody's intention; evaluation and destruction walk them recursively. Reading
/// what is nested takes several times the stack that walking it takes.
constexpr std::size_t kDeepest = 500;
constexpr std::size_t kDeepestNesting = 150;

// Signs below kStopsProjection end what a projection applies to each element.
constexpr int kFlattenPower = 9;
constexpr int kStopsProjection = 10;
constexpr int kStarPower = 20;
constexpr int kFilterPower = 21;
constexpr int kDotPower = 40;
constexpr int kNotPower = 45;

int power_of(Kind kind) {
  switch (kind) {
    case Kind::Pipe: return 1;
    case Kind::Or: return 2;
    case Kind::And: return 3;
    case Kind::Equal:
    case Kind::NotEqual:
    case Kind::Less:
    case Kind::LessOrEqual:
    case Kind::Greater:
    case Kind::GreaterOrEqual: return 5;
    case Kind::Flatten: return kFlattenPower;
    case Kind::Star: return kStarPower;
    case Kind::Filter: return kFilterPower;
    case Kind::Dot: return kDotPower;
    case Kind::Not: return kNotPower;
    case Kind::LeftBrace: return 50;
    case Kind::LeftBracket: return 55;
    case Kind::LeftParen: return 60;
    default: return 0;
  }
}

Node make(Node::Kind kind, std::size_t at, std::vector<Node> children = {}) {
  std::size_t depth = 0;
  for (const Node& child : children) depth = std::max(depth, child.depth);
  return {.kind = kind, .at = at, .children = std::move(children), .depth = depth + 1};
}

template <typename... Children>
Node join(Node::Kind kind, std::size_t at, Children... children) {
  std::vector<Node> list;
  (list.push_back(std::move(children)), ...);
  return make(kind, at, std::move(list));
}

std::string described(const Token& token) {
  if (token.kind == Kind::End) return "the end of the expression";
  return fmt::format("'{}'", token.text);
}

class Parser {
 public:
  Parser(std::string_view expression, std::vector<Token> tokens)
      : expression_(expression), tokens_(std::move(tokens)) {}

  Result<Node> parse() {
    Node node = TRY(expression(0));
    if (peek().kind != Kind::End) return unexpected(peek());
    return node;
  }

 private:
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() { return tokens_[std::min(next_++, tokens_.size() - 1)]; }

  bool take_if(Kind kind) {
    if (peek().kind != kind) return false;
    ++next_;
    return true;
  }

  Status expect(Kind kind, std::string_view sign) {
    if (take_if(kind)) return Done{};
    return wrong(peek(), fmt::format("'{}' is needed here, not {}", sign, described(peek())));
  }

  tl::unexpected<Error> wrong(const Token& token, std::string_view problem) const {
    return error_at("syntax", expression_, token.at, problem);
  }
  tl::unexpected<Error> unexpected(const Token& token) const {
    if (token.kind == Kind::End) return wrong(token, "the expression is not complete");
    return wrong(token, fmt::format("{} cannot stand here", described(token)));
  }

  /// What binds more strongly than `power` belongs to this expression.
  Result<Node> expression(int power) {
    if (++nesting_ > kDeepestNesting) return wrong(peek(), "the expression is nested too deeply");
    Node left = TRY(beginning());
    while (power < power_of(peek().kind)) {
      left = TRY(continuation(std::move(left)));
      if (left.depth > kDeepest) return wrong(peek(), "the expression is too long");
    }
    --nesting_;
    return left;
  }

  /// What may start an expression.
  Result<Node> beginning() {
    const Token token = take();
    switch (token.kind) {
      case Kind::Literal: return with_literal(token);
      case Kind::Name: return field(token);
      case Kind::QuotedName:
        if (peek().kind == Kind::LeftParen) {
          return wrong(token, "the name of a function has no quotes");
        }
        return field(token);
      case Kind::Current: return make(Node::Kind::Current, token.at);
      case Kind::Star: return value_projection(make(Node::Kind::Current, token.at), kStarPower);
      case Kind::Filter: return filter(make(Node::Kind::Current, token.at), token.at);
      case Kind::Flatten: return flatten(make(Node::Kind::Current, token.at), token.at);
      case Kind::LeftBrace: return multi_hash(token.at);
      case Kind::LeftBracket: return bracket_at_beginning(token.at);
      case Kind::LeftParen: return parenthesis();
      case Kind::Not: return join(Node::Kind::Not, token.at, TRY(expression(kNotPower)));
      case Kind::Reference: return join(Node::Kind::Reference, token.at, TRY(expression(0)));
      default: return unexpected(token);
    }
  }

  /// What may follow one.
  Result<Node> continuation(Node left) {
    const Token token = take();
    switch (token.kind) {
      case Kind::Dot: return dot(std::move(left), token.at);
      case Kind::Pipe: return binary(Node::Kind::Pipe, std::move(left), token);
      case Kind::Or: return binary(Node::Kind::Or, std::move(left), token);
      case Kind::And: return binary(Node::Kind::And, std::move(left), token);
      case Kind::Equal:
      case Kind::NotEqual:
      case Kind::Less:
      case Kind::LessOrEqual:
      case Kind::Greater:
      case Kind::GreaterOrEqual: return binary(Node::Kind::Comparison, std::move(left), token);
      case Kind::Flatten: return flatten(std::move(left), token.at);
      case Kind::Filter: return filter(std::move(left), token.at);
      case Kind::LeftBracket: return bracket(std::move(left), token.at);
      case Kind::LeftParen: return call(left, token);
      default: return unexpected(token);
    }
  }

  static Node field(const Token& token) {
    Node node = make(Node::Kind::Field, token.at);
    node.text = token.text;
    return node;
  }

  static Node with_literal(const Token& token) {
    Node node = make(Node::Kind::Literal, token.at);
    node.literal = token.literal;
    return node;
  }

  Result<Node> parenthesis() {
    Node inside = TRY(expression(0));
    TRY(expect(Kind::RightParen, ")"));
    return inside;
  }

  Result<Node> binary(Node::Kind kind, Node left, const Token& token) {
    Node right = TRY(expression(power_of(token.kind)));
    Node node = join(kind, token.at, std::move(left), std::move(right));
    node.operation = token.kind;
    return node;
  }

  Result<Node> dot(Node left, std::size_t at) {
    if (take_if(Kind::Star)) return value_projection(std::move(left), kDotPower);
    Node right = TRY(behind_dot(kDotPower));
    return join(Node::Kind::Chain, at, std::move(left), std::move(right));
  }

  Result<Node> behind_dot(int power) {
    switch (peek().kind) {
      case Kind::Name:
      case Kind::QuotedName:
      case Kind::Star: return expression(power);
      case Kind::LeftBracket: return multi_list(take().at);
      case Kind::LeftBrace: return multi_hash(take().at);
      default: break;
    }
    return wrong(peek(), fmt::format("behind '.' comes a name, '*', '[' or '{{', not {}",
                                     described(peek())));
  }

  /// What a projection applies to each element.
  Result<Node> each(int power) {
    const Kind kind = peek().kind;
    if (power_of(kind) < kStopsProjection) return make(Node::Kind::Current, peek().at);
    if (kind == Kind::LeftBracket || kind == Kind::Filter) return expression(power);
    if (!take_if(Kind::Dot)) return unexpected(peek());
    return behind_dot(power);
  }

  Result<Node> value_projection(Node of, int power) {
    const std::size_t at = of.at;
    Node right = TRY(each(power));
    return join(Node::Kind::ValueProjection, at, std::move(of), std::move(right));
  }

  Result<Node> projection(Node of, std::size_t at, int power) {
    Node right = TRY(each(power));
    return join(Node::Kind::Projection, at, std::move(of), std::move(right));
  }

  Result<Node> flatten(Node of, std::size_t at) {
    return projection(join(Node::Kind::Flatten, at, std::move(of)), at, kFlattenPower);
  }

  Result<Node> filter(Node of, std::size_t at) {
    Node condition = TRY(expression(0));
    TRY(expect(Kind::RightBracket, "]"));
    Node right = TRY(each(kFilterPower));
    return join(Node::Kind::FilterProjection, at, std::move(of), std::move(right),
                std::move(condition));
  }

  bool is_index() const { return peek().kind == Kind::Number || peek().kind == Kind::Colon; }

  Result<Node> bracket_at_beginning(std::size_t at) {
    if (is_index()) return index_or_slice(make(Node::Kind::Current, at), at);
    if (peek().kind == Kind::Star && peek(1).kind == Kind::RightBracket) {
      next_ += 2;
      return projection(make(Node::Kind::Current, at), at, kStarPower);
    }
    return multi_list(at);
  }

  Result<Node> bracket(Node left, std::size_t at) {
    if (is_index()) return index_or_slice(std::move(left), at);
    TRY(expect(Kind::Star, "*"));
    TRY(expect(Kind::RightBracket, "]"));
    return projection(std::move(left), at, kStarPower);
  }

  Result<Node> index_or_slice(Node of, std::size_t at) {
    if (peek().kind != Kind::Colon && peek(1).kind != Kind::Colon) {
      Node node = join(Node::Kind::Index, at, std::move(of));
      node.number = take().number;
      TRY(expect(Kind::RightBracket, "]"));
      return node;
    }
    Node node = join(Node::Kind::Slice, at, std::move(of));
    for (std::size_t part = 0; part < node.bounds.size(); ++part) {
      if (peek().kind == Kind::Number) node.bounds[part] = take().number;
      if (peek().kind != Kind::Colon || part + 1 == node.bounds.size()) break;
      ++next_;
    }
    TRY(expect(Kind::RightBracket, "]"));
    return projection(std::move(node), at, kStarPower);
  }

  Result<Node> multi_list(std::size_t at) {
    std::vector<Node> parts;
    do {
      parts.push_back(TRY(expression(0)));
    } while (take_if(Kind::Comma));
    TRY(expect(Kind::RightBracket, "]"));
    return make(Node::Kind::MultiList, at, std::move(parts));
  }

  Result<Node> multi_hash(std::size_t at) {
    std::vector<Node> parts;
    std::vector<std::string> keys;
    do {
      const Token key = take();
      if (key.kind != Kind::Name && key.kind != Kind::QuotedName) {
        return wrong(key, fmt::format("a key is needed here, not {}", described(key)));
      }
      keys.push_back(key.text);
      TRY(expect(Kind::Colon, ":"));
      parts.push_back(TRY(expression(0)));
    } while (take_if(Kind::Comma));
    TRY(expect(Kind::RightBrace, "}"));
    Node node = make(Node::Kind::MultiHash, at, std::move(parts));
    node.keys = std::move(keys);
    return node;
  }

  Result<Node> call(const Node& name, const Token& parenthesis) {
    if (name.kind != Node::Kind::Field) return wrong(parenthesis, "no function's name before '('");
    std::vector<Node> arguments;
    if (!take_if(Kind::RightParen)) {
      do {
        arguments.push_back(TRY(expression(0)));
      } while (take_if(Kind::Comma));
      TRY(expect(Kind::RightParen, ")"));
    }
    Node node = make(Node::Kind::Function, name.at, std::move(arguments));
    node.text = name.text;
    TRY(check_call(node));
    return node;
  }

  Status check_call(const Node& call) const {
    const Function* function = find_function(call.text);
    if (function == nullptr) {
      const auto near = nearest(call.text, function_names());
      return error_at("unknown-function", expression_, call.at,
                      fmt::format("there is no function '{}'{}", call.text,
                                  near ? fmt::format("; did you mean '{}'?", *near) : ""));
    }
    const std::size_t wanted = function->parameters.size();
    const std::size_t given = call.children.size();
    if (given == wanted || (given > wanted && function->is_variadic)) return Done{};
    return error_at("invalid-arity", expression_, call.at,
                    fmt::format("{}() takes {}{} argument{}, not {}", call.text,
                                function->is_variadic ? "at least " : "", wanted,
                                wanted == 1 ? "" : "s", given));
  }

  std::string_view expression_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::size_t nesting_ = 0;
};

}  // namespace

Result<Node> parse(std::string_view expression) {
  std::vector<Token> tokens = TRY(tokenize(expression));
  return Parser(expression, std::move(tokens)).parse();
}

}  // namespace berth::lang::jmespath
