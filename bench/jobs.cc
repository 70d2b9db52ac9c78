// SPDX-License-Identifier: Apache-2.0
// How long until a submitted job runs its first instruction, and how many jobs a second pass
// through, beside what the bare machine needs for the same.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/record.h"
#include "io/file.h"
#include "io/http_client.h"
#include "io/process.h"

namespace berth {
namespace {

using Seconds = std::chrono::duration<double>;

double now_seconds() {
  return std::chrono::duration_cast<Seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(1);
}

template <typename T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message);
  return *std::move(result);
}

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

  io::ClientResponse call(io::HttpClient& client, const std::string& method,
                          const std::string& path, const std::string& body = {}) const {
    io::ClientRequest request{
        .method = method, .url = "http://127.0.0.1:" + std::to_string(port_) + path, .body = body};
    request.headers = {{"Authorization", "Bearer " + token_}, {"Content-Type", "application/json"}};
    return must(client.send(request));
  }

  void submit(io::HttpClient& client, const std::string& name, const std::string& command) const {
    const boost::json::object body = {
        {"properties",
         {{"jobType", "Command"}, {"command", command}, {"environmentId", "azureml:host:1"}}}};
    const std::string path =
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/"
        "Microsoft.MachineLearningServices/workspaces/default/jobs/" +
        name;
    const auto answer = call(client, "PUT", path, boost::json::serialize(body));
    if (answer.status != 201)
      give_up("submit answered " + std::to_string(answer.status) + ": " + answer.body);
  }

  bool is_quiet(io::HttpClient& client) const {
    const auto status = must(record::parse(call(client, "GET", "/berth/v1/status").body));
    const auto& jobs = status.at("jobs");
    return jobs.at("running").to_number<int>() + jobs.at("queued").to_number<int>() == 0;
  }

  void wait_until_quiet(io::HttpClient& client) const {
    while (!is_quiet(client)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::string home_;
  io::ProcessIdentity process_;
  int port_ = 0;
  std::string token_;
};

double read_mark(const std::string& path) {
  while (true) {
    std::ifstream file(path);
    double value = 0;
    if (file >> value) return value;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::string mark_command(const std::string& path) {
  return "echo $EPOCHREALTIME > " + path + ".part && mv " + path + ".part " + path;
}

pid_t spawn_shell(const std::string& command) {
  const char* argv[] = {"/bin/bash", "-c", command.c_str(), nullptr};
  pid_t pid = 0;
  if (::posix_spawn(&pid, argv[0], nullptr, nullptr, const_cast<char**>(argv), environ) != 0)
    give_up("posix_spawn");
  return pid;
}

struct Percentiles {
  double p50 = 0, p99 = 0;
};

Percentiles percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values[values.size() * 99 / 100]};
}

Percentiles bare_start(const Server& server, io::HttpClient& client, const std::string& directory,
                       int count) {
  const int fd = ::open((directory + "/synced").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  const std::string page(4096, 'x');
  std::vector<double> took;
  for (int i = 0; i < count; ++i) {
    const std::string mark = directory + "/bare" + std::to_string(i);
    const double begin = now_seconds();
    server.call(client, "GET", "/health");
    server.call(client, "GET", "/health");
    if (!io::write_all(fd, page) || ::fdatasync(fd) != 0) give_up("fdatasync");
    const pid_t pid = spawn_shell(mark_command(mark));
    took.push_back(read_mark(mark) - begin);
    ::waitpid(pid, nullptr, 0);
  }
  ::close(fd);
  return percentiles(took);
}

Percentiles berth_start(const Server& server, io::HttpClient& client, const std::string& directory,
                        int count) {
  std::vector<double> took;
  for (int i = -3; i < count; ++i) {  // The first ones start the node.
    const std::string name = "latency" + std::to_string(i + 3);
    const std::string mark = directory + "/" + name;
    const double begin = now_seconds();
    server.submit(client, name, mark_command(mark));
    const double first = read_mark(mark) - begin;
    if (i >= 0) took.push_back(first);
    server.wait_until_quiet(client);
  }
  return percentiles(took);
}

double bare_rate(int count) {
  const double begin = now_seconds();
  unsigned running = 0;
  for (int i = 0; i < count; ++i) {
    if (running == std::thread::hardware_concurrency()) {
      ::wait(nullptr);
      --running;
    }
    spawn_shell("true");
    ++running;
  }
  while (running-- > 0) ::wait(nullptr);
  return count / (now_seconds() - begin);
}

double berth_rate(const Server& server, int count) {
  constexpr int kConnections = 8;
  std::atomic<int> next{0};
  const double begin = now_seconds();
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kConnections; ++i) {
      clients.emplace_back([&] {
        io::HttpClient client;
        for (int job = next++; job < count; job = next++)
          server.submit(client, "rate" + std::to_string(job), "true");
      });
    }
  }
  const double submitted = now_seconds();
  io::HttpClient client;
  server.wait_until_quiet(client);
  std::printf("durable submits/s             %8.0f\n", count / (submitted - begin));
  return count / (now_seconds() - begin);
}

int run(const std::string& binary, int count) {
  std::string directory = "/tmp/berth-bench-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) give_up("mkdtemp");
  {
    const Server server(binary, directory);
    io::HttpClient client;
    const Percentiles bare = bare_start(server, client, directory, 200);
    const Percentiles ours = berth_start(server, client, directory, 200);
    std::printf("submit to first instruction   p50 %.2f ms  p99 %.2f ms\n", ours.p50 * 1e3,
                ours.p99 * 1e3);
    std::printf("  spawn + fdatasync + 2 trips p50 %.2f ms  p99 %.2f ms  (p50 ratio %.2f)\n",
                bare.p50 * 1e3, bare.p99 * 1e3, ours.p50 / bare.p50);
    const double rate = berth_rate(server, count);
    const double loop = bare_rate(count);
    std::printf(
        "jobs/s                        %8.0f\n  posix_spawn loop            %8.0f  (ratio %.2f)\n",
        rate, loop, rate / loop);
  }
  const auto root = io::Root::open("/tmp");
  if (root) (void)root->remove_tree(directory.substr(5));
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: bench_jobs <berth binary> [jobs]\n", stderr);
    return 2;
  }
  return berth::run(argv[1], argc > 2 ? std::atoi(argv[2]) : 1000);
}
