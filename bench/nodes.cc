// SPDX-License-Identifier: Apache-2.0
// A thousand nodes at once: their agents are made up in this process, but they dial the real server
// over TLS and speak the real protocol. Jobs are submitted at a steady rate and end at once. Prints
// one line of JSON: what the server needs for a job, and how long a submit takes meanwhile.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "base/text.h"
#include "base/version.h"
#include "io/http/websocket.h"
#include "io/loop.h"
#include "io/tls.h"
#include "server.h"
#include "wire/node/message.h"

namespace berth::bench {
namespace {

using namespace wire::node;

constexpr const char* kSite = "farm";
constexpr const char* kCluster = "pool";

/// Commands in Slurm's place: a submitted job is a file, which holds its script. Nothing runs it.
class PretendedSlurm {
 public:
  explicit PretendedSlurm(const std::string& directory) : directory_(directory) {
    std::filesystem::create_directories(directory_ + "/bin");
    std::filesystem::create_directories(directory_ + "/jobs");
    const std::string name =
        "for word; do case $word in --*name=*) name=${word#--*name=};; esac; done\n";
    const std::string list = "line() { echo \"1|RUNNING|${1##*/}|None\"; }\n";
    command("sbatch",
            name + "cat >\"$jobs/.$name\" && mv \"$jobs/.$name\" \"$jobs/$name\" && echo 1\n");
    command("squeue",
            name + list +
                "if [ -n \"$name\" ]; then [ ! -e \"$jobs/$name\" ] || line \"$name\"; exit 0; fi\n"
                "for job in \"$jobs\"/*; do [ ! -e \"$job\" ] || line \"$job\"; done\n");
    command("scancel", name + "rm -f \"$jobs/$name\"\n");
  }

  std::string commands() const { return directory_ + "/bin"; }

  /// The scripts that have come since the last look.
  std::vector<std::string> new_scripts() {
    std::vector<std::string> scripts;
    for (const auto& job : std::filesystem::directory_iterator(directory_ + "/jobs")) {
      const std::string name = job.path().filename();
      if (name.starts_with(".") || !seen_.insert(name).second) continue;
      scripts.push_back(must(io::read_file(job.path())));
    }
    return scripts;
  }

 private:
  void command(const std::string& name, const std::string& text) const {
    const std::string path = directory_ + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\njobs='" << directory_ << "/jobs'\nname=\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  std::string directory_;
  std::set<std::string> seen_{};
};

/// What the script of a pilot tells its agent.
struct Pilot {
  model::NodeId node{};
  std::uint16_t port = 0;
  std::string token{};
};

std::string between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == text.npos) give_up("a pilot's script without " + std::string(before));
  const std::string_view rest = text.substr(begin + before.size());
  return std::string(rest.substr(0, rest.find(after)));
}

Pilot read_pilot(const std::string& script) {
  const std::string server = between(script, "--server '", "'");
  const std::string port = server.substr(server.rfind(':') + 1);
  const std::string bodies = between(script, "4<<'BERTH_AUTHORITY'\n", "BERTH_AUTHORITY");
  return {.node = {between(script, "--name '", "'")},
          .port = static_cast<std::uint16_t>(std::atoi(port.c_str())),
          .token = bodies.substr(0, bodies.find('\n'))};
}

/// An agent whose jobs end when they are launched.
class PretendedAgent {
 public:
  PretendedAgent(io::Loop& loop, model::NodeId node) : loop_(loop), node_(std::move(node)) {}

  void dial(const Pilot& pilot, const std::shared_ptr<const io::ClientTls>& tls,
            std::atomic<int>& connected) {
    const io::WebSocketAddress server{.host = "127.0.0.1",
                                      .port = pilot.port,
                                      .path = "/berth/v1/nodes/" + node_.text + "/channel",
                                      .bearer_token = pilot.token,
                                      .tls = tls};
    io::connect_websocket(loop_, server, [this, &connected](auto dialled) {
      socket_ = must(std::move(dialled));
      socket_->start(
          {.on_message = [this](const std::string& data, bool binary) { heard(data, binary); },
           .on_close = [this](const std::string&) { socket_.reset(); }});
      say(Hello{.node = node_, .version = std::string(kVersion), .work_root = "/nowhere"});
      ++connected;
    });
  }

 private:
  void say(const ToServer& message) {
    Frame frame = encode(message);
    if (socket_) socket_->send(std::move(frame.data), frame.binary);
  }

  void heard(const std::string& data, bool binary) {
    const auto message = must(decode_to_node(data, binary));
    if (!message) return;
    if (const auto* welcome = std::get_if<Welcome>(&*message); welcome && welcome->lease) {
      beat(*welcome->lease / 3);
    } else if (const auto* launch = std::get_if<Launch>(&*message)) {
      say(Ended{.attempt = launch->attempt,
                .outcome = {.ending = model::Ending::Exited, .exit_code = 0},
                .since_start = Duration(1)});
    }
  }

  void beat(Duration pause) {
    loop_.after(pause, [this, pause] {
      if (!socket_) return;
      say(Heartbeat{++beats_});
      beat(pause);
    });
  }

  io::Loop& loop_;
  model::NodeId node_;
  std::shared_ptr<io::WebSocket> socket_{};
  std::int64_t beats_ = 0;
};

/// All agents, on a thread of their own.
class Farm {
 public:
  explicit Farm(const std::string& authority)
      : tls_(must(io::ClientTls::make(authority))), thread_([this] { loop_.run(); }) {}
  ~Farm() { loop_.stop(); }

  void add(const Pilot& pilot) {
    loop_.post([this, pilot] {
      agents_.push_back(std::make_unique<PretendedAgent>(loop_, pilot.node));
      agents_.back()->dial(pilot, tls_, connected_);
    });
  }
  int connected() const { return connected_; }

 private:
  std::shared_ptr<const io::ClientTls> tls_;
  std::atomic<int> connected_{0};
  io::Loop loop_{};
  std::vector<std::unique_ptr<PretendedAgent>> agents_{};
  std::jthread thread_;
};

void make_site(const Server& server, io::HttpClient& client, const PretendedSlurm& slurm,
               int nodes) {
  const boost::json::object site = {
      {"provider", "slurm"},
      {"capacity", {{"nodes", nodes}}},
      {"slurm", {{"bin_directory", slurm.commands()}}},
  };
  const auto made = server.call(client, "PUT", std::string("/berth/v1/sites/") + kSite,
                                boost::json::serialize(site));
  if (made.status / 100 != 2) give_up("the site: " + made.body);
  server.put(client, std::string("computes/") + kCluster,
             {{"location", kSite},
              {"properties",
               {{"computeType", "AmlCompute"},
                {"properties",
                 {{"vmSize", "Standard_DS1_v2"},
                  {"scaleSettings", {{"minNodeCount", nodes}, {"maxNodeCount", nodes}}}}}}}});
}

/// Each submit begins when it is due, whatever became of the one before: `rate` a second in all.
std::vector<double> submit_steadily(const Server& server, int rate, int jobs) {
  constexpr int kClients = 16;
  std::atomic<int> next{0};
  std::vector<double> all;
  std::mutex mutex;
  const double begin = now_seconds();
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([&] {
        io::HttpClient client;
        std::vector<double> took;
        for (int job = next++; job < jobs; job = next++) {
          const double due = begin + static_cast<double>(job) / rate;
          std::this_thread::sleep_for(Seconds(std::max(0.0, due - now_seconds())));
          server.submit(client, "s" + std::to_string(job), "true", kCluster);
          took.push_back(now_seconds() - due);
        }
        const std::lock_guard lock(mutex);
        all.insert(all.end(), took.begin(), took.end());
      });
    }
  }
  return all;
}

int run(const std::string& binary, int nodes, int rate, int seconds) {
  const Scratch scratch;
  PretendedSlurm slurm(scratch.path() + "/slurm");
  must(io::make_directories(scratch.path() + "/home"));
  const Server server(binary, scratch.path() + "/home");
  io::HttpClient client;
  Farm farm(must(io::read_file(scratch.path() + "/home/ca.pem")));
  const double first = now_seconds();
  make_site(server, client, slurm, nodes);
  while (farm.connected() < nodes) {
    for (const std::string& script : slurm.new_scripts()) farm.add(read_pilot(script));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const double all_there = now_seconds() - first;
  const double idle_before = cpu_seconds(server.pid());
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const double idle = (cpu_seconds(server.pid()) - idle_before) / 3;
  const int jobs = rate * seconds;
  const double cpu = cpu_seconds(server.pid());
  const double begin = now_seconds();
  const Percentiles submits = percentiles(submit_steadily(server, rate, jobs));
  server.wait_until_quiet(client);
  const double took = now_seconds() - begin;
  print({{"nodes", nodes},
         {"seconds until all are there", all_there},
         {"idle_cpu_percent", 100 * idle},
         {"asked_per_second", rate},
         {"per_second", jobs / took},
         {"p50_ms", submits.p50 * 1e3},
         {"p99_ms", submits.p99 * 1e3},
         {"server_cpu_us", (cpu_seconds(server.pid()) - cpu) / jobs * 1e6}});
  return 0;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 4) {
    std::fputs("usage: bench_nodes <berth binary> <nodes> <jobs a second> <seconds>\n", stderr);
    return 2;
  }
  const auto number = [&](std::size_t index) { return std::atoi(words[index].c_str()); };
  return berth::bench::run(words[0], number(1), number(2), number(3));
}
