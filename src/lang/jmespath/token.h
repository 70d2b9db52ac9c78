// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::lang::jmespath {

struct Token {
  enum class Kind {
    End,
    Name,
    QuotedName,
    Literal,
    Number,
    Dot,
    Star,
    Flatten,  ///< []
    Filter,   ///< [?
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Comma,
    Colon,
    Current,
    Reference,  ///< &
    Pipe,
    Or,
    And,
    Not,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
  };

  Kind kind = Kind::End;
  std::size_t at = 0;  ///< Its first byte in the expression.
  std::string text{};  ///< As it is written; of a quoted name, what it means.
  std::int64_t number = 0;
  boost::json::value literal = nullptr;
};

/// The words of an expression; the last one is End.
Result<std::vector<Token>> tokenize(std::string_view expression);

/// "<kind> at character <n>: <problem>"; characters are counted from 1, as people do.
tl::unexpected<Error> error_at(std::string_view kind, std::string_view expression, std::size_t byte,
                               std::string_view problem);

}  // namespace berth::lang::jmespath
