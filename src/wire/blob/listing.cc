// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/listing.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/record.h"
#include "base/text.h"

namespace berth::wire::blob {
namespace {

namespace json = boost::json;

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

void append_blob(std::string& xml, const ListedBlob& blob, bool with_metadata) {
  xml += "<Blob>";
  append_name(xml, blob.name);
  xml += "<Properties>";
  append_element(xml, "Creation-Time", to_http_date(blob.created_at));
  append_element(xml, "Last-Modified", to_http_date(blob.modified_at));
  append_element(xml, "Etag", blob.etag);
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

std::string listing_to_xml(const Listing& listing, bool with_metadata) {
  std::string xml(kDeclaration);
  fmt::format_to(std::back_inserter(xml), "<EnumerationResults ContainerName=\"{}\">",
                 xml_escape(listing.container_url));
  append_element(xml, "Prefix", listing.prefix);
  append_element(xml, "Marker", listing.marker);
  append_element(xml, "MaxResults", std::to_string(listing.most));
  if (!listing.delimiter.empty()) append_element(xml, "Delimiter", listing.delimiter);
  xml += "<Blobs>";
  for (const ListedBlob& blob : listing.blobs) append_blob(xml, blob, with_metadata);
  for (const std::string& prefix : listing.prefixes) {
    xml += "<BlobPrefix>";
    append_name(xml, prefix);
    xml += "</BlobPrefix>";
  }
  xml += "</Blobs>";
  append_element(xml, "NextMarker", listing.next_marker);
  return xml + "</EnumerationResults>";
}

std::string listing_to_json(const Listing& listing) {
  json::array blobs;
  for (const ListedBlob& blob : listing.blobs) {
    blobs.push_back({{"name", blob.name}, {"size", blob.size}});
  }
  json::object body = {{"blobs", std::move(blobs)}, {"next", listing.next_marker}};
  if (!listing.prefixes.empty()) {
    json::array prefixes;
    for (const std::string& prefix : listing.prefixes) prefixes.emplace_back(prefix);
    body["prefixes"] = std::move(prefixes);
  }
  return json::serialize(body);
}

Result<ListedPage> listing_from_json(std::string_view text) {
  return record::decode_text<ListedPage>(text);
}

}  // namespace berth::wire::blob
