// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/block_list.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::wire::blob {
namespace {

/// A place in the document that moves on as it is read.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool take(std::string_view wanted) {
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }
  void skip_space() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  }
  std::string_view take_until(char stop) {
    const std::string_view taken = text_.substr(0, text_.find(stop));
    text_.remove_prefix(taken.size());
    return taken;
  }
  bool is_at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

tl::unexpected<Error> broken(const char* what) {
  return fail(Code::InvalidArgument, fmt::format("the block list is broken: {}", what),
              "InvalidXmlDocument");
}

Result<BlockListEntry> take_entry(Reader& reader) {
  using Where = BlockListEntry::Where;
  constexpr std::pair<std::string_view, Where> kTags[] = {{"Latest>", Where::Latest},
                                                          {"Committed>", Where::Committed},
                                                          {"Uncommitted>", Where::Uncommitted}};
  for (const auto& [tag, where] : kTags) {
    if (!reader.take(tag)) continue;
    const std::string_view id = trim(reader.take_until('<'));
    if (!reader.take("</") || !reader.take(tag)) return broken("an entry does not end");
    if (id.empty() || !from_base64(id)) return broken("a block id is not base64");
    return BlockListEntry{where, std::string(id)};
  }
  return broken("an unknown entry");
}

}  // namespace

Result<std::vector<BlockListEntry>> parse_block_list(std::string_view xml) {
  Reader reader(xml);
  reader.take("\xef\xbb\xbf");
  reader.skip_space();
  if (reader.take("<?xml")) {
    reader.take_until('>');
    reader.take(">");
    reader.skip_space();
  }
  std::vector<BlockListEntry> entries;
  bool is_closed = reader.take("<BlockList/>") || reader.take("<BlockList />");
  if (!is_closed && !reader.take("<BlockList>"))
    return broken("it does not begin with <BlockList>");
  while (!is_closed) {
    reader.skip_space();
    if (!reader.take("<")) return broken("text between the entries");
    if (reader.take("/BlockList>")) {
      is_closed = true;
    } else {
      if (entries.size() == kMostBlocks) {
        return fail(Code::InvalidArgument, fmt::format("more than {} blocks", kMostBlocks),
                    "InvalidBlockList");
      }
      entries.push_back(TRY(take_entry(reader)));
    }
  }
  reader.skip_space();
  if (!reader.is_at_end()) return broken("something follows </BlockList>");
  return entries;
}

std::string block_id(std::uint64_t number) { return to_base64(fmt::format("{:08}", number)); }

std::string block_list_xml(std::uint64_t count) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  for (std::uint64_t number = 0; number < count; ++number) {
    xml += "<Latest>" + block_id(number) + "</Latest>";
  }
  return xml + "</BlockList>";
}

}  // namespace berth::wire::blob
