// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth {

/// Why an operation failed, in terms a caller can act on. Each code has exactly one HTTP status and
/// one ARM error code (wire/arm/error.h) and one exit status (cli), so adding one is an API change.
enum class Code {
  InvalidArgument,  ///< The request is wrong; repeating it cannot help.
  Unauthenticated,  ///< No token, or not one of ours.
  Forbidden,        ///< A valid token that may not do this.
  NotFound,
  Conflict,      ///< Exists with other content, or not possible in this state.
  TooLarge,      ///< Over a limit that the message names.
  NotSupported,  ///< A real feature that Berth does not have (yet).
  Unavailable,   ///< May pass: the only code that is worth a retry.
  OutOfSpace,    ///< The disk is full; passes when somebody makes room.
  Internal,      ///< Our own fault.
};

struct Error {
  Code code = Code::Internal;
  std::string message{};  ///< Lower case, no full stop: it is printed after "error: ".
  std::string target{};   ///< The field at fault, dotted, when there is one: "inputs.rows.path".
};

/// A value, or the reason there is none.
template <typename T>
using Result = tl::expected<T, Error>;

struct Done {};
using Status = Result<Done>;

/// `return fail(Code::NotFound, "no job 'train-7'");`
inline tl::unexpected<Error> fail(Code code, std::string message, std::string target = {}) {
  return tl::unexpected<Error>({code, std::move(message), std::move(target)});
}

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace berth

/// Unwraps a Result, or returns its error from the enclosing function. The only control-flow macro.
/// `TRY(expr);` also serves for a Status. Not usable inside a coroutine. Leaving from the middle of
/// an expression skips the destructors of what that expression has already made: in a braced list
/// or beside other arguments, take the value in a statement of its own first.
#define TRY(...) BERTH_TRY(BERTH_TRY_NAME(try_result_, __COUNTER__), __VA_ARGS__)

// A name of its own for each use, so that uses can be nested.
#define BERTH_TRY_NAME(prefix, number) BERTH_TRY_JOIN(prefix, number)
#define BERTH_TRY_JOIN(prefix, number) prefix##number
#define BERTH_TRY(name, ...)                                                   \
  __extension__({                                                              \
    auto name = (__VA_ARGS__);                                                 \
    if (!name) return tl::unexpected<::berth::Error>(std::move(name).error()); \
    std::move(*std::move(name));                                               \
  })
