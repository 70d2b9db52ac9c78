// SPDX-License-Identifier: Apache-2.0
// Many clients at once: how many durable submits a second beside how many syncs the disk makes, and
// how long readers wait while jobs run. Prints one line of JSON.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "server.h"

namespace berth::bench {
namespace {

/// Calls from so many connections, each a thread with a client of its own, until `is_over`.
template <typename Call>
std::vector<double> from_clients(int clients, const Call& call) {
  std::vector<double> all;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i) {
      threads.emplace_back([&] {
        io::HttpClient client;
        std::vector<double> took;
        double begin = now_seconds();
        while (call(client)) {
          const double end = now_seconds();
          took.push_back(end - begin);
          begin = end;
        }
        const std::lock_guard lock(mutex);
        all.insert(all.end(), took.begin(), took.end());
      });
    }
  }
  return all;
}

/// As fast as the disk can: 4 KiB into a file that has its size already, and a sync.
int run_syncs(int count) {
  const Scratch scratch;
  const int fd = ::open((scratch.path() + "/synced").c_str(), O_CREAT | O_WRONLY, 0600);
  const std::string page(4096, 'x');
  for (int i = 0; i < count; ++i) {
    if (!io::write_all(fd, page)) give_up("write");
  }
  if (::fsync(fd) != 0) give_up("fsync");
  std::vector<double> took;
  const double begin = now_seconds();
  for (int i = 0; i < count; ++i) {
    const double start = now_seconds();
    if (::pwrite(fd, page.data(), page.size(), i * 4096l) < 0 || ::fdatasync(fd) != 0) {
      give_up("fdatasync");
    }
    took.push_back(now_seconds() - start);
  }
  const double rate = count / (now_seconds() - begin);
  ::close(fd);
  const Percentiles each = percentiles(took);
  print({{"per_second", rate}, {"p50_ms", each.p50 * 1e3}, {"p99_ms", each.p99 * 1e3}});
  return 0;
}

/// To a cluster whose only node is taken: nothing is measured but the way to the disk.
int run_submits(const std::string& binary, int clients, int count) {
  const Scratch scratch;
  const Server server(binary, scratch.path());
  io::HttpClient client;
  server.make_cluster(client, "pool", 1);
  server.submit(client, "taken", "exec sleep 600", "pool");
  std::atomic<int> next{0};
  const double cpu = cpu_seconds(server.pid());
  const double begin = now_seconds();
  const std::vector<double> took = from_clients(clients, [&](io::HttpClient& own) {
    const int number = next++;
    if (number >= count) return false;
    server.submit(own, "s" + std::to_string(number), "true", "pool");
    return true;
  });
  const double rate = count / (now_seconds() - begin);
  const double cpu_each = (cpu_seconds(server.pid()) - cpu) / count;
  server.call(client, "POST", std::string(kWorkspace) + "jobs/taken/cancel");
  const Percentiles each = percentiles(took);
  print({{"per_second", rate},
         {"p50_ms", each.p50 * 1e3},
         {"p99_ms", each.p99 * 1e3},
         {"server_cpu_us", cpu_each * 1e6}});
  return 0;
}

/// What is still to be done at some moment.
struct Left {
  double at = 0;
  int jobs = 0;
};

/// The seconds until no more than so many jobs were left.
double seconds_until(const std::vector<Left>& seen, int left) {
  const auto found =
      std::ranges::find_if(seen, [&](const Left& each) { return each.jobs <= left; });
  return found->at - seen.front().at;
}

/// So many jobs wait while the nodes are taken; then all of them run. A job must not cost more
/// because many others wait.
int run_queue(const std::string& binary, int count) {
  const Scratch scratch;
  const Server server(binary, scratch.path());
  io::HttpClient client;
  constexpr int kNodes = 2;
  server.make_cluster(client, "pool", kNodes);
  for (int i = 0; i < kNodes; ++i) {
    server.submit(client, "taken" + std::to_string(i), "exec sleep 3600", "pool");
  }
  std::atomic<int> next{0};
  const double begin = now_seconds();
  (void)from_clients(8, [&](io::HttpClient& own) {
    const int number = next++;
    if (number >= count) return false;
    server.submit(own, "q" + std::to_string(number), "true", "pool");
    return true;
  });
  const double submits = count / (now_seconds() - begin);
  for (int i = 0; i < kNodes; ++i) {
    server.call(client, "POST",
                std::string(kWorkspace) + "jobs/taken" + std::to_string(i) + "/cancel");
  }
  std::vector<Left> seen;
  const double cpu = cpu_seconds(server.pid());
  while (seen.empty() || seen.back().jobs > 0) {
    seen.push_back({now_seconds(), std::min(server.jobs_left(client), count)});
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  boost::json::array tenths;  // Of the jobs, in the order in which they end: jobs a second.
  for (int part = 0; part < 10; ++part) {
    const int before = count - part * count / 10;
    const int after = count - (part + 1) * count / 10;
    const double took = seconds_until(seen, after) - seconds_until(seen, before);
    tenths.emplace_back((before - after) / took);
  }
  print({{"submits_per_second", submits},
         {"per_second", count / seconds_until(seen, 0)},
         {"tenths_per_second", std::move(tenths)},
         {"server_cpu_us", (cpu_seconds(server.pid()) - cpu) / count * 1e6}});
  return 0;
}

/// Half of them look at a job, half at the list, while another client keeps the machine's slots
/// busy.
int run_readers(const std::string& binary, int clients, int count) {
  const Scratch scratch;
  const Server server(binary, scratch.path());
  io::HttpClient client;
  for (int i = 0; i < 50; ++i) server.submit(client, "r" + std::to_string(i), "true");
  server.wait_until_quiet(client);
  std::atomic<bool> is_over{false};
  std::atomic<int> jobs{0};
  std::jthread worker([&] {
    io::HttpClient own;
    while (!is_over) {
      for (int i = 0; i < 20; ++i) server.submit(own, "w" + std::to_string(jobs++), "true");
      server.wait_until_quiet(own);
    }
  });
  std::atomic<int> next{0};
  const double begin = now_seconds();
  const std::vector<double> took = from_clients(clients, [&](io::HttpClient& own) {
    const int number = next++;
    if (number >= count) return false;
    const std::string what = number % 2 == 0 ? "jobs/r" + std::to_string(number % 50) : "jobs";
    if (server.call(own, "GET", kWorkspace + what).status != 200) give_up(what);
    return true;
  });
  const double seconds = now_seconds() - begin;
  is_over = true;
  worker.join();
  const Percentiles each = percentiles(took);
  print({{"per_second", count / seconds},
         {"p50_ms", each.p50 * 1e3},
         {"p99_ms", each.p99 * 1e3},
         {"jobs_meanwhile", jobs.load()}});
  return 0;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t index) { return std::atoi(words[index].c_str()); };
  if (words.size() == 2 && words[0] == "--syncs") return berth::bench::run_syncs(number(1));
  if (words.size() == 4 && words[0] == "--submits") {
    return berth::bench::run_submits(words[1], number(2), number(3));
  }
  if (words.size() == 4 && words[0] == "--readers") {
    return berth::bench::run_readers(words[1], number(2), number(3));
  }
  if (words.size() == 3 && words[0] == "--queue") {
    return berth::bench::run_queue(words[1], number(2));
  }
  std::fputs(
      "usage: bench_load --syncs <count>\n"
      "       bench_load --queue <berth binary> <jobs>\n"
      "       bench_load --submits|--readers <berth binary> <clients> <requests>\n",
      stderr);
  return 2;
}
