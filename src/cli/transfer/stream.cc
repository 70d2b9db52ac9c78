// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/stream.h"

#include <charconv>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "cli/output/terminal_filter.h"
#include "wire/arm/error.h"

namespace berth::cli {
namespace {

constexpr int kWaitSeconds = 25;
/// How long a server may be away before we give up; its job goes on either way.
constexpr std::chrono::seconds kPatience{60};

class Follower {
 public:
  Follower(Client& client, const Console& console, const std::string& job,
           const std::function<Status(std::string_view)>& write)
      : client_(client), console_(console), job_(job), write_(write) {}

  Status run() {
    while (!ended_) {
      const auto response = ask();
      if (!written_) return written_;
      if (response && response->status < 400) {
        take(*response);
      } else {
        TRY(wait_for_server(response ? wire::arm::error_from(response->status, response->body)
                                     : response.error()));
      }
    }
    console_.clear_progress();
    return Done{};
  }

 private:
  Result<io::ClientResponse> ask() {
    io::ClientRequest request{
        .url = client_.berth_path(fmt::format("/jobs/{}/log?offset={}&attempt={}&wait={}", job_,
                                              offset_, attempt_, kWaitSeconds))};
    request.sink = [this](std::string_view bytes) -> Status {
      // Counted before a failure can end the exchange: what was written is not asked for again.
      written_ = write_(bytes);
      if (written_) offset_ += bytes.size();
      return written_;
    };
    return client_.send_once(request);
  }

  void take(const io::ClientResponse& response) {
    away_since_.reset();
    ended_ = io::header(response.headers, "x-berth-log-end") == "true";
    const std::string_view status = io::header(response.headers, "x-berth-job-status");
    if (!ended_ && status != status_ && offset_ == 0) {
      console_.progress(fmt::format("{}: {}", job_, status));
    }
    status_ = status;
    follow_attempt(io::header(response.headers, "x-berth-log-attempt"));
  }

  /// A job whose attempt was taken from it begins again, and so does its log.
  void follow_attempt(std::string_view text) {
    int attempt = 0;
    std::from_chars(text.data(), text.data() + text.size(), attempt);
    if (attempt_ > 0 && attempt > attempt_) {
      if (offset_ > 0) console_.note(fmt::format("{} runs again: attempt {}", job_, attempt));
      offset_ = 0;
    }
    attempt_ = std::max(attempt, attempt_);
  }

  Status wait_for_server(const Error& error) {
    const bool may_pass = error.code == Code::Unavailable || error.code == Code::OutOfSpace;
    const TimePoint now = SystemClock().now().mono;
    if (!away_since_) away_since_ = now;
    if (!may_pass || now - *away_since_ > kPatience) return fail(error);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (const Status found = client_.find_again(); !found) {
      console_.detail(found.error().message);
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    return Done{};
  }

  Client& client_;
  const Console& console_;
  const std::string& job_;
  const std::function<Status(std::string_view)>& write_;
  std::uint64_t offset_ = 0;
  int attempt_ = 0;  ///< Whose log offset_ is of; 0: none has begun.
  std::string status_{};
  bool ended_ = false;
  Status written_ = Done{};
  std::optional<TimePoint> away_since_{};
};

}  // namespace

Status follow_log(Client& client, const Console& console, const std::string& job,
                  const std::function<Status(std::string_view)>& write) {
  return Follower(client, console, job, write).run();
}

Result<Shown> show_log(Context& context, const std::string& job) {
  Shown shown;
  TerminalFilter filter;
  const bool is_terminal = context.console.out_is_terminal;
  TRY(follow_log(context.client, context.console, job, [&](std::string_view bytes) {
    if (!bytes.empty()) shown.ends_in_newline = bytes.back() == '\n';
    return context.console.out(is_terminal ? filter.filter(bytes) : std::string(bytes));
  }));
  if (is_terminal) TRY(context.console.out(filter.finish()));
  return shown;
}

Status stream_job(Context& context, const std::string& job, const std::string& web_view) {
  const std::string_view title = "Streaming user_logs/std_log.txt";
  TRY(context.console.out(fmt::format("RunId: {}\nWeb View: {}\n\n{}\n{}\n\n", job, web_view, title,
                                      std::string(title.size(), '='))));
  const Shown shown = TRY(show_log(context, job));
  return context.console.out(
      fmt::format("{}\nExecution Summary\n=================\nRunId: {}\nWeb View: {}\n\n",
                  shown.ends_in_newline ? "" : "\n", job, web_view));
}

}  // namespace berth::cli
