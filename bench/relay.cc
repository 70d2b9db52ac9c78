// SPDX-License-Identifier: Apache-2.0
// The parts of bench/run relay: an upstream, our relay in front of it, and a client that asks one
// of them. Servers print their port; the client prints one line of JSON.

#include <arpa/inet.h>
#include <sys/socket.h>

#include <boost/json.hpp>
#include <cstring>
#include <mutex>
#include <thread>

#include "io/http/http_server.h"
#include "server.h"

namespace berth::bench {
namespace {

/// GET /N is answered with N bytes.
class Bytes final : public io::HttpHandler {
 public:
  io::Admission admit(const io::RequestHead&) override {
    return io::ReadBody{
        1u << 20, [](const io::Request& request, const io::Respond& respond) {
          const auto size = std::strtoull(request.head.path.c_str() + 1, nullptr, 10);
          respond({.content_type = "application/octet-stream", .body = std::string(size, 'x')});
        }};
  }
};

class Relaying final : public io::HttpHandler {
 public:
  explicit Relaying(std::shared_ptr<io::Upstream> to) { plan_.to = std::move(to); }
  io::Admission admit(const io::RequestHead&) override { return io::Relay{.plan = plan_}; }

 private:
  io::RelayPlan plan_{};
};

int serve(io::Loop& loop, io::HttpHandler& handler) {
  io::ThreadOffload disk(loop, 1);
  io::HttpServer server(loop, disk, handler, {}, nullptr);
  if (const Status listening = server.listen(); !listening) give_up(listening.error().message);
  std::printf("%d\n", server.port());
  std::fflush(stdout);
  loop.run();
  return 0;
}

int run_upstream() {
  io::Loop loop;
  Bytes handler;
  return serve(loop, handler);
}

int run_relay(std::uint16_t port) {
  io::Loop loop;
  Relaying handler(must(io::Upstream::at_port(loop, "127.0.0.1", port)));
  return serve(loop, handler);
}

/// One keep-alive connection that asks for the same thing again and again.
class Asker {
 public:
  explicit Asker(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      give_up("connect");
    }
    buffer_.resize(256 * 1024);
  }

  void ask(const std::string& request, std::size_t body) {
    if (!io::write_all(socket_.get(), request)) give_up("write");
    std::size_t got = 0;
    std::size_t whole = 0;
    while (whole == 0 || got < whole) {
      // Of a body only its size matters: behind the head it may be overwritten.
      const std::size_t at = whole == 0 ? got : 0;
      const ssize_t size = ::recv(socket_.get(), buffer_.data() + at, buffer_.size() - at, 0);
      if (size <= 0) give_up("the server has closed the connection");
      got += static_cast<std::size_t>(size);
      if (whole != 0) continue;
      const auto end = std::string_view(buffer_.data(), got).find("\r\n\r\n");
      if (end == std::string_view::npos) continue;
      if (std::memcmp(buffer_.data(), "HTTP/1.1 200", 12) != 0) give_up("not answered with 200");
      whole = end + 4 + body;
    }
  }

 private:
  io::Descriptor socket_;
  std::string buffer_{};
};

int run_load(std::uint16_t port, std::size_t body, int clients, int requests) {
  const std::string request = "GET /" + std::to_string(body) + " HTTP/1.1\r\nHost: bench\r\n\r\n";
  std::vector<double> all;
  std::mutex mutex;
  const double begin = now_seconds();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i) {
      threads.emplace_back([&] {
        Asker asker(port);
        std::vector<double> took;
        for (int j = 0; j < requests / clients; ++j) {
          const double start = now_seconds();
          asker.ask(request, body);
          took.push_back(now_seconds() - start);
        }
        const std::lock_guard lock(mutex);
        all.insert(all.end(), took.begin(), took.end());
      });
    }
  }
  const double rate = static_cast<double>(all.size()) / (now_seconds() - begin);
  const Percentiles each = percentiles(all);
  const boost::json::object figures{{"per_second", rate},
                                    {"p50_us", each.p50 * 1e6},
                                    {"p99_us", each.p99 * 1e6},
                                    {"mb_per_second", rate * static_cast<double>(body) / 1e6}};
  std::puts(boost::json::serialize(figures).c_str());
  return 0;
}

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const auto number = [&](int index) { return std::strtoul(words[index], nullptr, 10); };
  if (what == "--upstream" && count == 2) return run_upstream();
  if (what == "--relay" && count == 3) return run_relay(static_cast<std::uint16_t>(number(2)));
  if (what == "--load" && count == 6) {
    return run_load(static_cast<std::uint16_t>(number(2)), number(3), static_cast<int>(number(4)),
                    static_cast<int>(number(5)));
  }
  std::fputs("usage: bench_relay --upstream | --relay PORT | --load PORT BYTES CLIENTS REQUESTS\n",
             stderr);
  return 2;
}

}  // namespace
}  // namespace berth::bench

int main(int count, char** words) { return berth::bench::main(count, words); }
