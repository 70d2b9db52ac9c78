// SPDX-License-Identifier: Apache-2.0
// The way of a request to a service: through the real door and a real server, to a real upstream.
#include <future>
#include <thread>

#include "io/http/parked_pipe.h"
#include "io/http/wire_fixture.h"
#include "server/application_fixture.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;

class ServiceRelayTest : public ApplicationTest {
 protected:
  static inline const std::string kServices = "/berth/v1" + kW + "/services";
  static constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  ~ServiceRelayTest() override { stop_serving(); }

  /// A service on a node of this machine, or of another, as the server sees one that is ready.
  model::AttemptRef ready_service(const std::string& name, const std::string& compute = "") {
    const Answer made = put(kServices + "/" + name,
                            R"({"job":{"command":"serve","computeId":")" + compute + R"("}})");
    EXPECT_EQ(made.status, 201) << made.body;
    const model::JobKey key = job(name);
    for (const auto& [id, node] : plane.state().nodes) {
      if ((node.target == model::TargetId{}) == compute.empty()) at = id;
    }
    EXPECT_TRUE(plane.nodes.joined(at, {.slots = 2, .work_root = "/work-root"}, {}));
    settle();
    const model::Job& placed = plane.state().jobs.at(key);
    const model::AttemptRef attempt{key, placed.attempt, placed.fence};
    plane.nodes.job_advanced(at, attempt, model::JobStatus::Running);
    plane.nodes.endpoint_changed(at, attempt, {model::EndpointState::Ready, listener.port()});
    settle();
    return attempt;
  }
  void make_cluster() {
    const model::Site lab{.name = "lab", .provider = model::ProviderKind::Slurm};
    ASSERT_TRUE(plane.computes.put_site(lab));
    ASSERT_TRUE(plane.computes.put(
        {.key = {workspace, "pool"},
         .name = "pool",
         .location = "lab",
         .kind = model::Cluster{.size = "Standard_DS1_v2", .scale = {.max_nodes = 1}}}));
    settle();
  }

  /// From here on the loop runs beside the test.
  void serve() {
    server = std::make_unique<io::HttpServer>(
        loop, offload, application, io::HttpServerOptions{.spool_directory = spool_directory},
        nullptr);
    ASSERT_TRUE(server->listen());
    facts.port = server->port();
    thread = std::thread([this] { loop.run(); });
  }
  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void stop_serving() {
    if (!thread.joinable()) return;
    on_loop([this] {
      pipe.reset();
      server.reset();
    });
    loop.stop();
    thread.join();
  }

  io::Wire client() const { return io::Wire::to_port(server->port()); }
  std::string request(const std::string& method, const std::string& path, const std::string& shown,
                      const std::string& more = "") const {
    return fmt::format("{} {} HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer {}\r\n{}\r\n",
                       method, path, facts.port, shown, more);
  }
  /// What the service hears of the request, and the client of its answer.
  std::pair<std::string, std::string> exchange(const std::string& text) {
    io::Wire from = client();
    from.send(text);
    io::Wire to = listener.accept();
    const std::string heard = to.receive_head();
    to.send(kOk);
    return {heard, from.receive_head()};
  }
  std::string refused(const std::string& text) {
    io::Wire from = client();
    from.send(text);
    return from.receive_head().substr(0, 12);
  }

  static bool says(const std::string& head, const std::string& text) {
    return to_lower(head).find(to_lower(text)) != std::string::npos;
  }

  io::WireListener listener{};
  io::ThreadOffload offload{loop, 1};
  std::unique_ptr<io::HttpServer> server{};
  std::shared_ptr<io::ParkedPipe> pipe{};
  std::thread thread{};
  model::NodeId at{};
};

TEST_F(ServiceRelayTest, TheRestOfThePathAndTheQueryArriveAsTheyWereSent) {
  ready_service("web");
  serve();
  const auto [heard, answer] = exchange(
      request("GET", kServices + "/web/a%2Fb//c/../d%20?x=1&y=%2F&sig=theirs", kOwnerToken));

  EXPECT_TRUE(heard.starts_with("GET /a%2Fb//c/../d%20?x=1&y=%2F&sig=theirs HTTP/1.1\r\n"))
      << heard;
  EXPECT_TRUE(says(heard, "\r\nX-Forwarded-Prefix: " + kServices + "/web\r\n")) << heard;
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(exchange(request("GET", kServices + "/web/", kOwnerToken))
                  .first.starts_with("GET / HTTP/1.1\r\n"));
}

TEST_F(ServiceRelayTest, EveryMethodArrives) {
  ready_service("web");
  serve();
  for (const std::string method : {"GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"}) {
    const auto [heard, answer] =
        exchange(request(method, kServices + "/web/x", kOwnerToken, "Content-Length: 0\r\n"));
    EXPECT_TRUE(heard.starts_with(method + " /x ")) << heard;
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  }
}

TEST_F(ServiceRelayTest, WhatTheCallerHasShownStaysHere) {
  ready_service("web");
  serve();
  const auto [heard, answer] = exchange(
      request("GET", kServices + "/web/", kOwnerToken,
              "X-IDENTITY-HEADER: secret-one\r\nCookie: berth_session=secret-two; theirs=1\r\n"
              "Cookie: Berth=secret-three\r\nProxy-Authorization: secret-four\r\nX-Own: kept\r\n"));

  EXPECT_FALSE(says(heard, kOwnerToken)) << heard;
  EXPECT_FALSE(says(heard, "secret")) << heard;
  EXPECT_FALSE(says(heard, "authorization")) << heard;
  EXPECT_TRUE(says(heard, "\r\nCookie: theirs=1\r\n")) << heard;
  EXPECT_TRUE(says(heard, "\r\nX-Own: kept\r\n")) << heard;
}

TEST_F(ServiceRelayTest, WhoMayOnlyReadDoesNotGetThere) {
  ready_service("web");
  const model::UserId ana = user("ana"), ben = user("ben");
  role(ana, "Reader", workspace);
  role(ben, "AzureML Data Scientist", workspace);
  const std::string hers = token(ana).text, his = token(ben).text;
  settle();
  serve();

  EXPECT_EQ(refused(request("GET", kServices + "/web/", hers)), "HTTP/1.1 403");
  EXPECT_EQ(refused(request("GET", kServices + "/web/", "guess")), "HTTP/1.1 401");
  EXPECT_FALSE(listener.is_called()) << "the service hears nothing of them";
  EXPECT_TRUE(
      exchange(request("GET", kServices + "/web/", his)).second.starts_with("HTTP/1.1 200"));
}

TEST_F(ServiceRelayTest, WhatIsNotReadyOrNotThereSaysSo) {
  const model::AttemptRef attempt = ready_service("web");
  plane.nodes.endpoint_changed(at, attempt, {model::EndpointState::NotReady, listener.port()});
  settle();
  EXPECT_EQ(get(kServices + "/web").at("/state"), "NotReady");
  serve();

  EXPECT_EQ(refused(request("GET", kServices + "/web/", kOwnerToken)), "HTTP/1.1 503");
  EXPECT_EQ(refused(request("GET", kServices + "/none/", kOwnerToken)), "HTTP/1.1 404");
  EXPECT_FALSE(listener.is_called());
}

TEST_F(ServiceRelayTest, AWebSocketIsPassedThroughAndEndsWithTheAttempt) {
  const model::AttemptRef attempt = ready_service("web");
  serve();
  io::Wire from = client();
  from.send(request("GET", kServices + "/web/ws", kOwnerToken,
                    "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
  io::Wire to = listener.accept();
  EXPECT_TRUE(to.receive_head().starts_with("GET /ws "));
  to.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 101 "));
  from.send("echo");
  EXPECT_EQ(to.receive(4), "echo");
  to.send("<echo>");
  EXPECT_EQ(from.receive(6), "<echo>");
  on_loop([&] {
    ASSERT_TRUE(plane.jobs.cancel(attempt.job));
    plane.nodes.job_ended(at, attempt, {.ending = model::Ending::Stopped}, {});
    application.gate().job_changed(attempt.job);
  });

  EXPECT_TRUE(from.is_closed());
}

TEST_F(ServiceRelayTest, WhoWaitsForAnAnswerIsToldThatTheAttemptIsOver) {
  const model::AttemptRef attempt = ready_service("web");
  serve();
  io::Wire from = client();
  from.send(request("GET", kServices + "/web/", kOwnerToken));
  io::Wire to = listener.accept();
  to.receive_head();
  on_loop([&] {
    plane.nodes.job_ended(at, attempt, {.ending = model::Ending::Exited, .exit_code = 1}, {});
    application.gate().job_changed(attempt.job);
  });

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 502 "));
}

TEST_F(ServiceRelayTest, ARightThatIsTakenAwayEndsWhatIsUnderWay) {
  ready_service("web");
  const model::UserId ben = user("ben");
  role(ben, "AzureML Data Scientist", workspace);
  const auto his = token(ben);
  settle();
  serve();
  io::Wire from = client();
  from.send(request("GET", kServices + "/web/", his.text));
  io::Wire to = listener.accept();
  to.receive_head();
  on_loop([&] {
    ASSERT_TRUE(plane.access.revoke_token(his.token.id));
    server->recheck();
  });

  EXPECT_TRUE(from.is_closed());
}

TEST_F(ServiceRelayTest, AServiceElsewhereIsReachedThroughWhatItsNodeHasParked) {
  make_cluster();
  const model::AttemptRef attempt = ready_service("far", "pool");
  serve();
  std::promise<Status> ended;
  const auto park = [&](const model::AttemptRef& ref, const model::NodeId& with_token_of) {
    ended = {};
    on_loop([&] {
      pipe = io::ParkedPipe::open(loop,
                                  {.host = "127.0.0.1",
                                   .port = server->port(),
                                   .path = wire::node::parking_path(at, ref),
                                   .bearer_token = signer.node_token(with_token_of)},
                                  wire::node::kParkProtocol, listener.port(),
                                  {.on_closed = [&](const Status& s) { ended.set_value(s); }});
    });
  };
  const auto is_refused = [&] {
    auto end = ended.get_future();
    if (end.wait_for(1min) != std::future_status::ready) return false;
    const Status status = end.get();
    return !status && status.error().code == Code::Forbidden;
  };

  park(attempt, {"another"});
  EXPECT_TRUE(is_refused()) << "with another node's token";
  park({attempt.job, attempt.attempt, "other"}, at);
  EXPECT_TRUE(is_refused()) << "for an attempt of another fence";
  park({attempt.job, attempt.attempt + 1, attempt.fence}, at);
  EXPECT_TRUE(is_refused()) << "for an attempt that is not there";
  park(attempt, at);
  const auto [heard, answer] = exchange(request("GET", kServices + "/far/x", kOwnerToken));
  EXPECT_TRUE(heard.starts_with("GET /x ")) << heard;
  EXPECT_FALSE(says(heard, "authorization")) << "nor does it learn its node's token";
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
}

}  // namespace
}  // namespace berth::server
