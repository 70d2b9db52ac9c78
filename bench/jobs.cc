// SPDX-License-Identifier: Apache-2.0
// How long until a submitted job runs its first instruction, and how many jobs a second pass
// through, beside what the bare machine needs for the same. With a mode, one rate for bench/run.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "io/process/process.h"
#include "server.h"

namespace berth::bench {
namespace {

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

/// Seconds of processor time since the start, by who used them.
struct Spent {
  double server = 0, agent = 0, shims = 0, shells = 0, client = 0;
};

/// Adds what /proc/<pid>/stat says: its own time, and that of the children it has waited for.
void add_times(pid_t pid, double& own, double& children) {
  const auto text = io::read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return;
  std::istringstream fields(text->substr(text->rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0, child_user = 0, child_system = 0;
  fields >> user >> system >> child_user >> child_system;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  own += (user + system) / ticks;
  children += (child_user + child_system) / ticks;
}

/// The server's child is the agent, whose child is the zygote, whose children are shims.
Spent spent_by(pid_t server) {
  Spent spent;
  double ignored = 0;
  add_times(server, spent.server, ignored);
  add_times(::getpid(), spent.client, ignored);
  const auto all = io::list_processes();
  const auto visit_children = [&](pid_t parent, const auto& visit) {
    for (const auto& each : all) {
      if (each.parent == parent) visit(each.process.pid);
    }
  };
  visit_children(server, [&](pid_t agent) {
    add_times(agent, spent.agent, ignored);
    visit_children(agent, [&](pid_t zygote) {
      add_times(zygote, spent.shims, ignored);
      visit_children(zygote, [&](pid_t shim) { add_times(shim, spent.shims, spent.shells); });
    });
  });
  return spent;
}

void print_spent(const Spent& before, const Spent& after, int count) {
  const auto each = [&](double Spent::*who) { return (after.*who - before.*who) * 1e3 / count; };
  std::printf("CPU ms/job  server %.2f  agent %.2f  shims %.2f  shells %.2f  client %.2f\n",
              each(&Spent::server), each(&Spent::agent), each(&Spent::shims), each(&Spent::shells),
              each(&Spent::client));
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

double berth_rate(const Server& server, int count, const std::string& compute = "local") {
  constexpr int kConnections = 8;
  std::atomic<int> next{0};
  const double begin = now_seconds();
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kConnections; ++i) {
      clients.emplace_back([&] {
        io::HttpClient client;
        for (int job = next++; job < count; job = next++)
          server.submit(client, "rate" + std::to_string(job), "true", compute);
      });
    }
  }
  const double submitted = now_seconds();
  io::HttpClient client;
  server.wait_until_quiet(client);
  std::printf("durable submits/s             %8.0f\n", count / (submitted - begin));
  return count / (now_seconds() - begin);
}

/// The rate alone on the last line, for a harness.
int run_cluster(const std::string& binary, int count) {
  const Scratch scratch;
  const Server server(binary, scratch.path());
  io::HttpClient client;
  server.make_cluster(client, "pool", 2);
  std::printf("%.2f\n", berth_rate(server, count, "pool"));
  return 0;
}

int run_loop(int count) {
  std::printf("%.2f\n", bare_rate(count));
  return 0;
}

/// The same two latencies as one line of JSON, for a harness.
int run_latency(const std::string& binary, int samples) {
  const Scratch scratch;
  const Server server(binary, scratch.path());
  io::HttpClient client;
  const Percentiles bare = bare_start(server, client, scratch.path(), samples);
  const Percentiles ours = berth_start(server, client, scratch.path(), samples);
  print({{"p50_ms", ours.p50 * 1e3},
         {"p99_ms", ours.p99 * 1e3},
         {"bare_p50_ms", bare.p50 * 1e3},
         {"bare_p99_ms", bare.p99 * 1e3}});
  return 0;
}

int run(const std::string& binary, int count, int samples) {
  const Scratch scratch;
  const std::string& directory = scratch.path();
  {
    const Server server(binary, directory);
    io::HttpClient client;
    const Percentiles bare = bare_start(server, client, directory, samples);
    const Percentiles ours = berth_start(server, client, directory, samples);
    std::printf("submit to first instruction   p50 %.2f ms  p99 %.2f ms\n", ours.p50 * 1e3,
                ours.p99 * 1e3);
    std::printf("  spawn + fdatasync + 2 trips p50 %.2f ms  p99 %.2f ms  (p50 ratio %.2f)\n",
                bare.p50 * 1e3, bare.p99 * 1e3, ours.p50 / bare.p50);
    const Spent before = spent_by(server.pid());
    const double rate = berth_rate(server, count);
    print_spent(before, spent_by(server.pid()), count);
    const double loop = bare_rate(count);
    std::printf(
        "jobs/s                        %8.0f\n  posix_spawn loop            %8.0f  (ratio %.2f)\n",
        rate, loop, rate / loop);
  }
  return 0;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t index, int otherwise) {
    return words.size() > index ? std::atoi(words[index].c_str()) : otherwise;
  };
  if (words.size() == 2 && words[0] == "--loop") return berth::bench::run_loop(number(1, 0));
  if (words.size() == 3 && words[0] == "--cluster") {
    return berth::bench::run_cluster(words[1], number(2, 0));
  }
  if (words.size() == 3 && words[0] == "--latency") {
    return berth::bench::run_latency(words[1], number(2, 0));
  }
  if (words.empty() || words[0].starts_with("-")) {
    std::fputs(
        "usage: bench_jobs <berth binary> [jobs [samples of the latency]]\n"
        "       bench_jobs --cluster <berth binary> <jobs>\n"
        "       bench_jobs --latency <berth binary> <samples>\n"
        "       bench_jobs --loop <jobs>\n",
        stderr);
    return 2;
  }
  return berth::bench::run(words[0], number(1, 1000), number(2, 200));
}
