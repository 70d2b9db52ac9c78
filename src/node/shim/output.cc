// SPDX-License-Identifier: Apache-2.0
#include "node/shim/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "node/files/disk_room.h"
#include "node/mpi/rank.h"

namespace berth::node {
namespace {

constexpr Duration kPatience = std::chrono::seconds(30);
constexpr Duration kPatienceWithMuch = std::chrono::seconds(2);
constexpr Duration kForever = std::chrono::hours(24);

}  // namespace

Result<int> Output::open(const std::string& log, const std::optional<JobUser>& user) {
  io::Descriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail(io::error_from_errno(errno, "open the log file"));
  io::Pipe pipe = TRY(io::make_pipe());
  const int writer = pipe.writer.get();
  // Who opens it again by its name in /proc is asked for his rights like with any file.
  if (user && ::fchown(writer, user->uid, user->gid) != 0) {
    return fail(io::error_from_errno(errno, "give the log's pipe to the job's user"));
  }
  TRY(pump_.add(std::move(pipe), std::move(file)));
  return writer;
}

Status Output::connect(CommandSpec& command) {
  command.output = TRY(open(command.log, command.user));
  if (command.rank_logs.empty()) return Done{};
  std::string places = fmt::format("/proc/{}/fd/{}", ::getpid(), command.output);
  for (std::size_t rank = 1; rank < command.rank_logs.size(); ++rank) {
    const int writer = TRY(open(command.rank_logs[rank], command.user));
    places += fmt::format(":/proc/{}/fd/{}", ::getpid(), writer);
  }
  command.command.environment[kRankLogsVariable] = places;
  return Done{};
}

bool Output::has_waited_enough(TimePoint now) {
  const auto trouble = pump_.trouble();
  if (!trouble) {
    patience_.reset();
    return false;
  }
  if (!patience_) patience_ = holds_much_of_its_disk(directory_) ? kPatienceWithMuch : kPatience;
  return now - trouble->since >= *patience_;
}

Duration Output::pause(TimePoint now) const {
  const auto trouble = pump_.trouble();
  if (!trouble || !patience_) return kForever;
  return std::max(*patience_ - (now - trouble->since), Duration(1));
}

bool Output::is_for_lack_of_room() const {
  const auto trouble = pump_.trouble();
  return trouble && (trouble->error_number == ENOSPC || trouble->error_number == EDQUOT);
}

std::string Output::trouble() const {
  const auto trouble = pump_.trouble();
  if (!trouble) return "";
  return std::generic_category().message(trouble->error_number);
}

}  // namespace berth::node
