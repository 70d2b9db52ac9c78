// SPDX-License-Identifier: Apache-2.0
#include "lang/arm_template/collect.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lang/arm_template/resource_id.h"

namespace berth::lang::arm_template {
namespace {

constexpr std::size_t kMostResources = 800;
constexpr int kDeepestChild = 5;

tl::unexpected<Error> wrong(std::string message, std::string path) {
  return fail(Code::InvalidArgument, std::move(message), std::move(path));
}

/// The resource that a child stands in.
struct Parent {
  std::string type{};
  std::string name{};
  std::vector<Loop> loops{};
};

class Collector {
 public:
  Collector(const json::object& definition, Evaluator& evaluator)
      : definition_(definition), evaluator_(evaluator) {}

  Result<Collected> all() {
    const json::value& resources = definition_.at("resources");
    if (const json::object* symbols = resources.if_object()) {
      for (const auto& [key, resource] : *symbols) {
        const std::string symbol(key.data(), key.size());
        const std::size_t before = collected_.resources.size();
        TRY(add(resource, {}, "resources." + symbol));
        note_group(symbol, before);
      }
    } else {
      TRY(add_list(resources, {}, "resources"));
    }
    return std::move(collected_);
  }

 private:
  Status add_list(const json::value& resources, const Parent& parent, const std::string& path) {
    if (!resources.is_array()) return wrong("must be a list", path);
    for (std::size_t index = 0; index < resources.get_array().size(); ++index) {
      TRY(add(resources.get_array()[index], parent, fmt::format("{}[{}]", path, index)));
    }
    return Done{};
  }

  /// Once, or as often as its `copy` says.
  Status add(const json::value& value, const Parent& parent, const std::string& path) {
    if (!value.is_object()) return wrong("must be an object", path);
    const json::object& source = value.get_object();
    const json::value* existing = source.if_contains("existing");
    if (existing != nullptr && *existing == true) return Done{};
    const json::value* copy = source.if_contains("copy");
    if (copy == nullptr) return add_one(source, parent, path);

    const json::object* parts = copy->if_object();
    const json::value* name = parts == nullptr ? nullptr : parts->if_contains("name");
    const json::value* count = parts == nullptr ? nullptr : parts->if_contains("count");
    if (name == nullptr || !name->is_string() || count == nullptr) {
      return wrong("must have a name and a count", path + ".copy");
    }
    const std::int64_t times =
        TRY(evaluator_.evaluate_count(*count, {.loops = parent.loops}, path + ".copy.count"));
    const std::size_t before = collected_.resources.size();
    Parent around = parent;
    around.loops.push_back({.name = std::string(text_of(*name))});
    for (std::int64_t index = 0; index < times; ++index) {
      around.loops.back().index = index;
      TRY(add_one(source, around, path));
    }
    note_group(text_of(*name), before);
    return Done{};
  }

  void note_group(std::string_view name, std::size_t first) {
    std::vector<std::size_t>& group = collected_.names[to_lower(name)];
    for (std::size_t index = first; index < collected_.resources.size(); ++index) {
      group.push_back(index);
    }
  }

  Status add_one(const json::object& source, const Parent& parent, const std::string& path) {
    const Frame frame{.loops = parent.loops};
    PlannedResource resource{.source = &source, .loops = parent.loops, .path = path};
    resource.type = TRY(text(source, "type", frame, path));
    resource.name = TRY(text(source, "name", frame, path));
    resource.api_version = TRY(text(source, "apiVersion", frame, path));
    if (!parent.type.empty() && !starts_with_ignoring_case(resource.type, parent.type + "/")) {
      resource.type = parent.type + "/" + resource.type;
      resource.name = parent.name + "/" + resource.name;
    }
    const Result<std::string> below = provider_path(resource.type, resource.name);
    if (!below) return wrong(below.error().message, path + ".name");
    resource.id =
        group_id(evaluator_.place().subscription, evaluator_.place().resource_group) + *below;

    const std::size_t before = collected_.resources.size();
    if (TRY(condition(source, frame, path))) {
      TRY(check(resource));
      collected_.resources.push_back(resource);
      if (collected_.resources.size() > kMostResources) {
        return wrong(fmt::format("there are more than {}", kMostResources), "resources");
      }
    }
    for (const std::string& name :
         {resource.id, resource.name, below->substr(11), resource.type + "/" + resource.name}) {
      note_group(name, before);
    }
    const json::value* children = source.if_contains("resources");
    if (children == nullptr) return Done{};
    if (split(resource.type, '/').size() > kDeepestChild) return wrong("too deep", path);
    return add_list(*children, {resource.type, resource.name, parent.loops}, path + ".resources");
  }

  Result<std::string> text(const json::object& source, const char* key, const Frame& frame,
                           const std::string& path) {
    const std::string below = fmt::format("{}.{}", path, key);
    const json::value* found = source.if_contains(key);
    if (found == nullptr) return wrong("is missing", below);
    return evaluator_.evaluate_text(*found, frame, below);
  }

  Result<bool> condition(const json::object& source, const Frame& frame, const std::string& path) {
    const json::value* found = source.if_contains("condition");
    if (found == nullptr) return true;
    const json::value value = TRY(evaluator_.evaluate(*found, frame, path + ".condition"));
    if (!value.is_bool()) return wrong("must be true or false", path + ".condition");
    return value.get_bool();
  }

  Status check(PlannedResource& resource) {
    const std::optional<Kind> kind = find_kind(resource.type);
    if (!kind) {
      return wrong(fmt::format("Berth cannot make a '{}'; docs/deployments.md lists what it makes",
                               resource.type),
                   resource.path + ".type");
    }
    resource.type = kind->type;
    resource.treatment = kind->treatment;
    for (const std::string_view part : split(resource.name, '/')) {
      if (is_resource_name(part)) continue;
      return wrong(fmt::format("'{}' is no name: 1 to 255 letters, digits, '-', '_' and '.', "
                               "beginning with a letter, a digit or '_'",
                               part),
                   resource.path + ".name");
    }
    if (!ids_.insert(to_lower(resource.id)).second) {
      return wrong(fmt::format("'{}' is made twice", resource.name), resource.path + ".name");
    }
    return Done{};
  }

  const json::object& definition_;
  Evaluator& evaluator_;
  Collected collected_;
  std::set<std::string> ids_;
};

/// The texts of `dependsOn`.
Result<std::vector<std::string>> depends_on(const PlannedResource& resource, Evaluator& evaluator) {
  std::vector<std::string> texts;
  const json::value* found = resource.source->if_contains("dependsOn");
  if (found == nullptr) return texts;
  const std::string path = resource.path + ".dependsOn";
  const json::value list = TRY(evaluator.evaluate(*found, {.loops = resource.loops}, path));
  if (!list.is_array() || list.get_array().size() > kMostResources) {
    return wrong("must be a list of names and ids", path);
  }
  for (const json::value& element : list.get_array()) {
    if (!element.is_string()) return wrong("must be a list of names and ids", path);
    texts.emplace_back(text_of(element));
  }
  return texts;
}

/// The parent's id: without the last type and name. Empty at the top.
std::string parent_of(const std::string& id) {
  const std::size_t name = id.rfind('/');
  if (name == std::string::npos || name == 0) return {};
  const std::size_t type = id.rfind('/', name - 1);
  return type == std::string::npos ? std::string() : id.substr(0, type);
}

}  // namespace

Result<Collected> collect_resources(const json::object& definition, Evaluator& evaluator) {
  return Collector(definition, evaluator).all();
}

Status note_dependencies(const Collected& collected, PlannedResource& resource,
                         Evaluator& evaluator, const std::set<std::string>& references) {
  std::set<std::size_t> after;
  const auto add = [&](std::string_view text) {
    const auto found = collected.names.find(to_lower(text));
    if (found == collected.names.end()) return false;
    after.insert(found->second.begin(), found->second.end());
    return true;
  };
  for (const std::string& text : TRY(depends_on(resource, evaluator))) {
    if (add(text)) continue;
    return wrong(fmt::format("the template makes no '{}'", text), resource.path + ".dependsOn");
  }
  for (const std::string& text : references) add(text);
  // What is in between, such as the container of a version, may be made by the version itself.
  for (std::string id = parent_of(resource.id); !id.empty(); id = parent_of(id)) add(id);
  after.erase(static_cast<std::size_t>(&resource - collected.resources.data()));
  resource.after.assign(after.begin(), after.end());
  return Done{};
}

Result<json::value> output_value(Evaluator& evaluator, const json::object& declared,
                                 const Frame& frame, const std::string& path) {
  const json::value* copy = declared.if_contains("copy");
  if (copy == nullptr) return evaluator.evaluate(declared.at("value"), frame, path + ".value");
  // Written out as a property of that name.
  const json::object* parts = copy->if_object();
  if (parts == nullptr) return wrong("must have a count and an input", path + ".copy");
  json::object named = *parts;
  named["name"] = "value";
  const json::value made = TRY(evaluator.evaluate(
      json::object{{"copy", json::array{json::value(std::move(named))}}}, frame, path));
  return made.at("value");
}

}  // namespace berth::lang::arm_template
