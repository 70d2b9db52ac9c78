// SPDX-License-Identifier: Apache-2.0
// Environments: files of their own, and inline in a job.
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/digest.h"
#include "base/text.h"
#include "model/assets/reference.h"
#include "wire/yaml/asset.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::string_view kAnonymousName = "CliV2AnonymousEnvironment";
constexpr std::size_t kVersionLength = 32;

constexpr std::array<std::string_view, 12> kKeys = {
    "$schema",    "name",  "version", "description",      "tags",     "properties", "image",
    "conda_file", "build", "os_type", "inference_config", "datastore"};
constexpr std::array<std::string_view, 6> kReadOnly = {
    "id", "creation_context", "resourceGroup", "latest_version", "type", "is_anonymous"};
constexpr std::array<std::string_view, 2> kBuildKeys = {"path", "dockerfile_path"};
constexpr std::array<std::string_view, 4> kRouteKeys = {"liveness_route", "readiness_route",
                                                        "scoring_route", "startup_route"};
constexpr std::array<std::string_view, 2> kRouteParts = {"port", "path"};
constexpr std::array<std::string_view, 2> kSystems = {"Linux", "Windows"};

Result<std::string> read_conda_file(const Node& node, const std::string& base_directory) {
  if (node.kind == Node::Kind::Mapping) return to_yaml_text(node);
  TRY(as_text(node, "conda_file"));
  const LocalPath found = TRY(find_local(node, "conda_file", base_directory));
  const Result<std::string> text = read_text_file(found.path);
  if (!text) return at(node.mark, text.error());
  // Read it once here: a broken file is better found now than when the environment is built.
  TRY(parse(*text, found.path));
  return *text;
}

Status read_build(const Node& node, const std::string& base_directory, EnvironmentDefinition& to) {
  TRY(check_mapping(node, "build"));
  TRY(check_keys(node, "an environment's build", kBuildKeys));
  const Node* path = node.find("path");
  if (path == nullptr) return error_at(node.mark, "'build' needs 'path', the folder to build from");
  const std::string context = TRY(as_text(*path, "build.path"));
  const std::string dockerfile = TRY(text_member(node, "dockerfile_path"));
  json::object build = {{"dockerfilePath", dockerfile.empty() ? "Dockerfile" : dockerfile}};
  if (is_address(context)) {
    build["contextUri"] = context;
  } else {
    to.build_context = TRY(find_local(*path, "build.path", base_directory));
  }
  to.asset.body["build"] = std::move(build);
  return Done{};
}

Result<json::object> read_inference_config(const Node& node) {
  TRY(check_mapping(node, "inference_config"));
  TRY(check_keys(node, "an inference_config", kRouteKeys));
  json::object result;
  for (const auto& [name, route] : node.members) {
    TRY(check_mapping(route, name));
    TRY(check_keys(route, "a route", kRouteParts));
    const Node* port = route.find("port");
    if (port == nullptr) return error_at(route.mark, fmt::format("'{}' needs a 'port'", name));
    const std::string path = TRY(text_member(route, "path"));
    const std::int64_t number = TRY(as_integer(*port, "port"));
    result[to_camel_case(name)] = {{"path", path}, {"port", number}};
  }
  return result;
}

Status check_parts(const Node& node, const json::object& body) {
  if (!body.contains("image") && !body.contains("build")) {
    return error_at(node.mark, "an environment needs 'image' or 'build'");
  }
  if (body.contains("image") && body.contains("build")) {
    return error_at(node.find("build")->mark, "'build' cannot be given together with 'image'");
  }
  if (body.contains("condaFile") && !body.contains("image")) {
    return error_at(node.find("conda_file")->mark, "'conda_file' needs 'image'");
  }
  return Done{};
}

Result<EnvironmentSpec> anonymous(EnvironmentDefinition definition) {
  EnvironmentSpec spec;
  spec.build_context = std::move(definition.build_context);
  spec.inline_ = std::move(definition.asset);
  spec.inline_->is_anonymous = true;
  spec.inline_->name = kAnonymousName;
  // Equal definitions are one asset. What a build folder holds is not known yet: the uploader names
  // that version.
  spec.inline_->version =
      spec.build_context
          ? std::string()
          : to_hex(sha256(json::serialize(spec.inline_->body))).substr(0, kVersionLength);
  return spec;
}

Result<EnvironmentSpec> load_environment(const Node& node, const std::string& base_directory) {
  const LocalPath file = TRY(find_local(node, "environment", base_directory));
  const Node root = TRY(load(file.path));
  return anonymous(TRY(read_environment(root, fs::path(file.path).parent_path().string())));
}

}  // namespace

Result<EnvironmentDefinition> read_environment(const Node& node,
                                               const std::string& base_directory) {
  TRY(check_mapping(node, "environment"));
  TRY(check_keys(node, "an environment", kKeys, kReadOnly));
  EnvironmentDefinition result;
  result.asset.kind = model::AssetKind::Environment;
  TRY(read_labels(node, result.asset));
  json::object& body = result.asset.body;
  const std::string image = TRY(text_member(node, "image"));
  if (!image.empty()) body["image"] = image;
  if (const Node* conda = node.find("conda_file"); conda && conda->kind != Node::Kind::Null) {
    body["condaFile"] = TRY(read_conda_file(*conda, base_directory));
  }
  if (const Node* build = node.find("build"); build && build->kind != Node::Kind::Null) {
    TRY(read_build(*build, base_directory, result));
  }
  TRY(check_parts(node, body));
  const std::string system = TRY(choice_member(node, "os_type", kSystems));
  body["osType"] = system.empty() ? "Linux" : system;
  if (const Node* config = node.find("inference_config");
      config && config->kind != Node::Kind::Null) {
    body["inferenceConfig"] = TRY(read_inference_config(*config));
  }
  return result;
}

Result<EnvironmentSpec> read_environment_spec(const Node& node, const std::string& base_directory) {
  if (node.kind == Node::Kind::Null) return EnvironmentSpec{};
  if (node.kind == Node::Kind::Mapping) {
    return anonymous(TRY(read_environment(node, base_directory)));
  }
  const std::string text = TRY(as_text(node, "environment"));
  if (starts_with_ignoring_case(text, "file:")) return load_environment(node, base_directory);
  // An environment of a registry is recorded, not fetched.
  if (starts_with_ignoring_case(text, "azureml://registries/")) {
    return EnvironmentSpec{.reference = text};
  }
  const Result<model::AssetRef> reference =
      model::parse_asset_ref(model::AssetKind::Environment, text);
  if (!reference) return at(node.mark, reference.error());
  return EnvironmentSpec{.reference = text};
}

Result<EnvironmentFile> environment_from_yaml(const Node& root, const std::string& base_directory) {
  EnvironmentDefinition definition = TRY(read_environment(root, base_directory));
  if (definition.asset.name.empty()) {
    return error_at(root.mark, "an environment needs a 'name'");
  }
  return EnvironmentFile{.asset = std::move(definition.asset),
                         .build_context = std::move(definition.build_context)};
}

}  // namespace berth::wire::yaml
