// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/transfer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "io/http/http_client.h"
#include "wire/arm/error.h"
#include "wire/blob/address.h"
#include "wire/blob/block_list.h"

namespace berth::cli {
namespace {

constexpr std::size_t kThreads = 16;
constexpr std::uint64_t kLargestSinglePut = 64u << 20;
constexpr std::uint64_t kBlockSize = 16u << 20;
constexpr int kTries = 3;

/// What the threads of one transfer share.
struct Shared {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> files = 0;
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex{};
  std::condition_variable ended{};
  std::size_t running = 0;  // Guarded by the mutex, like what follows.
  Status result = Done{};
};

using Move = std::function<Status(io::HttpClient& http, std::size_t index, Shared& shared)>;

Status check(const Result<io::ClientResponse>& response) {
  if (!response) return fail(response.error());
  if (response->status < 400) return Done{};
  return fail(wire::arm::error_from(response->status, response->body));
}

/// Repeats what may pass: every move of ours may be done twice.
Status persistently(const std::function<Status()>& attempt) {
  for (int tries = 1;; ++tries) {
    Status status = attempt();
    if (status || status.error().code != Code::Unavailable || tries == kTries) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(200) * tries);
  }
}

void work(std::size_t count, const std::string& authority_file, const Move& move, Shared& shared) {
  io::HttpClient http({.authority_file = authority_file});
  while (!shared.failed) {
    const std::size_t index = shared.next++;
    if (index >= count) break;
    const Status moved = persistently([&] { return move(http, index, shared); });
    if (moved) {
      ++shared.files;
      continue;
    }
    const std::lock_guard lock(shared.mutex);
    if (!shared.failed.exchange(true)) shared.result = moved;
  }
  const std::lock_guard lock(shared.mutex);
  --shared.running;
  shared.ended.notify_all();
}

void show(const TransferOptions& options, const Shared& shared, std::size_t count) {
  const std::string of_bytes =
      options.total_bytes > 0 ? " of " + human_bytes(options.total_bytes) : "";
  options.console.progress(fmt::format("{}: {} of {} files, {}{}", options.what,
                                       shared.files.load(), count, human_bytes(shared.bytes),
                                       of_bytes));
}

Status move_all(std::size_t count, const TransferOptions& options, const Move& move) {
  Shared shared;
  std::vector<std::jthread> threads;
  shared.running = std::min(count, kThreads);
  for (std::size_t i = std::min(count, kThreads); i > 0; --i) {
    threads.emplace_back([&] { work(count, options.authority_file, move, shared); });
  }
  {
    std::unique_lock lock(shared.mutex);
    constexpr std::chrono::milliseconds kBetweenLines{100};
    const auto over = [&] { return shared.running == 0; };
    while (!shared.ended.wait_for(lock, kBetweenLines, over)) {
      lock.unlock();
      show(options, shared, count);
      lock.lock();
    }
  }
  threads.clear();
  options.console.clear_progress();
  return shared.result;
}

struct Source {
  std::shared_ptr<const io::Descriptor> file{};
  std::uint64_t size = 0;
};

Result<Source> open_source(const std::string& path) {
  auto file = std::make_shared<io::Descriptor>(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!*file || fstat(file->get(), &status) != 0) {
    return fail(io::error_from_errno(errno, "cannot read '" + path + "'"));
  }
  return Source{std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

Status put_blocks(io::HttpClient& http, const Upload& upload, const Source& source,
                  Shared& shared) {
  std::uint64_t number = 0;
  for (std::uint64_t offset = 0; offset < source.size; offset += kBlockSize, ++number) {
    const std::uint64_t length = std::min(kBlockSize, source.size - offset);
    const std::string id = percent_encode(wire::blob::block_id(number));
    TRY(check(http.send({.method = "PUT",
                         .url = wire::blob::with_query(upload.url, "comp=block&blockid=" + id),
                         .upload = io::FileRange{source.file, offset, length}})));
    shared.bytes += length;
    if (shared.failed) return fail(Code::Internal, "stopped");
  }
  return check(http.send({.method = "PUT",
                          .url = wire::blob::with_query(upload.url, "comp=blocklist"),
                          .body = wire::blob::block_list_xml(number)}));
}

Status put_file(io::HttpClient& http, const Upload& upload, Shared& shared) {
  const Source source = TRY(open_source(upload.source));
  if (source.size > kLargestSinglePut) return put_blocks(http, upload, source, shared);
  io::ClientRequest request{.method = "PUT", .url = upload.url};
  request.headers.emplace_back("x-ms-blob-type", "BlockBlob");
  request.headers.emplace_back("Content-Type", "application/octet-stream");
  if (source.size > 0) request.upload = io::FileRange{source.file, 0, source.size};
  TRY(check(http.send(request)));
  shared.bytes += source.size;
  return Done{};
}

Status get_file(io::HttpClient& http, const Download& download, const io::Root& root,
                Shared& shared) {
  const std::size_t slash = download.path.rfind('/');
  if (slash != std::string::npos) TRY(root.make_directories(download.path.substr(0, slash), 0755));
  const io::Descriptor file = TRY(root.open_for_writing(download.path, O_TRUNC, 0644));
  io::ClientRequest request{.url = download.url};
  request.sink = [&](std::string_view bytes) -> Status {
    if (shared.failed) return fail(Code::Internal, "stopped");
    shared.bytes += bytes.size();
    return io::write_all(file.get(), bytes);
  };
  return check(http.send(request));
}

}  // namespace

Status upload_all(const std::vector<Upload>& files, const TransferOptions& options) {
  return move_all(files.size(), options, [&](io::HttpClient& http, std::size_t i, Shared& shared) {
    Status put = put_file(http, files[i], shared);
    if (put) return put;
    return Status(fail(put.error().code, fmt::format("cannot upload '{}': {}", files[i].source,
                                                     put.error().message)));
  });
}

Status download_all(const std::vector<Download>& files, const io::Root& root,
                    const TransferOptions& options) {
  return move_all(files.size(), options, [&](io::HttpClient& http, std::size_t i, Shared& shared) {
    Status got = get_file(http, files[i], root, shared);
    if (got) return got;
    return Status(fail(got.error().code, fmt::format("cannot download '{}': {}", files[i].path,
                                                     got.error().message)));
  });
}

}  // namespace berth::cli
