// SPDX-License-Identifier: Apache-2.0
// A real server on a loop of its own, and a client that writes bytes as they are told. For tests.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "io/files/temporary_directory.h"
#include "io/http/http_server.h"
#include "io/http/reply_stream.h"

namespace berth::io {

/// Waits for it, but not for ever: a test that hangs says so.
template <typename T>
bool comes(const std::future<T>& future) {
  return future.wait_for(std::chrono::minutes(2)) == std::future_status::ready;
}

/// An application that does one thing for each path.
class PathHandler final : public HttpHandler {
 public:
  Admission admit(const RequestHead& head) override {
    if (on_admit) return on_admit(head);
    Caller caller{.name = std::string(header(head.headers, "X-Caller")),
                  .only_reads = head.method == "GET"};
    if (head.path == "/refused") return Refuse{{.status = 401, .body = "no"}};
    Handle answer = [this](Request request, Respond respond) {
      handle(std::move(request), std::move(respond));
    };
    if (head.path == "/spool") return SpoolBody{64u << 20, std::move(answer)};
    if (head.path == "/ten-bytes") return ReadBody{10, std::move(answer)};
    if (head.path == "/socket") return Upgrade{on_socket, std::move(caller)};
    if (head.path == "/bad-head") (void)std::string().at(1);
    return ReadBody{16u << 20, std::move(answer), {}, std::move(caller)};
  }

  void handle(Request request, Respond respond) {
    ++requests;
    const std::string& path = request.head.path;
    if (path == "/later") return waiting.push_back(std::move(respond));
    if (path == "/dropped") return;
    if (path == "/stream") return respond({.content_type = "text/plain", .stream = on_stream()});
    if (path == "/bad") (void)std::string().at(1);
    respond(reply_to(request));
  }

  Reply reply_to(Request& request) {
    const std::string& path = request.head.path;
    if (path == "/hello") return {.body = "hello", .head_length = head_length};
    if (path == "/large") return {.body = std::string(large, 'x')};
    if (path == "/host") return {.body = std::string(header(request.head.headers, "Host"))};
    if (path == "/echo") return {.content_type = "text/plain", .body = std::move(request.body)};
    if (path == "/count") return {.body = std::to_string(request.body.size())};
    if (path == "/files") return {.files = files};
    if (path == "/nothing") return {.status = 204, .body = "not to be seen"};
    if (path == "/headers") return {.headers = headers, .body = "x"};
    if (path == "/spool") return describe(*request.spooled);
    const RequestHead& head = request.head;
    return {.body = fmt::format("{} {} ? {} {} tls={}", head.method, path, head.query,
                                header(head.headers, "X-Test"), head.is_tls)};
  }

  static Reply describe(SpooledBody& body) {
    const Result<std::string> content = read_file(body.file.path());
    CHECK(content, "the spooled file is not there");
    return {.headers = {{"X-Sha256", to_hex(body.sha256)}, {"X-Md5", to_hex(body.md5)}},
            .body = fmt::format("{} {}", body.size, content->size())};
  }

  std::vector<Respond> waiting{};
  std::vector<FileRange> files{};
  Headers headers{};
  std::optional<std::uint64_t> head_length{};
  std::function<void(std::shared_ptr<WebSocket>)> on_socket{};
  std::function<Admission(const RequestHead&)> on_admit{};
  std::function<std::shared_ptr<BodyPipe>()> on_stream{};
  std::size_t large = 0;
  int requests = 0;
};

class RunningServer {
 public:
  explicit RunningServer(HttpLimits limits = {}, std::string address = "127.0.0.1") {
    const WallTime now = SystemClock{}.now().wall;
    authority = make_authority("test authority", now).value();
    const auto identity = make_server_certificate(authority, {"localhost", "127.0.0.1"}, now);
    server = std::make_unique<HttpServer>(
        loop, disk, handler,
        HttpServerOptions{
            .address = std::move(address), .limits = limits, .spool_directory = directory.path()},
        ServerTls::make(identity.value()).value());
    const Status listening = server->listen();
    CHECK(listening, "cannot listen");
    port = server->port();
    thread = std::thread([this] { loop.run(); });
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() {
    loop.stop();
    thread.join();
  }

  /// Runs it on the loop and waits.
  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  /// Begins to drain; the future is ready when drained.
  std::future<void> drain(Duration grace) {
    auto done = std::make_shared<std::promise<void>>();
    on_loop([&] { server->drain(grace, [done] { done->set_value(); }); });
    return done->get_future();
  }

  std::string url(const std::string& path, bool tls = false) const {
    return fmt::format("{}://127.0.0.1:{}{}", tls ? "https" : "http", port, path);
  }

  TemporaryDirectory directory{};
  PathHandler handler{};
  Loop loop{};
  ThreadOffload disk{loop, 2};
  KeyPair authority{};
  std::unique_ptr<HttpServer> server{};
  std::uint16_t port = 0;
  std::thread thread{};
};

/// A blocking TCP client. Waits at most ten seconds for anything.
class RawClient {
 public:
  struct Answer {
    int status = 0;
    Headers headers{};
    std::string body{};
  };

  RawClient() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  explicit RawClient(std::uint16_t port) : RawClient() { connect(port); }

  /// As another machine would seem to, on loopback.
  void come_from(const std::string& host) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    CHECK(::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1, "not an address");
    CHECK(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
          "cannot come from there");
  }
  /// Takes little at a time, so that what it does not read stays with the server.
  void take_little() {
    const int bytes = 4096;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }

  void connect(std::uint16_t port, const std::string& host = "127.0.0.1") {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    CHECK(::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1, "not an address");
    CHECK(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
          "cannot connect to the server under test");
  }

  /// False when the server no longer listens.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// The next answer; status 0 when the connection ended before a whole one.
  Answer receive(bool answers_head = false) {
    Answer answer;
    while (input_.find("\r\n\r\n") == std::string::npos) {
      if (!receive_some()) return {};
    }
    const std::size_t end = input_.find("\r\n\r\n");
    for (const std::string_view line : split(std::string_view(input_).substr(0, end), '\n')) {
      const std::size_t colon = line.find(':');
      if (line.starts_with("HTTP/1.1 ")) {
        answer.status = std::stoi(std::string(line.substr(9, 3)));
      } else {
        answer.headers.emplace_back(line.substr(0, colon), trim(line.substr(colon + 1)));
      }
    }
    input_.erase(0, end + 4);
    const std::string length(header(answer.headers, "Content-Length"));
    const std::size_t size = length.empty() || answers_head ? 0 : std::stoull(length);
    while (input_.size() < size) {
      if (!receive_some()) return {};
    }
    answer.body = input_.substr(0, size);
    input_.erase(0, size);
    return answer;
  }

  Answer ask(std::string_view request) {
    send(request);
    return receive();
  }

  /// True when the server has closed the connection, having sent nothing more.
  bool is_closed() { return input_.empty() && !receive_some(); }

 private:
  bool receive_some() {
    char piece[16384];
    const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
    if (got <= 0) return false;
    input_.append(piece, static_cast<std::size_t>(got));
    return true;
  }

  Descriptor socket_;
  std::string input_{};
};

inline std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", path);
}

inline std::string get_as(std::string_view caller, std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: h\r\nX-Caller: {}\r\n\r\n", path, caller);
}

inline std::string post(std::string_view path, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{}", path,
                     body.size(), body);
}

}  // namespace berth::io
