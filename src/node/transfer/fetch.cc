// SPDX-License-Identifier: Apache-2.0
#include "node/transfer/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "io/files/file.h"
#include "node/transfer/blob.h"

namespace berth::node {
namespace {

using Steps = std::vector<TransferStep>;
using wire::node::Fetch;

/// As on Azure, where blobs have no mode: a script that is uploaded may be run.
constexpr unsigned kMode = 0755;

Status fetch_to(const TransferView& view, const std::string& url, const std::string& destination) {
  const io::Root root = TRY(io::Root::open(view.directory));
  const io::Descriptor file = TRY(root.open_for_writing(destination, O_TRUNC, kMode));
  return download(view.authority, url, [&](std::string_view bytes) -> Status {
    if (view.is_aborted->load()) return fail(Code::InvalidArgument, "not wanted any more");
    return io::write_all(file.get(), bytes);
  });
}

TransferStep file_step(std::size_t index, const Fetch& fetch) {
  return {.run = [index](const TransferView& view) -> Result<Steps> {
            const Fetch& wanted = view.launch->fetches.at(index);
            TRY(fetch_to(view, wanted.url, wanted.destination));
            return Steps{};
          },
          .what = fetch.what};
}

/// "data" means the folder of that name, not "data2" beside it.
std::string folder_prefix(const Fetch& fetch) {
  const bool is_complete = fetch.prefix.empty() || fetch.prefix.ends_with('/');
  return is_complete ? fetch.prefix : fetch.prefix + "/";
}

TransferStep blob_step(std::size_t index, const std::string& name, const std::string& what) {
  return {.run = [index, name](const TransferView& view) -> Result<Steps> {
            const Fetch& wanted = view.launch->fetches.at(index);
            const std::string below = name.substr(folder_prefix(wanted).size());
            const auto container = wire::blob::container_from(wanted.url);
            TRY(fetch_to(view, wire::blob::blob_url(container, name),
                         wanted.destination + "/" + below));
            return Steps{};
          },
          .what = what};
}

TransferStep listing_step(std::size_t index, const std::string& marker, const std::string& what) {
  return {.run = [index, marker, what](const TransferView& view) -> Result<Steps> {
            const Fetch& wanted = view.launch->fetches.at(index);
            const std::string prefix = folder_prefix(wanted);
            const auto container = wire::blob::container_from(wanted.url);
            const auto page = TRY(list_blobs(view.authority, container, prefix, marker));
            Steps steps;
            if (!page.next.empty()) steps.push_back(listing_step(index, page.next, what));
            for (const wire::blob::ListedBlob& blob : page.blobs) {
              const std::string& name = blob.name;
              // Some tools mark a folder by an empty blob "folder/".
              const bool is_file = name.starts_with(prefix) && !name.ends_with('/');
              if (is_file) steps.push_back(blob_step(index, name, what));
            }
            return steps;
          },
          .what = what};
}

}  // namespace

std::vector<TransferStep> fetch_steps(const wire::node::Launch& launch) {
  Steps steps;
  for (std::size_t index = 0; index < launch.fetches.size(); ++index) {
    const Fetch& fetch = launch.fetches[index];
    steps.push_back(fetch.is_folder ? listing_step(index, "", fetch.what)
                                    : file_step(index, fetch));
  }
  return steps;
}

}  // namespace berth::node
