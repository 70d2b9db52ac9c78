// SPDX-License-Identifier: Apache-2.0
#include "node/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "io/file.h"
#include "node/blob.h"

namespace berth::node {
namespace {

using Steps = std::vector<TransferStep>;
using wire::node::Fetch;

/// As on Azure, where blobs have no mode: a script that is uploaded may be run.
constexpr unsigned kMode = 0755;

Status fetch_to(const TransferView& view, const std::string& url, const std::string& destination) {
  const io::Root root = TRY(io::Root::open(view.directory));
  const io::Descriptor file = TRY(root.open_for_writing(destination, O_TRUNC, kMode));
  return download(url, [&](std::string_view bytes) -> Status {
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

/// The place of a listed blob, relative to the attempt's directory.
std::string place_of(const Fetch& fetch, std::string_view name) {
  std::string_view below = name.substr(std::min(fetch.prefix.size(), name.size()));
  if (below.starts_with('/')) below.remove_prefix(1);
  return fmt::format("{}/{}", fetch.destination, below);
}

TransferStep blob_step(std::size_t index, const std::string& name, const std::string& what) {
  return {.run = [index, name](const TransferView& view) -> Result<Steps> {
            const Fetch& wanted = view.launch->fetches.at(index);
            TRY(fetch_to(view, blob_url(wanted.url, name), place_of(wanted, name)));
            return Steps{};
          },
          .what = what};
}

TransferStep listing_step(std::size_t index, const std::string& marker, const std::string& what) {
  return {.run = [index, marker, what](const TransferView& view) -> Result<Steps> {
            const Fetch& wanted = view.launch->fetches.at(index);
            const BlobPage page = TRY(list_blobs(wanted.url, wanted.prefix, marker));
            Steps steps;
            if (!page.next.empty()) steps.push_back(listing_step(index, page.next, what));
            for (const std::string& name : page.names) {
              if (name.starts_with(wanted.prefix)) steps.push_back(blob_step(index, name, what));
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
