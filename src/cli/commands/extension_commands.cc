// SPDX-License-Identifier: Apache-2.0
// Scripts make sure that `az` has its extension `ml`; here it is built in.
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"

namespace berth::cli {
namespace {

/// Those whose words and flags these are: scripts compare them with what they need.
constexpr const char* kAzVersion = "2.77.0";
constexpr const char* kMlVersion = "2.39.0";

constexpr Column kColumns[] = {{"Name", "name"}, {"Version", "version"}};

json::object ml() {
  return {{"experimental", false}, {"extensionType", "whl"}, {"name", "ml"},
          {"path", nullptr},       {"preview", false},       {"version", kMlVersion}};
}

/// Only ml is here; another one is not.
Result<bool> is_ml(const Context& context) {
  const std::string name = context.arguments.get("name", "ml");
  if (name == "ml") return true;
  return fail(Code::NotSupported, fmt::format("no extension '{}'; 'ml' is built in", name));
}

Result<int> add(Context& context) {
  TRY(is_ml(context));
  context.console.note("note: the extension 'ml' is built in");
  return 0;
}

Result<int> remove(Context& context) {
  TRY(is_ml(context));
  context.console.note("note: the extension 'ml' is built in and stays");
  return 0;
}

Result<int> list(Context& context) {
  json::array all;
  all.push_back(ml());
  TRY(context.print({.value = std::move(all), .columns = kColumns}));
  return 0;
}

Result<int> show(Context& context) {
  TRY(is_ml(context));
  TRY(context.print({.value = ml(), .columns = kColumns}));
  return 0;
}

Result<int> version(Context& context) {
  if (context.console.out_is_terminal && !context.output.format && context.output.query.empty()) {
    TRY(context.console.out(fmt::format("berth {}\n", kVersion)));
    return 0;
  }
  TRY(context.print({.value = {{"azure-cli", kAzVersion},
                               {"azure-cli-core", kAzVersion},
                               {"berth", kVersion},
                               {"extensions", {{"ml", kMlVersion}}}}}));
  return 0;
}

constexpr Flag kName = {"-n,--name", Takes::Value, "NAME", "ml"};
constexpr Flag kAddFlags[] = {
    kName,
    {"-y,--yes", Takes::Nothing, "", "accepted"},
    {"-s,--source", Takes::Value, "PATH", "accepted"},
    {"--upgrade", Takes::Nothing, "", "accepted"},
    {"--version", Takes::Value, "VERSION", "accepted"},
    {"--allow-preview", Takes::Maybe, "BOOL", "accepted"},
};
constexpr Flag kNameOnly[] = {kName};

constexpr Command kCommands[] = {
    {.words = "extension add",
     .summary = "Does nothing: the extension ml is built in",
     .details = "",
     .examples = "",
     .flags = kAddFlags,
     .run = add},
    {.words = "extension update",
     .summary = "Does nothing: the extension ml is built in",
     .details = "",
     .examples = "",
     .flags = kAddFlags,
     .run = add},
    {.words = "extension remove",
     .summary = "Does nothing: the extension ml is built in",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = remove},
    {.words = "extension list",
     .summary = "List extensions: ml",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list},
    {.words = "extension show",
     .summary = "Show the extension ml",
     .details = "Its version is the one whose words and flags Berth understands.",
     .examples = "",
     .flags = kNameOnly,
     .run = show},
    {.words = "version",
     .summary = "Which version this is, and of which az the words are",
     .details = "",
     .examples = "  berth version --query berth -o tsv",
     .flags = {},
     .run = version},
};

}  // namespace

std::span<const Command> extension_commands() { return kCommands; }

}  // namespace berth::cli
