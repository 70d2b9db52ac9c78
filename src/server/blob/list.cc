// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "base/text.h"
#include "server/assets/log_blob.h"
#include "server/blob/etag.h"
#include "server/blob/job_log.h"
#include "server/blob/operations.h"
#include "server/fleet/log_store.h"
#include "wire/blob/listing.h"

namespace berth::server {
namespace {

using store::Blob;

constexpr std::size_t kLargestListing = 5000;

/// Sorts behind every path: no UTF-8 text has this byte.
constexpr char kBehindAll = '\xff';

struct ListQuery {
  std::string root{};    ///< Of the folder that is addressed as a container, with its '/'.
  std::string prefix{};  ///< As asked, below the root.
  std::string scope{};   ///< Paths begin with this: root and prefix, or the narrower grant.
  std::string delimiter{};
  std::string after{};
  std::size_t most = kLargestListing;
};

Result<std::size_t> most_of(const Call& call) {
  const std::string text = call.query_value("maxresults");
  if (text.empty()) return kLargestListing;
  std::size_t most = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, most);
  if (failed != std::errc() || stopped != end || most == 0) {
    return fail_blob("InvalidQueryParameterValue", "maxresults is not a number above 0");
  }
  return std::min(most, kLargestListing);
}

/// What both the request and the grant speak of.
Result<std::string> scope_of(const Grant& grant, const std::string& asked) {
  if (covers(grant, asked)) return asked;
  const bool is_folder = grant.prefix.ends_with('/');
  if (grant.prefix.starts_with(asked)) return is_folder ? grant.prefix : grant.prefix + "/";
  return fail_blob("AuthorizationPermissionMismatch", "the signature is for other blobs");
}

Result<ListQuery> query_of(const Call& call, const BlobRequest& request) {
  ListQuery query{.prefix = call.query_value("prefix"), .delimiter = call.query_value("delimiter")};
  query.most = TRY(most_of(call));
  if (!is_valid_utf8(query.prefix) || !is_valid_utf8(query.delimiter)) {
    return fail_blob("InvalidQueryParameterValue", "prefix or delimiter is not UTF-8");
  }
  const Result<std::string> after = from_base64(call.query_value("marker"));
  if (!after) return fail_blob("InvalidQueryParameterValue", "marker is not one of ours");
  query.after = *after;
  query.root = request.target.path;
  if (!query.root.empty() && !query.root.ends_with('/')) query.root += '/';
  query.scope = TRY(scope_of(request.grant, query.root + query.prefix));
  return query;
}

/// The log of the one job that a listing is about, while it grows and is not stored as a blob.
std::optional<Blob> growing_log_below(const Services& services, const store::BlobKey& place) {
  constexpr std::string_view kStart = "ExperimentRun/dcid.";
  if (!place.path.starts_with(kStart)) return std::nullopt;
  const std::string name =
      place.path.substr(kStart.size(), place.path.find('/', kStart.size()) - kStart.size());
  const store::BlobKey key = log_blob({place.workspace, name});
  if (key.container != place.container || !key.path.starts_with(place.path)) return std::nullopt;
  const auto job = growing_log(services, key);
  if (!job) return std::nullopt;
  return blob_of_growing_log(services, *job);
}

/// Reads blobs in order, a batch at a time, with the growing log in its place among them.
class BlobCursor {
 public:
  BlobCursor(const Services& services, const store::BlobKey& scope, std::string after,
             std::size_t batch)
      : services_(services),
        query_{.workspace = scope.workspace,
               .container = scope.container,
               .prefix = scope.path,
               .after = std::move(after),
               .limit = batch},
        growing_(growing_log_below(services, scope)) {}

  /// The next blob, or null at the end. Valid until the next call.
  Result<const Blob*> next() {
    if (at_ == batch_.size() && !is_last_) TRY(fetch());
    return at_ == batch_.size() ? nullptr : &batch_[at_++];
  }

  /// Leaves out all that sorts up to and including this text.
  void skip_to(const std::string& after) {
    while (at_ < batch_.size() && batch_[at_].key.path <= after) ++at_;
    query_.after = std::max(query_.after, after);
  }

 private:
  Status fetch() {
    store::Page<Blob> page = TRY(services_.store.blobs(query_));
    at_ = 0;
    is_last_ = !page.is_cut && page.size() < query_.limit;
    batch_ = std::move(page);
    if (growing_) add_growing();
    if (!batch_.empty()) query_.after = batch_.back().key.path;
    return Done{};
  }

  void add_growing() {
    const std::string& path = growing_->key.path;
    if (path <= query_.after) return;
    const auto place = std::ranges::lower_bound(
        batch_, path, {}, [](const Blob& blob) -> const std::string& { return blob.key.path; });
    if (place == batch_.end() && !is_last_) return;  // It comes with a later batch.
    if (place != batch_.end() && place->key.path == path) {
      *place = *growing_;
    } else {
      batch_.insert(place, *growing_);
    }
  }

  const Services& services_;
  store::BlobQuery query_;
  std::optional<Blob> growing_;
  std::vector<Blob> batch_;
  std::size_t at_ = 0;
  bool is_last_ = false;
};

std::size_t shown_bytes(const Blob& blob) {
  std::size_t bytes = 300 + blob.key.path.size();
  for (const auto& [name, value] : blob.metadata) bytes += 2 * name.size() + value.size();
  return bytes;
}

/// As its client sees it: the name begins behind the folder that is addressed as a container.
wire::blob::ListedBlob listed(const Blob& blob, std::size_t shown_from) {
  return {.name = blob.key.path.substr(shown_from),
          .size = blob.size,
          .content_type = blob.content_type,
          .content_md5 = blob.content_md5,
          .etag = etag_of(blob),
          .metadata = blob.metadata,
          .created_at = blob.created_at,
          .modified_at = blob.modified_at};
}

/// Fills the listing. A virtual folder counts as one entry, and all in it is passed over.
Status fill(const Call& call, const BlobRequest& request, const ListQuery& query,
            wire::blob::Listing& listing) {
  store::BlobKey scope = request.target;
  scope.path = query.scope;
  BlobCursor cursor(call.services, scope, query.after, query.most + 1);
  const std::size_t shown_from = query.root.size();
  const std::size_t folder_from = query.root.size() + query.prefix.size();
  std::string last = query.after;
  store::PageBudget budget;
  while (const Blob* blob = TRY(cursor.next())) {
    if (listing.blobs.size() + listing.prefixes.size() == query.most || budget.is_spent()) {
      listing.next_marker = to_base64(last);
      break;
    }
    const std::string& path = blob->key.path;
    const std::size_t cut =
        query.delimiter.empty() ? std::string::npos : path.find(query.delimiter, folder_from);
    if (cut == std::string::npos) {
      last = path;
      budget.take(shown_bytes(*blob));
      listing.blobs.push_back(listed(*blob, shown_from));
    } else {
      const std::string folder = path.substr(0, cut + query.delimiter.size());
      listing.prefixes.push_back(folder.substr(shown_from));
      last = folder + kBehindAll;
      cursor.skip_to(last);
    }
  }
  return Done{};
}

}  // namespace

Result<io::Reply> list_blobs(const Call& call, const BlobRequest& request) {
  const ListQuery query = TRY(query_of(call, request));
  wire::blob::Listing listing{.container_url = call.base_url() + call.request.head.path,
                              .prefix = query.prefix,
                              .marker = call.query_value("marker"),
                              .delimiter = query.delimiter,
                              .most = query.most};
  TRY(fill(call, request, query, listing));
  if (equals_ignoring_case(call.query_value("berth-format"), "json")) {
    return io::Reply{.body = listing_to_json(listing)};
  }
  const bool with_metadata =
      to_lower(call.query_value("include")).find("metadata") != std::string::npos;
  return io::Reply{.content_type = "application/xml",
                   .body = listing_to_xml(listing, with_metadata)};
}

}  // namespace berth::server
