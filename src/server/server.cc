// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/digest.h"
#include "base/log.h"
#include "base/random.h"
#include "base/record.h"
#include "base/text.h"
#include "base/version.h"
#include "io/files/file.h"
#include "io/files/state_directory.h"
#include "io/http/http_server.h"
#include "io/process/boot_id.h"
#include "io/process/process.h"
#include "io/process/systemd.h"
#include "server/application.h"
#include "server/door/reach.h"
#include "server/fleet/job_users.h"
#include "server/fleet/log_store.h"
#include "server/fleet/log_waiters.h"
#include "server/fleet/node_hub.h"
#include "server/fleet/providers.h"
#include "server/installation.h"
#include "server/keys/signer.h"
#include "server/plane/control_plane.h"
#include "server/plane/site_kinds.h"
#include "server/size_file.h"
#include "server/storage/storage_keeper.h"
#include "store/database/room.h"
#include "wire/yaml/server_settings.h"

namespace berth::server {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);
constexpr Duration kTickWithNodes(200);  // Idle nodes cost: they go when their time is over.
constexpr Duration kPatience = std::chrono::seconds(5);

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return to_lower(name);
}

int slots_of(const ServerOptions& options) {
  if (options.slots > 0) return options.slots;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

core::Settings settings_of(const ServerOptions& options) {
  return {.local = model::local_compute(slots_of(options)),
          .machine_cores = io::machine_cores(),
          .machine_memory_mib = static_cast<std::int64_t>(io::machine_memory_mib()),
          .max_requeues = options.max_requeues};
}

/// Files are to be opened as well.
std::size_t most_connections() {
  const std::size_t usual = io::HttpLimits{}.connections;
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return usual;
  return std::min<std::size_t>(usual, descriptors.rlim_cur / 4 * 3);
}

/// As a URL has it.
std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

/// Graphics cards as their driver shows them.
int count_gpus() {
  int count = 0;
  while (::access(fmt::format("/dev/nvidia{}", count).c_str(), F_OK) == 0) ++count;
  return count;
}

void tell_starter(int fd, const std::string& line) {
  if (fd < 0) return;
  (void)io::write_all(fd, line + "\n");
  ::close(fd);
}

/// The server that announced itself last; nobody when it was stopped in good order.
struct Holder {
  io::ProcessIdentity process{};
  std::int64_t port = 0;
};

std::optional<Holder> find_holder(const std::string& home) {
  const auto text = io::read_file(home + "/server.json");
  const auto facts = text ? record::parse(*text) : fail(Code::NotFound, "");
  if (!facts || !facts->is_object()) return std::nullopt;
  const auto& object = facts->get_object();
  const auto number = [&](const char* key) {
    const auto* value = object.if_contains(key);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
  };
  return Holder{
      {static_cast<pid_t>(number("pid")), static_cast<std::uint64_t>(number("start_ticks"))},
      number("port")};
}

Error already_runs(const std::string& home) {
  const auto holder = find_holder(home);
  const std::string who =
      holder ? fmt::format("a Berth server (pid {}, port {})", holder->process.pid, holder->port)
             : "another Berth server";
  return {Code::Conflict,
          fmt::format("{} already runs on {}; stop it with 'berth server stop', or use another "
                      "state directory (--home or BERTH_HOME)",
                      who, home)};
}

/// One that was killed has its lock for a moment more: until the kernel has taken it apart, and
/// until a node that it was just starting has let go of what it inherited.
Result<io::FileLock> take_state_directory(const ServerOptions& options) {
  const std::string path = options.home + "/lock";
  Result<io::FileLock> lock = io::FileLock::try_lock(path);
  if (lock || lock.error().code != Code::Conflict) return lock;
  const auto holder = find_holder(options.home);
  // A command line that starts us has found nobody who answers.
  const bool is_about_to_go = options.is_background || !holder || !io::is_alive(holder->process);
  if (is_about_to_go) {
    log::info("waiting for the lock of a server that is gone");
    lock = io::FileLock::lock_within(path, kPatience);
  }
  if (!lock && lock.error().code == Code::Conflict) return fail(already_runs(options.home));
  return lock;
}

/// Repeated by the command that has to start a server here next.
Status note_last_start(const ServerOptions& options) {
  if (!options.last_start) return Done{};
  const std::string path = fmt::format("{}/{}", options.home, wire::yaml::kLastStartFile);
  const std::string text =
      "# Written by 'berth server' when it was last started by hand. A command that has to start\n"
      "# the server again uses these; 'berth server configure' sets what always holds.\n" +
      *options.last_start;
  const Result<std::string> before = io::read_file(path, 1u << 20);
  if (before && *before == text) return Done{};
  return io::write_file(path, text);
}

void tell_service_manager(std::string_view state) {
  const auto environment = io::current_environment();
  const auto socket = environment.find("NOTIFY_SOCKET");
  if (socket != environment.end()) io::tell_service_manager(socket->second, state);
}

/// Nothing is tidied up: that would write to the disk that has just failed. What was acknowledged
/// is on it, running work goes on, and the next server begins with the last good commit.
[[noreturn]] void end_at_once(const Error& why) {
  log::error(
      "the disk cannot be trusted: {}. This server ends; nothing that was acknowledged rests "
      "on what failed",
      why.message);
  std::_Exit(1);
}

/// Everything of one server process, in the order it is made; torn down the other way round.
class Server {
 public:
  explicit Server(const ServerOptions& options) : options_(options) {}
  /// Connections first, then the threads: what runs on them refers to everything else.
  ~Server() {
    http_.reset();
    providers_.reset();
    disk_.reset();
  }

  Status start();
  void run() { loop_.run(); }
  std::uint16_t port() const { return http_->port(); }
  /// What the operator should hear about the state directory.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  Status open_state();
  Status recover_logs();
  Result<std::string> open_job_users();
  Status listen();
  void tick();
  Duration until_next_tick() const;
  void tick_within(Duration pause);
  void stop();
  void close();

  const ServerOptions& options_;
  SystemClock clock_;
  io::Loop loop_;
  std::optional<io::FileLock> lock_;
  Reach reach_;
  Secrets secrets_;
  std::optional<JobUsers> job_users_;
  std::optional<io::ObjectStore> objects_;
  std::unique_ptr<io::ThreadOffload> disk_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Providers> providers_;
  std::unique_ptr<Signer> signer_;
  std::unique_ptr<LogStore> logs_;
  std::unique_ptr<LogWaiters> waiters_;
  std::unique_ptr<NodeHub> nodes_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<StorageKeeper> storage_;
  ServerFacts facts_;
  std::unique_ptr<Services> services_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<io::HttpServer> http_;
  std::vector<std::string> notices_;
  std::optional<io::Loop::TimerId> next_tick_{};
  TimePoint next_tick_at_{};
  bool is_stopping_ = false;
};

Status Server::start() {
  TRY(io::make_directories(options_.home));
  lock_ = TRY(take_state_directory(options_));
  notices_ = TRY(io::make_private(io::state_directory(options_.home)));
  for (const std::string& notice : notices_) log::warning("{}", notice);
  store::Room::make_way_to_start(options_.home);
  TRY(open_state());
  TRY(listen());
  // Before the first job can start: the next server must be no less careful with it.
  TRY(note_last_start(options_));
  TRY(plane_->start());
  TRY(recover_logs());
  application_->resume();
  TRY(announce(options_.home, http_->port(), clock_));
  loop_.on_signal({SIGTERM, SIGINT}, [this](int) { stop(); });
  nodes_->reconcile();
  tick();
  return Done{};
}

Status Server::recover_logs() {
  const auto& jobs = plane_->state().jobs;
  std::vector<model::JobKey> taken;
  TRY(logs_->recover([&](const model::JobKey& key, int attempt) {
    const auto found = jobs.find(key);
    if (found == jobs.end() || found->second.attempt != attempt) return false;
    // Queued again, and the server before us died before it put away the log of the last attempt.
    const bool was_taken = attempt > 0 && found->second.status == model::JobStatus::Queued;
    if (was_taken) taken.push_back(key);
    return true;
  }));
  for (const model::JobKey& key : taken) {
    if (logs_->open(key)) nodes_->attempt_taken(key, jobs.at(key).attempt);
  }
  return Done{};
}

Status Server::open_state() {
  const std::string& home = options_.home;
  reach_ = TRY(find_reach(options_.bind, host_name()));
  secrets_ = TRY(open_installation(home, reach_.names, clock_.now().wall));
  std::error_code ignored;  // Uploads that were cut off by the end of an earlier server.
  for (const auto& left : std::filesystem::directory_iterator(home + "/spool", ignored)) {
    std::filesystem::remove(left.path(), ignored);
  }
  objects_ = TRY(io::ObjectStore::open(home + "/objects"));
  store_ = TRY(store::Store::open(home, loop_, *objects_, end_at_once));
  disk_ = std::make_unique<io::ThreadOffload>(loop_, 4);
  ProviderFacts facts{.home = home, .installation = secrets_.id};
  facts.executable = TRY(io::own_executable());
  facts.job_directory = TRY(open_job_users());
  providers_ = std::make_unique<Providers>(
      [facts](const model::Site& site) { return make_provider(site, facts); },
      [this] { return std::make_unique<io::ThreadOffload>(loop_, 1); });
  signer_ = std::make_unique<Signer>(secrets_.signing_key);
  logs_ = std::make_unique<LogStore>(home + "/live", *objects_, *disk_);
  waiters_ = std::make_unique<LogWaiters>();
  nodes_ = std::make_unique<NodeHub>(
      NodeHubParts{.loop = loop_,
                   .providers = *providers_,
                   .logs = *logs_,
                   .signer = *signer_,
                   .clock = clock_,
                   .lease = options_.lease,
                   .boot_clock = {io::boot_id(), since_boot},
                   .on_job_changed =
                       [this](const model::JobKey& job) {
                         waiters_->wake(job);
                         if (application_) application_->gate().job_changed(job);
                       },
                   .on_node_wanted = [this] { tick_within(kTickWithNodes); },
                   .job_users = job_users_ ? &*job_users_ : nullptr});
  core::Settings settings = settings_of(options_);
  settings.sizes = TRY(load_sizes(home, options_.sizes_file));
  plane_ = std::make_unique<ControlPlane>(*store_, *nodes_, clock_,
                                          PlaneOptions{.settings = std::move(settings),
                                                       .local_gpus = count_gpus(),
                                                       .node_idle = options_.node_idle,
                                                       .on_access_changed = [this] {
                                                         if (http_) http_->recheck();
                                                       }});
  return Done{};
}

/// Where jobs run when they have users of their own; empty when they do not.
Result<std::string> Server::open_job_users() {
  if (options_.job_users_file.empty()) return std::string();
  job_users_ = TRY(load_job_users(options_.job_users_file));
  return open_job_directory(options_.home);
}

Status Server::listen() {
  facts_ = {.home = options_.home, .port = options_.port, .host_names = reach_.names};
  storage_ = std::make_unique<StorageKeeper>(SweepParts{.store = *store_,
                                                        .ledger = plane_->ledger,
                                                        .jobs = plane_->jobs,
                                                        .objects = *objects_,
                                                        .clock = clock_,
                                                        .hold_file = options_.home + "/sweep.off"},
                                             options_.home);
  services_ = std::make_unique<Services>(Services{.ledger = plane_->ledger,
                                                  .jobs = plane_->jobs,
                                                  .computes = plane_->computes,
                                                  .access = plane_->access,
                                                  .workspaces = plane_->workspaces,
                                                  .deployments = plane_->deployments,
                                                  .store = *store_,
                                                  .objects = *objects_,
                                                  .logs = *logs_,
                                                  .signer = *signer_,
                                                  .clock = clock_,
                                                  .facts = facts_,
                                                  .log_waiters = *waiters_,
                                                  .storage = storage_.get()});
  application_ = std::make_unique<Application>(
      ApplicationParts{.loop = loop_,
                       .services = *services_,
                       .nodes = *nodes_,
                       .owner_token = secrets_.owner_token,
                       .sealing_key = hmac_sha256(secrets_.signing_key, "deployments")});
  const auto tls = TRY(io::ServerTls::make(secrets_.identity));
  const auto open = [&](std::uint16_t port) {
    http_ = std::make_unique<io::HttpServer>(
        loop_, *disk_, *application_,
        io::HttpServerOptions{
            .address = reach_.addresses.front(),
            .more_addresses = {reach_.addresses.begin() + 1, reach_.addresses.end()},
            .port = port,
            .limits = {.connections = most_connections()},
            .spool_directory = options_.home + "/spool"},
        tls);
    return http_->listen();
  };
  Status listening = open(options_.port);
  if (!listening && options_.is_background && !options_.is_port_chosen) listening = open(0);
  if (!listening) {
    return fail(listening.error().code,
                fmt::format("cannot listen on port {}: {}; choose another with --port",
                            options_.port, listening.error().message));
  }
  facts_.port = http_->port();
  nodes_->attach(*plane_, *store_,
                 {.local_url = fmt::format("http://127.0.0.1:{}", http_->port()),
                  .remote_url = fmt::format("https://{}:{}", bracketed(reach_.host), http_->port()),
                  .ca_file = options_.home + "/ca.pem"});
  return Done{};
}

void Server::tick() {
  if (is_stopping_) return;
  plane_->tick();
  storage_->tick();
  nodes_->reconcile();
  waiters_->expire(clock_.now().mono);
  http_->recheck();  // Tokens that have expired, attempts that are over.
  tick_within(until_next_tick());
}

/// There may be less time than there was when the next one was set: nodes have come.
void Server::tick_within(Duration pause) {
  const TimePoint at = clock_.now().mono + pause;
  if (next_tick_ && next_tick_at_ <= at) return;
  if (next_tick_) loop_.cancel(*next_tick_);
  next_tick_at_ = at;
  next_tick_ = loop_.after(pause, [this] {
    next_tick_.reset();
    tick();
  });
}

Duration Server::until_next_tick() const {
  const Duration usual = plane_->state().nodes.empty() ? kTick : kTickWithNodes;
  const auto departure = plane_->decider.next_departure();
  if (!departure) return usual;
  return std::clamp(*departure - clock_.now().mono, Duration(1), usual);
}

/// Answers what was begun and leaves; jobs go on under their nodes.
void Server::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  log::info("stopping");
  tell_service_manager("STOPPING=1");
  withdraw(options_.home);
  nodes_->say_good_bye([this] { close(); });
}

void Server::close() {
  waiters_->release_all();
  http_->drain(std::chrono::seconds(5),
               [this] { plane_->ledger.when_durable([this](const Status&) { loop_.stop(); }); });
}

}  // namespace

int run_server(const ServerOptions& options) {
  ::umask(0077);
  io::keep_memory_private();
  std::signal(SIGPIPE, SIG_IGN);
  if (options.is_background) {
    log::to_file(options.home + "/logs/server.log", log::Level::Info);
  } else {
    log::to_stderr(log::Level::Info);
  }
  Server server(options);
  if (const Status started = server.start(); !started) {
    log::error("{}", started.error().message);
    if (options.ready_fd < 0 && options.is_background) {
      std::fprintf(stderr, "error: %s\n", started.error().message.c_str());
    }
    tell_starter(options.ready_fd, "error: " + started.error().message);
    return 1;
  }
  log::info("Berth {} answers on 127.0.0.1:{} (https and http), state in {}", kVersion,
            server.port(), options.home);
  for (const std::string& address : options.bind) {
    log::info("and on {}:{} (https)", bracketed(address), server.port());
  }
  if (options.is_less_protected) {
    log::warning(
        "the last server here ran jobs as users of their own (--job-users); this one runs them as "
        "its own user. 'berth server configure --job-users FILE' makes it last");
  }
  tell_service_manager("READY=1");
  std::string report;
  for (const std::string& notice : server.notices()) report += "notice: " + notice + "\n";
  tell_starter(options.ready_fd, report + "ready");
  server.run();
  return 0;
}

}  // namespace berth::server
