// SPDX-License-Identifier: Apache-2.0
#include "server/blob/xml.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "server/blob/error.h"

namespace berth::server {
namespace {

constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// U+FFFE and U+FFFF are fine UTF-8 and yet no part of any XML document.
bool is_noncharacter(std::string_view text) {
  return text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
}

bool is_speakable(std::string_view text) {
  for (std::size_t at = text.find('\xef'); at != text.npos; at = text.find('\xef', at + 1)) {
    if (is_noncharacter(text.substr(at))) return false;
  }
  return true;
}

void append_element(std::string& xml, std::string_view name, std::string_view text) {
  fmt::format_to(std::back_inserter(xml), "<{0}>{1}</{0}>", name, xml_escape(text));
}

void append_name(std::string& xml, std::string_view name) {
  if (is_speakable(name)) return append_element(xml, "Name", name);
  fmt::format_to(std::back_inserter(xml), "<Name Encoded=\"true\">{}</Name>",
                 percent_encode(name, true));
}

void append_blob(std::string& xml, const store::Blob& blob, bool with_metadata) {
  xml += "<Blob>";
  append_name(xml, blob.key.path);
  xml += "<Properties>";
  append_element(xml, "Creation-Time", to_http_date(blob.created_at));
  append_element(xml, "Last-Modified", to_http_date(blob.modified_at));
  append_element(xml, "Etag", etag_of(blob));
  append_element(xml, "Content-Length", std::to_string(blob.size));
  append_element(xml, "Content-Type", blob.content_type);
  if (!blob.content_md5.empty()) append_element(xml, "Content-MD5", blob.content_md5);
  xml +=
      "<BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>"
      "<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>"
      "<ServerEncrypted>true</ServerEncrypted></Properties>";
  if (with_metadata && !blob.metadata.empty()) {
    xml += "<Metadata>";
    for (const auto& [name, value] : blob.metadata) append_element(xml, name, value);
    xml += "</Metadata>";
  }
  xml += "</Blob>";
}

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
  return fail_blob("InvalidXmlDocument", fmt::format("the block list is broken: {}", what));
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

std::string xml_escape(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  std::string escaped;
  escaped.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size(); ++at) {
    const char letter = valid[at];
    const bool is_control = static_cast<unsigned char>(letter) < 0x20 && letter != '\t' &&
                            letter != '\n' && letter != '\r';
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else if (letter == '"') {
      escaped += "&quot;";
    } else if (is_control) {
      escaped += kReplacement;
    } else if (letter == '\xef' && is_noncharacter(std::string_view(valid).substr(at))) {
      escaped += kReplacement;
      at += 2;
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

std::string blob_error_xml(std::string_view code, std::string_view message) {
  return fmt::format("{}<Error><Code>{}</Code><Message>{}</Message></Error>", kDeclaration,
                     xml_escape(code), xml_escape(message));
}

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
        return fail_blob("InvalidBlockList", fmt::format("more than {} blocks", kMostBlocks));
      }
      entries.push_back(TRY(take_entry(reader)));
    }
  }
  reader.skip_space();
  if (!reader.is_at_end()) return broken("something follows </BlockList>");
  return entries;
}

std::string blob_list_xml(const BlobListing& listing, bool with_metadata) {
  std::string xml(kDeclaration);
  fmt::format_to(std::back_inserter(xml), "<EnumerationResults ContainerName=\"{}\">",
                 xml_escape(listing.container_url));
  append_element(xml, "Prefix", listing.prefix);
  append_element(xml, "Marker", listing.marker);
  append_element(xml, "MaxResults", std::to_string(listing.most));
  if (!listing.delimiter.empty()) append_element(xml, "Delimiter", listing.delimiter);
  xml += "<Blobs>";
  for (const store::Blob& blob : listing.blobs) append_blob(xml, blob, with_metadata);
  for (const std::string& prefix : listing.prefixes) {
    xml += "<BlobPrefix>";
    append_name(xml, prefix);
    xml += "</BlobPrefix>";
  }
  xml += "</Blobs>";
  append_element(xml, "NextMarker", listing.next_marker);
  return xml + "</EnumerationResults>";
}

std::string blob_list_json(const BlobListing& listing) {
  boost::json::array blobs;
  for (const store::Blob& blob : listing.blobs) {
    blobs.push_back({{"name", blob.key.path}, {"size", blob.size}});
  }
  boost::json::object body = {{"blobs", std::move(blobs)}, {"next", listing.next_marker}};
  if (!listing.prefixes.empty()) {
    boost::json::array prefixes;
    for (const std::string& prefix : listing.prefixes) prefixes.emplace_back(prefix);
    body["prefixes"] = std::move(prefixes);
  }
  return boost::json::serialize(body);
}

std::string etag_of(const store::Blob& blob) {
  if (blob.etag.starts_with('"')) return blob.etag;
  if (!blob.etag.empty()) return '"' + blob.etag + '"';
  return fmt::format("\"0x{:X}\"", blob.modified_at.time_since_epoch().count());
}

}  // namespace berth::server
