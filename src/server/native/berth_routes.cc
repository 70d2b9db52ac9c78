// SPDX-License-Identifier: Apache-2.0
// /berth/v1: what Azure has no name for.
#include <unistd.h>

#include <charconv>

#include "base/caught.h"
#include "base/record.h"
#include "base/version.h"
#include "server/assets/log_blob.h"
#include "server/blob/job_log.h"
#include "server/door/route.h"
#include "server/fleet/log_store.h"
#include "server/fleet/log_waiters.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/ledger.h"

namespace berth::server {
namespace {

namespace json = boost::json;
using model::Job;
using model::JobKey;

constexpr std::size_t kLargestLogPart = 1 << 20;
constexpr std::uint64_t kLongestWaitSeconds = 30;
constexpr std::uint64_t kMostAttempts = 1'000'000;

// ---- Status ------------------------------------------------------------------------------------

Result<io::Reply> status(Call& call) {
  const core::State& state = call.services.ledger.state();
  json::array nodes;
  for (const auto& [id, node] : state.nodes) {
    json::value& shown = nodes.emplace_back(record::encode(node));
    shown.as_object()["requested_at"] = to_iso8601(node.requested_at);
  }
  return json_reply(200, {{"version", std::string(kVersion)},
                          {"pid", ::getpid()},
                          {"port", call.services.facts.port},
                          {"home", call.services.facts.home},
                          {"disk_full", call.services.store.is_full()},
                          {"nodes", std::move(nodes)},
                          {"jobs", {{"running", state.under_way}, {"queued", state.queued}}}});
}

// ---- Logs --------------------------------------------------------------------------------------

/// A part of a log, and whether the reader has now seen all there will ever be.
struct LogPart {
  std::string bytes{};                 ///< Of a log that grows.
  std::vector<io::FileRange> files{};  ///< Of one that does not.
  model::JobStatus status{};
  int attempt = 0;
  bool is_end = false;
  bool is_next_attempt = false;  ///< The reader's is over; this is where the next one begins.

  bool is_news() const { return is_end || is_next_attempt || !bytes.empty() || !files.empty(); }
};

/// Where a reader is: how much of which attempt's log it has. Attempt 0: of whichever comes first.
struct LogPosition {
  std::uint64_t offset = 0;
  int attempt = 0;
};

/// What a reader of an attempt that was taken from the job has not seen of it.
Result<LogPart> read_taken(const Services& services, const Job& job, const LogPosition& from) {
  LogPart part{.status = job.status, .attempt = from.attempt};
  const auto blob = TRY(services.store.blob(attempt_log_blob(job.key, from.attempt)));
  if (blob && from.offset < blob->size) {
    part.files = TRY(open_range(services.objects, *blob, from.offset, blob->size - from.offset));
    return part;
  }
  part.attempt = job.attempt;
  part.is_next_attempt = true;
  return part;
}

Result<LogPart> read_log(const Services& services, const JobKey& key, const LogPosition& from) {
  const std::uint64_t offset = from.offset;
  const Job job = TRY(services.jobs.find_recorded(key));
  if (from.attempt > 0 && from.attempt < job.attempt) return read_taken(services, job, from);
  LogPart part{.status = job.status, .attempt = job.attempt};
  const bool is_over = model::is_terminal(job.status);
  const auto blob =
      is_over ? TRY(services.store.blob(log_blob(key))) : std::optional<store::Blob>();
  if (blob) {
    const std::uint64_t first = std::min(offset, blob->size);
    part.files = TRY(open_range(services.objects, *blob, first, blob->size - first));
    part.is_end = true;
  } else {
    // Of a job that is over, this is the log of one whose node was lost: nobody sealed it.
    part.bytes = services.logs.read(key, offset, kLargestLogPart).value_or("");
    part.is_end = is_over && part.bytes.size() < kLargestLogPart;
  }
  return part;
}

io::Reply reply_of(LogPart part, std::uint64_t offset) {
  return {
      .status = 200,
      .headers = {{"x-berth-log-offset", std::to_string(offset)},
                  {"x-berth-job-status", boost::describe::enum_to_string(part.status, "Unknown")},
                  {"x-berth-log-attempt", std::to_string(part.attempt)},
                  {"x-berth-log-end", part.is_end ? "true" : "false"},
                  {"Cache-Control", "no-store"},
                  {"X-Content-Type-Options", "nosniff"}},
      .content_type = "application/octet-stream",
      .body = std::move(part.bytes),
      .files = std::move(part.files)};
}

Result<std::uint64_t> number(const Call& call, std::string_view name) {
  const std::string text = call.query_value(name);
  std::uint64_t value = 0;
  if (text.empty()) return value;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed == std::errc() && stopped == end) return value;
  return fail(Code::InvalidArgument, fmt::format("'{}' is not a number", name), std::string(name));
}

/// Bytes of the log from `offset` on, of `attempt` if that is given; with `wait`, the answer comes
/// when there are some, or the job is over, or the time is.
Result<io::Reply> log(Call& call) {
  call.is_recorded = true;
  const JobKey key{call.workspace->id, call.parameter("name")};
  LogPosition from{.offset = TRY(number(call, "offset"))};
  from.attempt =
      static_cast<int>(std::min<std::uint64_t>(TRY(number(call, "attempt")), kMostAttempts));
  const std::uint64_t wait = std::min(TRY(number(call, "wait")), kLongestWaitSeconds);
  LogPart part = TRY(read_log(call.services, key, from));
  if (part.is_news() || wait == 0) return reply_of(std::move(part), from.offset);

  const TimePoint deadline = call.services.clock.now().mono + std::chrono::seconds(wait);
  call.services.log_waiters.add(
      key, deadline,
      [&services = call.services, key, from, respond = call.respond](bool is_last_chance) {
        Result<LogPart> news =
            caught("reading a log", [&] { return read_log(services, key, from); });
        if (news && !news->is_news() && !is_last_chance) return false;
        respond(news ? Result<io::Reply>(reply_of(*std::move(news), from.offset))
                     : fail(news.error()));
        return true;
      });
  return later();
}

Result<io::Reply> explain(Call& call) {
  const JobKey key{call.workspace->id, call.parameter("name")};
  const std::string explanation = TRY(call.services.jobs.explain(key));
  return json_reply(200, {{"explanation", explanation}});
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kStatus = allow("Berth/server/read");
constexpr Permission kReadJob = allow("Microsoft.MachineLearningServices/workspaces/jobs/read");

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/status", kStatus, BodyKind::None, status},
    {"GET", "/berth/v1/W/jobs/{name}/log", kReadJob, BodyKind::None, log},
    {"GET", "/berth/v1/W/jobs/{name}/explain", kReadJob, BodyKind::None, explain},
};

}  // namespace

std::span<const Route> berth_routes() { return kRoutes; }

}  // namespace berth::server
