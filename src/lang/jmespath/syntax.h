// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/jmespath/token.h"

namespace berth::lang::jmespath {

/// A part of an expression. What its children are depends on its kind.
struct Node {
  enum class Kind {
    Current,           ///< @
    Field,             ///< text
    Literal,           ///< literal
    Index,             ///< of children[0]; number
    Slice,             ///< of children[0]; bounds
    Chain,             ///< children[0].children[1]
    Projection,        ///< children[1] for each element of the list children[0]
    ValueProjection,   ///< children[1] for each value of the object children[0]
    FilterProjection,  ///< children[1] for those elements of children[0] where children[2]
    Flatten,           ///< children[0] with its inner lists opened once
    MultiList,         ///< [children…]
    MultiHash,         ///< {keys[i]: children[i]…}
    Pipe,
    Or,
    And,
    Not,
    Comparison,  ///< children[0] compared with children[1]; operation
    Function,    ///< text(children…)
    Reference,   ///< &children[0]
  };

  Kind kind = Kind::Current;
  std::size_t at = 0;  ///< Its first byte in the expression.
  std::string text{};
  boost::json::value literal = nullptr;
  std::int64_t number = 0;
  std::array<std::optional<std::int64_t>, 3> bounds{};  ///< start:stop:step
  Token::Kind operation = Token::Kind::End;
  std::vector<std::string> keys{};
  std::vector<Node> children{};
  std::size_t depth = 1;
};

/// The tree of an expression. Functions exist and have as many arguments as they take.
Result<Node> parse(std::string_view expression);

}  // namespace berth::lang::jmespath
