// SPDX-License-Identifier: Apache-2.0
// What the benchmarks share: a server for their length, and how figures are taken.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/record.h"
#include "io/files/file.h"
#include "io/http/http_client.h"
#include "io/process/process.h"

namespace berth::bench {

using Seconds = std::chrono::duration<double>;

inline double now_seconds() {
  return std::chrono::duration_cast<Seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(1);
}

template <typename T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message);
  return *std::move(result);
}

inline constexpr const char* kWorkspace =
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/"
    "Microsoft.MachineLearningServices/workspaces/default/";

/// A server of its own, on a state directory of its own, for the length of the benchmark.
class Server {
 public:
  Server(const std::string& binary, std::string home) : home_(std::move(home)) {
    process_ = must(io::spawn({.command = {binary, "server", "--home", home_, "--port", "0"},
                               .environment = io::current_environment(),
                               .stdout_path = home_ + "/server.out"}));
    for (int i = 0; i < 500; ++i) {
      const auto text = io::read_file(home_ + "/server.json");
      if (text) {
        port_ = must(record::parse(*text)).at("port").to_number<int>();
        token_ = must(io::read_file(home_ + "/owner.token"));
        token_.pop_back();
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    give_up("the server did not start");
  }
  ~Server() {
    ::kill(process_.pid, SIGTERM);
    ::waitpid(process_.pid, nullptr, 0);
  }

  pid_t pid() const { return process_.pid; }

  io::ClientResponse call(io::HttpClient& client, const std::string& method,
                          const std::string& path, const std::string& body = {}) const {
    io::ClientRequest request{
        .method = method, .url = "http://127.0.0.1:" + std::to_string(port_) + path, .body = body};
    request.headers = {{"Authorization", "Bearer " + token_}, {"Content-Type", "application/json"}};
    return must(client.send(request));
  }

  void put(io::HttpClient& client, const std::string& below,
           const boost::json::object& body) const {
    const auto answer = call(client, "PUT", kWorkspace + below, boost::json::serialize(body));
    if (answer.status != 201)
      give_up(below + " answered " + std::to_string(answer.status) + ": " + answer.body);
  }

  void submit(io::HttpClient& client, const std::string& name, const std::string& command,
              const std::string& compute = "local") const {
    put(client, "jobs/" + name,
        {{"properties",
          {{"jobType", "Command"},
           {"command", command},
           {"computeId", compute},
           {"environmentId", "azureml:host:1"}}}});
  }

  /// A cluster of so many nodes, all of them there and idle.
  void make_cluster(io::HttpClient& client, const std::string& name, int nodes) const {
    put(client, "computes/" + name,
        {{"location", "local"},
         {"properties",
          {{"computeType", "AmlCompute"},
           {"properties",
            {{"vmSize", "Standard_D64s_v3"},  // As large as the machine: the peers are not limited.
             {"scaleSettings", {{"minNodeCount", nodes}, {"maxNodeCount", nodes}}}}}}}});
    const auto are_idle = [&] {
      const auto listed = must(record::parse(call(client, "GET", "/berth/v1/status").body));
      int ready = 0;
      for (const auto& node : listed.at("nodes").as_array()) {
        if (node.at("status").as_string() == "Ready") ++ready;
      }
      return ready == nodes;
    };
    while (!are_idle()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  int jobs_left(io::HttpClient& client) const {
    const auto status = must(record::parse(call(client, "GET", "/berth/v1/status").body));
    const auto& jobs = status.at("jobs");
    return jobs.at("running").to_number<int>() + jobs.at("queued").to_number<int>();
  }

  void wait_until_quiet(io::HttpClient& client) const {
    // Not too often: to ask costs about as much as to submit a job.
    while (jobs_left(client) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

 private:
  std::string home_;
  io::ProcessIdentity process_;
  int port_ = 0;
  std::string token_;
};

/// Seconds of processor time that a process has used.
inline double cpu_seconds(pid_t pid) {
  const auto text = io::read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return 0;
  const std::string fields = text->substr(text->rfind(')') + 2);
  unsigned long user = 0, system = 0;
  std::sscanf(fields.c_str(), "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu", &user,
              &system);
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

inline void print(const boost::json::object& figures) {
  std::puts(boost::json::serialize(figures).c_str());
}

struct Percentiles {
  double p50 = 0, p99 = 0;
};

inline Percentiles percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values[values.size() * 99 / 100]};
}

/// A directory that goes with it.
class Scratch {
 public:
  Scratch() {
    if (::mkdtemp(path_.data()) == nullptr) give_up("mkdtemp");
  }
  ~Scratch() {
    const auto root = io::Root::open("/tmp");
    if (root) (void)root->remove_tree(path_.substr(5));
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/berth-bench-XXXXXX";
};

}  // namespace berth::bench
