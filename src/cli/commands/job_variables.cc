// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_variables.h"

#include <array>

#include "base/environment.h"
#include "base/text.h"
#include "io/files/file.h"
#include "model/site.h"

namespace berth::cli {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::size_t kLongestFile = 1024 * 1024;
constexpr auto kOwn =
    std::to_array<const char*>({"PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"});

tl::unexpected<Error> wrong(std::string message) {
  return fail(Code::InvalidArgument, std::move(message));
}

/// "NAME=VALUE", or "NAME" for the value that it has here. False: it has none.
Result<bool> add_one(const Context& context, std::string_view text, Variables& variables) {
  const std::size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  if (!model::is_variable_name(name)) {
    return wrong(fmt::format("'{}' cannot name an environment variable", printable(name)));
  }
  if (equals != text.npos) {
    variables[name] = text.substr(equals + 1);
    return true;
  }
  const auto here = context.place.environment.find(name);
  if (here == context.place.environment.end()) return false;
  variables[name] = here->second;
  return true;
}

/// As Docker reads it: a line is NAME=VALUE, taken as it stands, or NAME, which is left out when it
/// is not set here.
Status add_file(const Context& context, const std::string& path, Variables& variables) {
  const std::string text = TRY(io::read_file(context.place.absolute(path), kLongestFile));
  if (text.find('\0') != text.npos) return wrong(fmt::format("{}: it holds a NUL", path));
  std::size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == line.npos || line[start] == '#') continue;
    const auto added = add_one(context, line.substr(start), variables);
    if (!added) return wrong(fmt::format("{}:{}: {}", path, number, added.error().message));
  }
  return Done{};
}

void warn_of_secrets(const Context& context, const Variables& variables) {
  for (const auto& [name, value] : variables) {
    if (!looks_secret(name) || value.empty()) continue;
    context.console.warning(
        fmt::format("'{0}' looks like a secret, and 'berth job show' will show it; 'berth secret "
                    "set {0}' and --secret {0} keep it out of sight",
                    name));
  }
}

bool has_environment(const Context& context) {
  return !context.place.variable("VIRTUAL_ENV").empty() ||
         !context.place.variable("CONDA_PREFIX").empty();
}

/// Does it run on the machine that we are on?
Result<bool> runs_here(Context& context, const std::string& compute) {
  if (!TRY(context.client.endpoint()).is_ours) return false;
  if (compute.empty() || equals_ignoring_case(compute, "local")) return true;
  const auto found = context.client.get(context.client.workspace_path("/computes/" + compute));
  if (!found) return false;  // The submit says what is wrong with it.
  const json::value* location = found->if_contains("location");
  return location != nullptr && location->is_string() &&
         location->get_string() == model::kLocalSite;
}

}  // namespace

Status add_variables(const Context& context, model::JobSpec& spec) {
  model::CommandWork& work = command_of(spec);
  Variables added;
  for (const std::string& path : context.arguments.all("env-file")) {
    TRY(add_file(context, path, added));
  }
  for (const std::string& text : context.arguments.all("env")) {
    const auto one = add_one(context, text, added);
    if (!one) return wrong(fmt::format("--env: {}", one.error().message));
    if (!*one) return wrong(fmt::format("--env {0}: '{0}' is not set here", text));
  }
  warn_of_secrets(context, added);
  for (auto& [name, value] : added) work.environment_variables[name] = std::move(value);
  for (const std::string& text : context.arguments.all("secret")) {
    TRY(model::add_secret_variable(text, work.secrets));
  }
  return Done{};
}

Status pass_own_environment(Context& context, model::JobSpec& spec) {
  if (!TRY(runs_here(context, spec.compute))) return Done{};
  model::CommandWork& work = command_of(spec);
  for (const char* const name : kOwn) {
    const std::string value = context.place.variable(name);
    const bool is_said = value.empty() || value == kPlainPath || work.secrets.contains(name);
    if (!is_said) work.environment_variables.try_emplace(name, value);
  }
  return Done{};
}

void mention_own_environment(Context& context, const model::JobSpec& spec) {
  const bool is_quiet = !context.console.err_is_terminal || !has_environment(context) ||
                        command_of(spec).environment_variables.contains("PATH");
  if (is_quiet || (!spec.compute.empty() && !equals_ignoring_case(spec.compute, "local"))) return;
  const auto endpoint = context.client.endpoint();
  if (!endpoint || !endpoint->is_ours) return;
  context.console.note(
      "the virtual environment of this shell is not the job's; 'berth run' passes it on, and so "
      "does --env PATH");
}

}  // namespace berth::cli
