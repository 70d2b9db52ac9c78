// SPDX-License-Identifier: Apache-2.0
#include "cli/given.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "wire/yaml/edit.h"

namespace berth::cli {

using wire::yaml::Node;

Status check_name(std::string_view name, std::string_view of_what) {
  if (is_resource_name(name)) return Done{};
  return fail(Code::InvalidArgument, fmt::format("'{}' cannot be the name of a {}", name, of_what));
}

Result<std::string> required_name(const Context& context, std::string_view of_what) {
  const std::string name = context.arguments.get("name");
  if (name.empty())
    return fail(Code::InvalidArgument, fmt::format("which {}? Name it: -n NAME", of_what));
  TRY(check_name(name, of_what));
  return name;
}

Result<Document> load_document(const Context& context) {
  Document document{.base_directory = context.place.directory};
  document.root.kind = Node::Kind::Mapping;
  if (context.arguments.has("file")) {
    const std::string given = context.arguments.get("file");
    const std::filesystem::path path(context.place.absolute(given));
    document.base_directory = path.parent_path().string();
    // Under the name it was given: that is what messages should show.
    document.root = TRY(wire::yaml::load(given));
  }
  for (const std::string& assignment : context.arguments.all("set")) {
    TRY(wire::yaml::set(document.root, assignment));
  }
  return document;
}

bool has_edits(const Context& context) {
  return context.arguments.has("set") || context.arguments.has("add") ||
         context.arguments.has("remove");
}

Result<Node> edited(const Context& context, const json::object& changeable) {
  Node root = wire::yaml::to_node(changeable);
  const bool as_text = context.arguments.has("force-string");
  for (const std::string& assignment : context.arguments.all("set")) {
    TRY(wire::yaml::set(root, assignment, as_text));
  }
  if (context.arguments.has("add")) TRY(wire::yaml::add(root, context.arguments.all("add")));
  if (context.arguments.has("remove")) {
    TRY(wire::yaml::remove(root, context.arguments.all("remove")));
  }
  for (const auto& [key, member] : root.members) {
    if (changeable.contains(key)) continue;
    std::vector<std::string_view> known;
    for (const auto& each : changeable) known.push_back(each.key());
    return fail(Code::InvalidArgument,
                fmt::format("'{}' cannot be changed; {} can", key, fmt::join(known, ", ")));
  }
  return root;
}

void set_text(Node& root, std::string_view key, const std::string& text) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.text = text;
  node.quoted = true;
  for (auto& [name, member] : root.members) {
    if (name != key) continue;
    member = node;
    return;
  }
  root.members.emplace_back(key, std::move(node));
  root.key_marks.emplace_back();
}

Status set_tags(Node& root, const std::vector<std::string>& pairs) {
  if (pairs.empty()) return Done{};
  Node tags;
  tags.kind = Node::Kind::Mapping;
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == 0)
      return fail(Code::InvalidArgument, fmt::format("--tags takes key=value, not '{}'", pair));
    set_text(tags, pair.substr(0, equals),
             equals == std::string::npos ? "" : pair.substr(equals + 1));
  }
  for (auto& [name, member] : root.members) {
    if (name != "tags") continue;
    member = std::move(tags);
    return Done{};
  }
  root.members.emplace_back("tags", std::move(tags));
  root.key_marks.emplace_back();
  return Done{};
}

Result<bool> is_certain(const Context& context, const std::string& question) {
  if (context.arguments.has("yes")) return true;
  if (!context.console.err_is_terminal || isatty(STDIN_FILENO) != 1) {
    return fail(Code::InvalidArgument, "nobody to ask for confirmation; -y says yes");
  }
  (void)io::write_all(context.console.err_fd, printable(question) + " [y/N] ");
  char answer[16] = {};
  const ssize_t size = read(STDIN_FILENO, answer, sizeof answer - 1);
  return size > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

Result<std::optional<std::int64_t>> number_flag(const Context& context, std::string_view key) {
  if (!context.arguments.has(key)) return std::optional<std::int64_t>();
  const std::string text = context.arguments.get(key);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size()) {
    return std::optional<std::int64_t>(number);
  }
  return fail(Code::InvalidArgument, fmt::format("--{} takes a whole number, not '{}'", key, text));
}

Result<std::size_t> most_results(const Context& context) {
  if (context.arguments.has("all-results")) return SIZE_MAX;
  const std::string text = context.arguments.get("max-results", "50");
  std::size_t most = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), most);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || most == 0) {
    return fail(Code::InvalidArgument, fmt::format("--max-results takes a number, not '{}'", text));
  }
  return most;
}

std::string view_query(const Context& context) {
  if (context.arguments.has("archived-only")) return "listViewType=ArchivedOnly";
  if (context.arguments.has("include-archived")) return "listViewType=All";
  return "listViewType=ActiveOnly";
}

}  // namespace berth::cli
