// SPDX-License-Identifier: Apache-2.0
#include "cli/discovery.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"
#include "base/environment.h"
#include "base/record.h"
#include "base/text.h"
#include "io/files/file.h"
#include "io/files/state_directory.h"
#include "io/http/http_client.h"
#include "io/http/loopback_socket.h"
#include "wire/yaml/server_settings.h"

namespace berth::cli {
namespace {

constexpr std::uint64_t kLargestFile = 64 * 1024;
constexpr std::chrono::seconds kStartTimeout{30};
constexpr std::chrono::seconds kLeaveTimeout{30};
constexpr std::chrono::seconds kReturnTimeout{
    5};  // A service manager starts what was killed again.

Result<std::string> read_token(const Place& place) {
  // Somebody else than the owner, on the owner's machine.
  if (const std::string token = place.variable("BERTH_TOKEN"); !token.empty()) return token;
  const std::string path = place.home + "/owner.token";
  const auto token = io::read_file(path, 4096);
  if (!token) {
    return fail(token.error().code, "cannot read the owner's token: " + token.error().message);
  }
  return std::string(trim(*token));
}

Result<Endpoint> remote_server(const Place& place) {
  Endpoint endpoint{.base_url = place.variable("BERTH_URL"),
                    .token = place.variable("BERTH_TOKEN"),
                    .authority_file = place.variable("BERTH_CA"),
                    .is_ours = false};
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  const bool is_safe = starts_with_ignoring_case(endpoint.base_url, "https://") ||
                       io::loopback_place(endpoint.base_url).has_value();
  if (!is_safe) {
    // A token must not cross a network in the clear.
    return fail(Code::InvalidArgument,
                "BERTH_URL must start with https:// (or http:// on loopback)");
  }
  if (endpoint.token.empty()) {
    return fail(Code::Unauthenticated, "BERTH_URL is set but BERTH_TOKEN is not");
  }
  return endpoint;
}

bool answers(const Endpoint& endpoint) {
  io::HttpClient client({.authority_file = endpoint.authority_file});
  const auto response = client.send({.url = endpoint.base_url + "/health",
                                     .timeout = std::chrono::seconds(5),
                                     .connect_timeout = std::chrono::seconds(2)});
  return response.has_value();
}

std::optional<Endpoint> answering_server(const Place& place) {
  const auto endpoint = find_server(place);
  if (!endpoint || !answers(*endpoint)) return std::nullopt;
  return *endpoint;
}

/// A server on its way out holds the state directory until it is gone; one on its way in answers
/// soon.
std::optional<Endpoint> wait_for_other(const Place& place) {
  const auto deadline = SystemClock().now().mono + kLeaveTimeout;
  while (running_server(place) && SystemClock().now().mono < deadline) {
    if (auto endpoint = answering_server(place)) return endpoint;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return std::nullopt;
}

struct Pipe {
  io::Descriptor reading{};
  io::Descriptor writing{};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(io::error_from_errno(errno, "cannot make a pipe"));
  return Pipe{io::Descriptor(ends[0]), io::Descriptor(ends[1])};
}

/// Has it said all? The last line is "ready" or an error; notices come before it.
bool is_complete(std::string_view report) {
  if (!report.ends_with('\n')) return false;
  report.remove_suffix(1);
  const std::size_t line = report.find_last_of('\n');
  return !report.substr(line == std::string_view::npos ? 0 : line + 1).starts_with("notice: ");
}

/// What the starting server has to say: "ready", or why it gave up.
Result<std::string> read_report(int fd) {
  const auto deadline = SystemClock().now().mono + kStartTimeout;
  std::string report;
  while (!is_complete(report)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SystemClock().now().mono);
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = left.count() > 0 ? poll(&waiting, 1, static_cast<int>(left.count())) : 0;
    if (ready == 0) return fail(Code::Unavailable, "it did not get ready in 30 seconds");
    char buffer[1024];
    const ssize_t size = ready > 0 ? read(fd, buffer, sizeof buffer) : -1;
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    report.append(buffer, static_cast<std::size_t>(size));
  }
  return report;
}

/// Shows the notices; the last line decides.
Status heed(std::string_view report, const Console& console) {
  std::string_view last;
  for (const std::string_view line : split(trim(report), '\n')) {
    last = trim(line);
    if (last.starts_with("notice: ")) console.note(last);
  }
  if (last == "ready") return Done{};
  if (last.empty()) return fail(Code::Internal, "it ended without saying why");
  if (last.starts_with("error: ")) last.remove_prefix(std::string_view("error: ").size());
  return fail(Code::Internal, std::string(last));
}

Status spawn_server(const Place& place, const std::string& log_path, const Console& console) {
  Pipe report = TRY(make_pipe());
  const std::string fd = std::to_string(report.writing.get());
  const std::string program = TRY(io::own_executable());
  TRY(io::spawn(
      {.command = {program, "server", "--home", place.home, "--background", "--ready-fd", fd},
       .environment = first_server_environment(place.environment),
       .working_directory = place.home,
       .stdout_path = log_path,
       .new_session = true,
       .inherit = {report.writing.get()}}));
  report.writing.reset();
  const std::string said = TRY(read_report(report.reading.get()));
  return heed(said, console);
}

/// One that a service manager runs may be on its way back, when nobody stopped it in good order.
std::optional<Endpoint> wait_for_return(const Place& place) {
  const auto deadline = SystemClock().now().mono + kReturnTimeout;
  while (io::read_file(place.home + "/server.json", kLargestFile) &&
         SystemClock().now().mono < deadline) {
    if (auto endpoint = answering_server(place)) return endpoint;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return std::nullopt;
}

/// Before a file is made there.
Status may_start(const Place& place) {
  TRY(io::check_private(io::state_directory(place.home)));
  const auto settings = TRY(wire::yaml::load_home_settings(place.home));
  return wire::yaml::check_automatic_start(place.home, settings.repeated());
}

Result<Endpoint> start_server(const Place& place, const Console& console) {
  const std::string log_path = place.home + "/logs/server.log";
  if (const Status may = may_start(place); !may) {
    const bool is_run_by_others = may.error().code == Code::Unavailable;
    if (const auto endpoint = is_run_by_others ? wait_for_return(place) : std::nullopt) {
      return *endpoint;
    }
    return fail(may.error());
  }
  TRY(io::make_directories(place.home, 0700));
  TRY(io::make_directories(place.home + "/logs", 0700));
  const io::FileLock lock = TRY(io::FileLock::lock(place.home + "/start.lock"));
  if (auto endpoint = answering_server(place)) return *endpoint;
  if (auto endpoint = wait_for_other(place)) return *endpoint;
  if (console.err_is_terminal) console.note("starting the Berth server…");
  if (const Status started = spawn_server(place, log_path, console); !started) {
    if (auto endpoint = answering_server(place)) return *endpoint;  // Somebody else was quicker.
    return fail(Code::Unavailable, fmt::format("cannot start the Berth server: {}\nits log is {}",
                                               started.error().message, log_path));
  }
  return find_server(place);
}

}  // namespace

io::ProcessIdentity identity(const ServerFile& file) {
  return {.pid = file.pid, .start_ticks = file.start_ticks};
}

std::optional<ServerFile> running_server(const Place& place) {
  const auto text = io::read_file(place.home + "/server.json", kLargestFile);
  if (!text) return std::nullopt;
  const auto file = record::decode_text<ServerFile>(*text);
  if (!file || file->pid <= 0 || file->port == 0 || !io::is_alive(identity(*file))) {
    return std::nullopt;
  }
  return *file;
}

Result<Endpoint> find_server(const Place& place) {
  if (!place.variable("BERTH_URL").empty()) return remote_server(place);
  const auto file = running_server(place);
  if (!file) return fail(Code::NotFound, "no Berth server is running on " + place.home);
  std::string token = TRY(read_token(place));
  return Endpoint{.base_url = fmt::format("http://127.0.0.1:{}", file->port),
                  .token = std::move(token),
                  .version = file->version};
}

Result<Endpoint> ensure_server(const Place& place, const Console& console) {
  if (!place.variable("BERTH_URL").empty()) return remote_server(place);
  if (auto endpoint = answering_server(place)) return *endpoint;
  return start_server(place, console);
}

}  // namespace berth::cli
