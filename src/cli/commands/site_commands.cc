// SPDX-License-Identifier: Apache-2.0
// Where nodes come from.
#include <charconv>

#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "model/memory.h"
#include "wire/site.h"

namespace berth::cli {
namespace {

using model::Site;

constexpr const char* kSites = "/berth/v1/sites";

constexpr Column kColumns[] = {{"Name", "name"},
                               {"Provider", "provider"},
                               {"Nodes", "capacity.nodes"},
                               {"Cores", "capacity.cores"},
                               {"Memory MiB", "capacity.memory_mib"},
                               {"GPUs", "capacity.gpus"},
                               {"Partition", "slurm.partition"},
                               {"Account", "slurm.account"},
                               {"QOS", "slurm.qos"},
                               {"Minutes", "slurm.time_limit_minutes"},
                               {"Options", "slurm.options"},
                               {"Server", "server_url"},
                               {"Variables of jobs", "job_environment"}};
constexpr std::size_t kListedColumns = 7;

Result<std::string> path_of(const Context& context) {
  const std::string name = TRY(required_name(context, "site"));
  return fmt::format("{}/{}", kSites, name);
}

Result<int> print_one(Context& context, const json::object& site) {
  TRY(context.print({.value = site, .columns = kColumns}));
  return 0;
}

/// "90" minutes, or Slurm's "[days-]hours:minutes:seconds".
Result<std::chrono::minutes> minutes_of(const std::string& text) {
  std::string_view rest = text;
  std::int64_t days = 0;
  std::vector<std::int64_t> parts;
  bool is_right = true;
  const auto read = [&](std::string_view digits) {
    std::int64_t number = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    is_right = is_right && end.ec == std::errc() && end.ptr == digits.data() + digits.size() &&
               number >= 0 && number < 1'000'000;
    return number;
  };
  if (const std::size_t dash = rest.find('-'); dash != rest.npos) {
    days = read(rest.substr(0, dash));
    rest.remove_prefix(dash + 1);
  }
  for (const std::string_view part : split(rest, ':')) parts.push_back(read(part));
  const std::int64_t minutes =
      parts.size() == 3 ? parts[0] * 60 + parts[1] + (parts[2] > 0 ? 1 : 0) : parts[0];
  is_right = is_right && (parts.size() == 3 || (parts.size() == 1 && days == 0));
  if (is_right && days * 1440 + minutes > 0) return std::chrono::minutes(days * 1440 + minutes);
  return fail(Code::InvalidArgument,
              fmt::format("--time-limit takes minutes or D-HH:MM:SS, not '{}'", text));
}

/// "none" takes a limit away.
template <typename T>
Status set_limit(const Context& context, std::string_view key, std::optional<T>& limit) {
  if (equals_ignoring_case(context.arguments.get(key), "none")) {
    limit.reset();
    return Done{};
  }
  if (const auto number = TRY(number_flag(context, key))) limit = static_cast<T>(*number);
  return Done{};
}

Status set_capacity(const Context& context, model::SiteCapacity& capacity) {
  for (const char* key : {"nodes", "cores", "gpus"}) {
    const auto number = equals_ignoring_case(context.arguments.get(key), "none")
                            ? std::optional<std::int64_t>()
                            : TRY(number_flag(context, key));
    if (number && (*number < 0 || *number > 1'000'000'000)) {
      return fail(Code::InvalidArgument, fmt::format("--{} cannot be {}", key, *number));
    }
  }
  TRY(set_limit(context, "nodes", capacity.nodes));
  TRY(set_limit(context, "cores", capacity.cores));
  if (const auto gpus = TRY(number_flag(context, "gpus"))) capacity.gpus = static_cast<int>(*gpus);
  const std::string memory = context.arguments.get("memory");
  if (equals_ignoring_case(memory, "none")) {
    capacity.memory_mib.reset();
  } else if (!memory.empty()) {
    capacity.memory_mib = TRY(model::memory_mib_from(memory));
  }
  return Done{};
}

Status set_slurm(const Context& context, model::SlurmSettings& slurm) {
  for (const auto& [flag, member] :
       {std::pair("partition", &slurm.partition), std::pair("account", &slurm.account),
        std::pair("qos", &slurm.qos), std::pair("bin-directory", &slurm.bin_directory),
        std::pair("config", &slurm.config), std::pair("work-directory", &slurm.work_directory)}) {
    if (context.arguments.has(flag)) *member = context.arguments.get(flag);
  }
  const std::string limit = context.arguments.get("time-limit");
  if (equals_ignoring_case(limit, "none")) {
    slurm.time_limit.reset();
  } else if (!limit.empty()) {
    slurm.time_limit = TRY(minutes_of(limit));
  }
  if (!context.arguments.has("option")) return Done{};
  slurm.options.clear();
  for (const std::string& option : context.arguments.all("option")) {
    if (option.empty() || equals_ignoring_case(option, "none")) continue;
    slurm.options.push_back(option.starts_with("--") ? option : fmt::format("--{}", option));
  }
  return Done{};
}

/// "none" takes away what there was; what is named is set.
Status set_job_environment(const Context& context, std::map<std::string, std::string>& variables) {
  for (const std::string& text : context.arguments.all("job-env")) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos && equals_ignoring_case(text, "none")) {
      variables.clear();
    } else if (equals == text.npos || equals == 0) {
      return fail(Code::InvalidArgument, fmt::format("--job-env takes NAME=VALUE, not '{}'", text));
    } else {
      variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  return Done{};
}

Status set_flags(const Context& context, Site& site) {
  if (context.arguments.has("provider")) {
    site.provider = TRY(wire::provider_from(context.arguments.get("provider")));
  }
  if (context.arguments.has("server-url")) site.server_url = context.arguments.get("server-url");
  TRY(set_job_environment(context, site.job_environment));
  TRY(set_capacity(context, site.capacity));
  return set_slurm(context, site.slurm);
}

Result<int> put(Context& context, const std::string& path, Site site) {
  if (const Status flags = set_flags(context, site); !flags) {
    return wrong_usage(context, flags.error().message);
  }
  return print_one(context, TRY(context.client.put(path, wire::to_json(site))));
}

Result<int> add(Context& context) {
  const std::string path = TRY(path_of(context));
  const auto present = context.client.get(path);
  if (present) {
    return fail(Code::Conflict, fmt::format("site '{}' exists; 'berth site update' changes it",
                                            context.arguments.get("name")));
  }
  if (present.error().code != Code::NotFound) return fail(present.error());
  return put(context, path, {.name = context.arguments.get("name")});
}

Result<int> update(Context& context) {
  const std::string path = TRY(path_of(context));
  const json::object present = TRY(context.client.get(path));
  Site site = TRY(wire::site_from_json(present));
  site.name = context.arguments.get("name");
  return put(context, path, std::move(site));
}

Result<int> list(Context& context) {
  json::array sites = TRY(context.client.list(kSites, SIZE_MAX));
  TRY(context.print({.value = std::move(sites), .columns = std::span(kColumns, kListedColumns)}));
  return 0;
}

Result<int> show(Context& context) {
  return print_one(context, TRY(context.client.get(TRY(path_of(context)))));
}

Result<int> remove(Context& context) {
  const std::string path = TRY(path_of(context));
  TRY(context.client.get(path));
  TRY(context.client.remove(path));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the site", true};

constexpr Flag kAddFlags[] = {
    kName,
    {"--provider", Takes::Value, "KIND", "slurm, or local: this machine", true},
    {"--nodes", Takes::Value, "N", "never more nodes at once, all clusters together"},
    {"--cores", Takes::Value, "N", "never more cores"},
    {"--memory", Takes::Value, "AMOUNT", "never more memory: 256Gi"},
    {"--gpus", Takes::Value, "N", "GPUs of this machine that nodes are given"},
    {"--server-url", Takes::Value, "URL",
     "where nodes reach the server, if not at its own address"},
    {"--job-env", Takes::EachTime, "NAME=VALUE",
     "a variable of every job that runs there, unless the job says otherwise"},
    {"--partition", Takes::Value, "NAME", "Slurm's partition"},
    {"--account", Takes::Value, "NAME", "Slurm's account"},
    {"--qos", Takes::Value, "NAME", "Slurm's quality of service"},
    {"--time-limit", Takes::Value, "TIME", "of one node: minutes or D-HH:MM:SS"},
    {"--option", Takes::EachTime, "OPTION", "another long option of sbatch: constraint=fast"},
    {"--bin-directory", Takes::Value, "DIR", "where sbatch, squeue and scancel are"},
    {"--config", Takes::Value, "FILE", "SLURM_CONF"},
    {"--work-directory", Takes::Value, "DIR", "on the nodes, for what jobs need"},
};
constexpr auto kUpdateFlags = [] {
  std::array<Flag, std::size(kAddFlags) - 1> flags{};
  std::size_t next = 0;
  for (const Flag& flag : kAddFlags) {
    if (flag.spelling != "--provider") flags[next++] = flag;
  }
  return flags;
}();
constexpr Flag kNameOnly[] = {kName};

constexpr Command kCommands[] = {
    {.words = "site add",
     .summary = "Add a place where nodes come from",
     .details =
         R"('location' of a cluster names its site. 'local' is this machine and always there. A site's
capacity is shared by its clusters; what is not said is not limited.)",
     .examples = R"(  berth site add lab --provider slurm --partition main --nodes 16
  berth site add lab2 --provider slurm --time-limit 1-00:00:00 --option constraint=fast
  berth compute create -n pool -l lab)",
     .flags = kAddFlags,
     .run = add},
    {.words = "site update",
     .summary = "Change a site",
     .details = "What is not named stays; 'none' takes a limit away: --cores none.",
     .examples = "  berth site update local --gpus 2 --cores 12",
     .flags = kUpdateFlags,
     .run = update},
    {.words = "site list",
     .summary = "List sites",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list},
    {.words = "site show",
     .summary = "Show a site",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = show},
    {.words = "site remove",
     .summary = "Remove a site that no cluster is on",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = remove},
};

}  // namespace

std::span<const Command> site_commands() { return kCommands; }

}  // namespace berth::cli
