// SPDX-License-Identifier: Apache-2.0
// YAML text to a Node tree. libfyaml gives events, one at a time; the tree is built on an explicit
// stack, so that nesting, aliases and merge keys are all counted before they cost anything.
#include <fmt/format.h>
#include <libfyaml.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "wire/yaml/document.h"

namespace berth::wire::yaml {
namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::size_t kMostLevels = 64;

struct Deleter {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};

/// What a node and everything below it weigh.
struct Weight {
  std::size_t nodes = 0;
  std::size_t bytes = 0;
  std::size_t levels = 0;

  void add(const Weight& child) {
    nodes += child.nodes;
    bytes += child.bytes;
    levels = std::max(levels, child.levels + 1);
  }
};

struct Anchor {
  Node node;
  Weight weight;
};

/// A sequence or mapping that is not closed yet.
struct Frame {
  Node node;
  Weight weight{};
  std::string anchor{};
  std::optional<Node> key{};           ///< Read, waiting for its value.
  std::map<std::string, Mark> keys{};  ///< Seen so far, for duplicates.
  std::optional<Node> merge{};         ///< Value of "<<".
};

bool is_null_text(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::string token_text(fy_token* token) {
  std::size_t length = 0;
  const char* text = token == nullptr ? nullptr : fy_token_get_text(token, &length);
  return text == nullptr ? std::string() : std::string(text, length);
}

/// Some layouts of folded texts (a blank line, then one indented by a single space more) make
/// libfyaml 0.7.12 lose a line break and fill up with whatever is in memory. Its iterator shows the
/// difference.
bool is_text_whole(fy_token* token, std::size_t size) {
  fy_token_iter* iterator = fy_token_iter_create(token);
  const fy_iter_chunk* chunk = nullptr;
  std::size_t sum = 0;
  int failed = 0;
  while ((chunk = fy_token_iter_chunk_next(iterator, chunk, &failed)) != nullptr) sum += chunk->len;
  fy_token_iter_destroy(iterator);
  return failed == 0 && sum == size;
}

class Builder {
 public:
  Builder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<Node> run();

 private:
  Status take(fy_event& event);
  Status open(fy_event& event, Node::Kind kind, fy_token* token);
  Status close();
  Status scalar(fy_event& event);
  Status alias(fy_event& event);
  Status check_tag(fy_event& event) const;
  Status place(Node node, const Weight& weight);
  Status place_in_mapping(Frame& frame, Node node);
  Status take_key(Frame& frame, Node node);
  Status merge(Frame& frame);
  Status keep_anchor(const std::string& name, const Node& node, const Weight& weight);
  Status charge(Weight& budget, const Weight& weight, const Mark& mark) const;
  Mark mark_of(fy_token* token) const;
  Mark mark_of_nothing() const;
  tl::unexpected<Error> syntax_error() const;

  std::string_view text_;
  std::string file_;
  std::unique_ptr<fy_diag, Deleter> diag_;
  std::unique_ptr<fy_parser, Deleter> parser_;
  std::vector<Frame> stack_;
  std::map<std::string, Anchor> anchors_;
  std::optional<Node> root_;
  int documents_ = 0;
  Weight total_;
  Weight
      anchored_;  ///< Copies we keep for aliases weigh too, or nested anchors would multiply them.
};

Mark Builder::mark_of(fy_token* token) const {
  const fy_mark* mark = token == nullptr ? nullptr : fy_token_start_mark(token);
  if (mark == nullptr) return {.file = file_, .line = 1, .column = 1};
  // libfyaml counts from 0, and starts quoted texts and aliases after their first character.
  const fy_scalar_style style = fy_token_scalar_style(token);
  const bool starts_later = fy_token_get_type(token) == FYTT_ALIAS || style == FYSS_SINGLE_QUOTED ||
                            style == FYSS_DOUBLE_QUOTED;
  return {.file = file_, .line = mark->line + 1, .column = mark->column + (starts_later ? 0 : 1)};
}

/// A value that is not there stands where its key does.
Mark Builder::mark_of_nothing() const {
  if (stack_.empty()) return mark_of(nullptr);
  const Frame& frame = stack_.back();
  return frame.key ? frame.key->mark : frame.node.mark;
}

tl::unexpected<Error> Builder::syntax_error() const {
  void* position = nullptr;
  if (const fy_diag_error* error = fy_diag_errors_iterate(diag_.get(), &position)) {
    return error_at({.file = file_, .line = error->line, .column = error->column},
                    to_valid_utf8(error->msg == nullptr ? "not valid YAML" : error->msg));
  }
  return error_at({.file = file_, .line = 1, .column = 1}, "not valid YAML");
}

Status Builder::charge(Weight& budget, const Weight& weight, const Mark& mark) const {
  budget.nodes += weight.nodes;
  budget.bytes += weight.bytes;
  if (budget.nodes > kMostNodes) {
    return error_at(mark, fmt::format("more than {} values once aliases are resolved", kMostNodes));
  }
  if (budget.bytes > kMostBytes) {
    return error_at(mark, "more than 16 MiB of text once aliases are resolved");
  }
  return Done{};
}

Status Builder::check_tag(fy_event& event) const {
  fy_token* tag = fy_event_get_tag_token(&event);
  if (tag == nullptr) return Done{};
  return error_at(mark_of(tag), fmt::format("tags such as '{}' are not allowed", token_text(tag)));
}

Status Builder::open(fy_event& event, Node::Kind kind, fy_token* token) {
  TRY(check_tag(event));
  Frame frame{.node = {.kind = kind, .mark = mark_of(token)}};
  if (stack_.size() >= kMostLevels) {
    return error_at(frame.node.mark, fmt::format("nested deeper than {} levels", kMostLevels));
  }
  frame.weight = {.nodes = 1};
  TRY(charge(total_, frame.weight, frame.node.mark));
  frame.anchor = token_text(fy_event_get_anchor_token(&event));
  // An anchor that is opened again hides the earlier one at once: inside itself it is unknown.
  anchors_.erase(frame.anchor);
  stack_.push_back(std::move(frame));
  return Done{};
}

Status Builder::scalar(fy_event& event) {
  TRY(check_tag(event));
  fy_token* token = event.scalar.value;
  Node node{.kind = Node::Kind::Scalar, .text = token_text(token)};
  node.mark = token == nullptr ? mark_of_nothing() : mark_of(token);
  node.quoted = token != nullptr && fy_token_scalar_style(token) != FYSS_PLAIN;
  if (!node.quoted && is_null_text(node.text)) node.kind = Node::Kind::Null;
  if (node.quoted && !is_text_whole(token, node.text.size())) {
    return error_at(node.mark,
                    "this text is laid out in a way that is easily misread; indent the lines after "
                    "blank ones alike, or use '|'");
  }
  // Escapes make what the bytes of the file may not: "\0", half of a surrogate pair.
  if (!is_valid_utf8(node.text) || node.text.find('\0') != std::string::npos) {
    return error_at(node.mark, "an escape in this text makes it invalid");
  }
  const Weight weight{.nodes = 1, .bytes = node.text.size()};
  TRY(charge(total_, weight, node.mark));
  TRY(keep_anchor(token_text(fy_event_get_anchor_token(&event)), node, weight));
  return place(std::move(node), weight);
}

Status Builder::alias(fy_event& event) {
  fy_token* token = event.alias.anchor;
  const Mark mark = mark_of(token);
  const std::string name = token_text(token);
  const auto anchor = anchors_.find(name);
  if (anchor == anchors_.end()) {
    return error_at(mark, fmt::format("'*{}' refers to no anchor before it", name));
  }
  const Weight& weight = anchor->second.weight;
  TRY(charge(total_, weight, mark));
  if (stack_.size() + weight.levels + 1 > kMostLevels) {
    return error_at(mark, fmt::format("nested deeper than {} levels", kMostLevels));
  }
  return place(anchor->second.node, weight);
}

Status Builder::close() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  TRY(merge(frame));
  TRY(keep_anchor(frame.anchor, frame.node, frame.weight));
  return place(std::move(frame.node), frame.weight);
}

Status Builder::keep_anchor(const std::string& name, const Node& node, const Weight& weight) {
  if (name.empty()) return Done{};
  TRY(charge(anchored_, weight, node.mark));
  anchors_[name] = Anchor{node, weight};
  return Done{};
}

Status Builder::place(Node node, const Weight& weight) {
  if (stack_.empty()) {
    root_ = std::move(node);
    return Done{};
  }
  Frame& frame = stack_.back();
  frame.weight.add(weight);
  if (frame.node.kind == Node::Kind::Mapping) return place_in_mapping(frame, std::move(node));
  frame.node.items.push_back(std::move(node));
  return Done{};
}

Status Builder::take_key(Frame& frame, Node node) {
  if (node.kind == Node::Kind::Sequence || node.kind == Node::Kind::Mapping) {
    return error_at(node.mark, "a key must be text, not a list or a mapping");
  }
  if (node.text.empty()) return error_at(node.mark, "a key is missing before the ':'");
  const auto [earlier, is_new] = frame.keys.emplace(node.text, node.mark);
  if (!is_new) {
    return error_at(node.mark, fmt::format("'{}' is given twice; first at {}:{}", node.text,
                                           earlier->second.line, earlier->second.column));
  }
  frame.key = std::move(node);
  return Done{};
}

Status Builder::place_in_mapping(Frame& frame, Node node) {
  if (!frame.key) return take_key(frame, std::move(node));
  if (frame.key->text == "<<" && !frame.key->quoted) {
    frame.merge = std::move(node);
  } else {
    frame.node.key_marks.push_back(frame.key->mark);
    frame.node.members.emplace_back(std::move(frame.key->text), std::move(node));
  }
  frame.key.reset();
  return Done{};
}

/// "<<": members the mapping lacks, from one mapping or from several, of which the first wins.
Status Builder::merge(Frame& frame) {
  if (!frame.merge) return Done{};
  std::vector<Node> sources;
  if (frame.merge->kind == Node::Kind::Sequence) {
    sources = std::move(frame.merge->items);
  } else {
    sources.push_back(std::move(*frame.merge));
  }
  for (Node& source : sources) {
    if (source.kind != Node::Kind::Mapping) {
      return error_at(source.mark, "'<<' takes a mapping, or a list of mappings");
    }
    for (std::size_t i = 0; i < source.members.size(); ++i) {
      if (!frame.keys.emplace(source.members[i].first, source.key_marks[i]).second) continue;
      frame.node.members.push_back(std::move(source.members[i]));
      frame.node.key_marks.push_back(source.key_marks[i]);
    }
  }
  return Done{};
}

Status Builder::take(fy_event& event) {
  switch (event.type) {
    case FYET_DOCUMENT_START:
      if (++documents_ == 1) return Done{};
      return error_at(mark_of(event.document_start.document_start),
                      "a second document starts here; one file holds one");
    case FYET_SCALAR: return scalar(event);
    case FYET_ALIAS: return alias(event);
    case FYET_SEQUENCE_START:
      return open(event, Node::Kind::Sequence, event.sequence_start.sequence_start);
    case FYET_MAPPING_START:
      return open(event, Node::Kind::Mapping, event.mapping_start.mapping_start);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END: return close();
    default: return Done{};
  }
}

Result<Node> Builder::run() {
  fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = nullptr;
  diag_config.level = FYET_ERROR;
  diag_config.colorize = false;
  diag_.reset(fy_diag_create(&diag_config));
  if (diag_ == nullptr) return fail(Code::Internal, "no memory for the YAML parser");
  fy_diag_set_collect_errors(diag_.get(), true);

  fy_parse_cfg config{};
  // Sloppy: a closing bracket at the left edge is how people, and other YAML readers, have it.
  config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG |
                                                 FYPCF_JSON_NONE | FYPCF_SLOPPY_FLOW_INDENTATION);
  config.diag = diag_.get();
  parser_.reset(fy_parser_create(&config));
  if (parser_ == nullptr || fy_parser_set_string(parser_.get(), text_.data(), text_.size()) != 0) {
    return fail(Code::Internal, "no memory for the YAML parser");
  }
  while (fy_event* event = fy_parser_parse(parser_.get())) {
    const Status taken = take(*event);
    fy_parser_event_free(parser_.get(), event);
    if (!taken) return fail(taken.error());
  }
  if (fy_parser_get_stream_error(parser_.get())) return syntax_error();
  if (root_) return std::move(*root_);
  return Node{.mark = {.file = file_, .line = 1, .column = 1}};
}

/// libfyaml reads other encodings and control characters in its own way; we take plain UTF-8 only.
Status check_bytes(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes) {
    return fail(Code::TooLarge, fmt::format("{}: larger than 16 MiB", file));
  }
  int line = 0;
  for (const std::string_view piece : split(text, '\n')) {
    ++line;
    const Mark mark{.file = file, .line = line, .column = 1};
    if (!is_valid_utf8(piece)) return error_at(mark, "this line is not UTF-8");
    if (piece.find('\0') != std::string_view::npos) {
      return error_at(mark, "this line has a NUL byte in it");
    }
  }
  return Done{};
}

bool is_blank_or_end(std::string_view line, std::size_t at) {
  return at >= line.size() || line[at] == ' ' || line[at] == '\t' || line[at] == '\r';
}

/// Whether a "? " that may start an explicit key stands on the line.
bool has_explicit_key(std::string_view line) {
  for (auto at = line.find('?'); at != line.npos; at = line.find('?', at + 1)) {
    const bool may_start = at == 0 || std::string_view(" \t-?:,[{").find(line[at - 1]) != line.npos;
    if (may_start && is_blank_or_end(line, at + 1)) return true;
  }
  return false;
}

/// Where a tab stands among the blanks after a ':'.
std::size_t tab_after_colon(std::string_view line) {
  for (auto at = line.find(':'); at != line.npos; at = line.find(':', at + 1)) {
    const auto next = line.find_first_not_of(' ', at + 1);
    if (next != line.npos && line[next] == '\t') return next;
  }
  return line.npos;
}

/// libfyaml 0.7.12 frees a key twice when it finds a tab for indentation after the ':' of an
/// explicit
/// ("? ") key. Nobody writes such files by intent, so a file that has both is refused.
Status check_tabs(std::string_view text, const std::string& file) {
  std::optional<Mark> tab;
  bool explicit_key = false;
  int line = 0;
  for (const std::string_view piece : split(text, '\n')) {
    ++line;
    explicit_key = explicit_key || has_explicit_key(piece);
    if (const auto at = tab_after_colon(piece); !tab && at != piece.npos) {
      tab = Mark{.file = file, .line = line, .column = static_cast<int>(at) + 1};
    }
  }
  if (!explicit_key || !tab) return Done{};
  return error_at(*tab, "a tab after ':' in a file with '? ' keys; use spaces");
}

}  // namespace

Result<Node> parse(std::string_view text, const std::string& file) {
  TRY(check_bytes(text, file));
  TRY(check_tabs(text, file));
  if (text.empty()) return Node{.mark = {.file = file, .line = 1, .column = 1}};
  return Builder(text, file).run();
}

}  // namespace berth::wire::yaml
