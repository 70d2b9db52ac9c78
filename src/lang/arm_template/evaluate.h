// SPDX-License-Identifier: Apache-2.0
// Evaluates the expressions of a template. Pure: the time, ids that are new, and what other
// resources look like come in as arguments; and bounded: a hostile template is refused.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "lang/arm_template/functions.h"
#include "lang/arm_template/syntax.h"

namespace berth::lang::arm_template {

inline constexpr std::int64_t kMostCopies = 800;

/// A `copy` that is being written out.
struct Loop {
  std::string name{};
  std::int64_t index = 0;
  bool is_of_property = false;  ///< Then copyIndex() without a name means another one.
};

/// The resource of that id or name as it is now: its properties, or all of it.
using Refer = std::function<Result<json::value>(const std::string& id_or_name, bool is_full)>;

/// What differs from one place in the template to another.
struct Frame {
  std::vector<Loop> loops{};
  /// Null: resources are not there yet. Expressions that ask for them are errors, or, with
  /// `references`, stay as they are and what they ask for is noted there.
  const Refer* refer = nullptr;
  std::set<std::string>* references = nullptr;
  bool is_default = false;  ///< Of a parameter: newGuid() and utcNow() are known.
  const json::object* own_parameters = nullptr;  ///< Of a function that the template defines.
};

/// What is new each time.
struct Fresh {
  WallTime now{};
  std::function<std::string()> new_guid{};
};

/// Parameters and variables are evaluated when they are first asked for, and once.
class Evaluator {
 public:
  /// `given` has values by name. The definition must outlive this.
  Evaluator(const json::object& definition, json::object given, Place place, Fresh fresh);

  /// The value with every expression in it evaluated and every `copy` written out. Errors have
  /// `path` and what lies below it as their target.
  Result<json::value> evaluate(const json::value& value, const Frame& frame,
                               const std::string& path);
  /// The same for a text that must be one.
  Result<std::string> evaluate_text(const json::value& value, const Frame& frame,
                                    const std::string& path);
  /// How often a `copy` of this count is made.
  Result<std::int64_t> evaluate_count(const json::value& value, const Frame& frame,
                                      const std::string& path);

  Result<json::value> parameter(std::string_view name);
  Result<json::value> variable(std::string_view name);

  const Place& place() const { return place_; }

 private:
  Result<json::value> evaluate_string(std::string_view text, const Frame& frame);
  Result<json::value> evaluate_object(const json::object& object, const Frame& frame,
                                      const std::string& path);
  Status write_out(const json::value& copy, json::object& into, const Frame& frame,
                   const std::string& path);
  Result<json::value> evaluate_part(const Expression& part, const Frame& frame);
  Result<json::value> call(const Expression& call, const Frame& frame);
  Result<json::value> call_special(const Expression& call, const Frame& frame, bool& is_special);
  Result<json::value> call_defined(const Expression& call, const Frame& frame);
  Result<json::value> index_of_copy(const Expression& call, const Frame& frame);
  Result<json::value> choose(const Expression& call, const Frame& frame);
  Result<json::value> refer(const Expression& call, const Frame& frame);
  Result<json::value> fresh(const Expression& call, const Frame& frame);
  Result<std::string> name_argument(const Expression& call, const Frame& frame);
  Status note_references(const Expression& whole, const Frame& frame, bool& has_any);

  const json::object& definition_;
  Place place_;
  Fresh fresh_;
  Budget budget_;
  std::map<std::string, json::value> parameters_;  ///< Settled; lower-case names.
  std::map<std::string, json::value> variables_;
  std::set<std::string> under_way_;
  int depth_ = 0;
};

/// Checks every expression in the value without evaluating it: that it can be read, and that its
/// functions are known and take so many arguments.
Status check_expressions(const json::value& value, const json::object& definition,
                         const std::string& path);

/// Adds where it was to an error that does not say so yet.
Error located(Error error, const std::string& path);

/// The part of the definition of that name, {} when there is none; of another kind is an error.
Result<const json::object*> section(const json::object& definition, std::string_view name);

}  // namespace berth::lang::arm_template
