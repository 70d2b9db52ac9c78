// SPDX-License-Identifier: Apache-2.0
#include "node/transfer/deliver.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "io/files/beneath.h"
#include "io/files/file.h"
#include "node/files/job_user.h"
#include "node/files/restored.h"
#include "node/transfer/blob.h"
#include "node/transfer/kept_name.h"

namespace berth::node {
namespace {

using Steps = std::vector<TransferStep>;
using wire::node::Deliver;

/// A job may have put a link in the place of what it was to write: where that leads, relative to
/// the attempt's directory.
Result<std::string> place_inside(const TransferView& view, const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> root(::realpath(view.directory.c_str(), nullptr),
                                                    ::free);
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  if (!root || !real) return fail(io::error_from_errno(errno, "find it"));
  const std::string below = std::string(root.get()) + "/";
  if (std::string_view(real.get()).starts_with(below)) return real.get() + below.size();
  return fail(Code::InvalidArgument, "it is a link that leaves the job's directory");
}

/// We may read what the job's user may not, and a second name for such a file is easily made.
Status check_owner(const TransferView& view, const std::string& place, const struct stat& found) {
  if (view.launch->run_as.empty() || place.starts_with("user_logs/")) return Done{};
  const JobUser user = TRY(find_job_user(view.launch->run_as));
  if (found.st_uid == user.uid) return Done{};
  return fail(Code::InvalidArgument, "it does not belong to the job's user");
}

/// What is wrong with this one file, and would be the next time.
tl::unexpected<Error> of_this_file(Error error) {
  error.code = Code::InvalidArgument;
  return fail(std::move(error));
}

/// The links are followed once, and the place they led to is then opened without any: somebody who
/// puts another one there meanwhile gains nothing.
Status deliver_file(const TransferView& view, const std::string& path, const std::string& url) {
  const Result<std::string> found_at = place_inside(view, path);
  if (!found_at) return of_this_file(found_at.error());
  const std::string& place = *found_at;
  const io::Root root = TRY(io::Root::open(view.directory));
  // Not blocking: a pipe somebody left there would wait for a writer for ever.
  Result<io::Descriptor> opened = io::open_beneath(root.fd(), place, O_RDONLY | O_NONBLOCK);
  if (!opened) return of_this_file(opened.error());
  auto file = std::make_shared<const io::Descriptor>(std::move(*opened));
  struct stat found {};
  if (::fstat(file->get(), &found) != 0) return fail(io::error_from_errno(errno, "read it"));
  if (!S_ISREG(found.st_mode)) return fail(Code::InvalidArgument, "it is not a file");
  TRY(check_owner(view, place, found));
  return upload(view.authority, url, std::move(file), static_cast<std::uint64_t>(found.st_size));
}

/// "outputs/" and "output 'model'", before the path of a file in it.
std::string file_of(const std::string& what, std::string_view relative) {
  return what.ends_with('/') ? what + shown_path(relative)
                             : fmt::format("{}: '{}'", what, shown_path(relative));
}

std::string not_kept(const std::string& file, std::string_view why) {
  return fmt::format("{} is not kept: {}", file, why);
}

std::string address_of(const Deliver& delivery, const std::string& name) {
  return wire::blob::blob_url(wire::blob::container_from(delivery.container_url), name);
}

/// A file of a folder. What cannot be sent back of it is told, and is no reason for the job to
/// fail: the command did its work.
TransferStep file_step(std::size_t index, const std::string& relative, const std::string& kept_as,
                       const std::string& what) {
  return {.run = [index, relative, kept_as, what](const TransferView& view) -> Result<Steps> {
            const Deliver& delivery = view.launch->deliveries.at(index);
            const std::string path =
                fmt::format("{}/{}/{}", view.directory, delivery.source, relative);
            const Status sent =
                deliver_file(view, path, address_of(delivery, delivery.prefix + kept_as));
            const std::string file = file_of(what, relative);
            if (!sent && sent.error().code != Code::InvalidArgument) return fail(sent.error());
            if (!sent) return Steps{note_step(not_kept(file, sent.error().message))};
            if (kept_as == relative) return Steps{};
            return Steps{note_step(fmt::format("{} is kept as '{}{}'", file,
                                               what.ends_with('/') ? what : "", kept_as))};
          },
          .what = file_of(what, relative)};
}

TransferStep folder_step(std::size_t index, const std::string& what) {
  return {.run = [index, what](const TransferView& view) -> Result<Steps> {
            const Deliver& delivery = view.launch->deliveries.at(index);
            const std::string folder = view.directory + "/" + delivery.source;
            if (::access(folder.c_str(), F_OK) != 0) return Steps{};
            TRY(place_inside(view, folder));
            Steps steps;
            auto files = io::list_tree(folder, [&](std::string_view path) {
              steps.push_back(note_step(not_kept(
                  file_of(what, path), "it is not a file, or a link that leaves the folder")));
            });
            if (!files) return fail(files.error());
            if (delivery.only_changed) keep_changed(AttemptPaths(view.directory), folder, *files);
            const std::size_t prefix = std::min(delivery.prefix.size(), kLongestBlobPath);
            KeptNames names(*files, kLongestBlobPath - prefix);
            for (const io::FileEntry& file : *files) {
              steps.push_back(file_step(index, file.path, names.name_of(file.path), what));
            }
            return steps;
          },
          .what = what};
}

/// One file. A command that failed may leave it out; one that went well has promised it.
TransferStep single_step(std::size_t index, const std::string& what, bool was_success) {
  return {.run = [index, was_success](const TransferView& view) -> Result<Steps> {
            const Deliver& delivery = view.launch->deliveries.at(index);
            const std::string path = view.directory + "/" + delivery.source;
            if (::access(path.c_str(), F_OK) != 0) {
              if (!was_success) return Steps{};
              return fail(Code::InvalidArgument, "the command did not write it");
            }
            TRY(deliver_file(view, path, address_of(delivery, delivery.prefix)));
            return Steps{};
          },
          .what = what};
}

/// False unless it certainly is an empty folder, or not there.
bool is_empty_folder(const io::Root& root, const std::string& path) {
  Result<io::Descriptor> opened = io::open_beneath(root.fd(), path, O_RDONLY | O_DIRECTORY);
  if (!opened) return opened.error().code == Code::NotFound;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(opened->get()), ::closedir);
  if (!entries) return false;
  (void)opened->release();
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  return true;
}

}  // namespace

bool has_deliveries(const wire::node::Launch& launch, const std::string& directory,
                    const std::function<bool(std::string_view)>& is_untouched) {
  return std::ranges::any_of(launch.deliveries, [&](const Deliver& delivery) {
    if (!delivery.is_folder) return true;
    if (is_untouched(delivery.source)) return false;
    const Result<io::Root> root = io::Root::open(directory);
    return !root || !is_empty_folder(*root, delivery.source);
  });
}

std::vector<TransferStep> deliver_steps(const wire::node::Launch& launch, bool was_success) {
  Steps steps;
  for (std::size_t index = 0; index < launch.deliveries.size(); ++index) {
    const Deliver& delivery = launch.deliveries[index];
    steps.push_back(delivery.is_folder ? folder_step(index, delivery.what)
                                       : single_step(index, delivery.what, was_success));
  }
  return steps;
}

}  // namespace berth::node
