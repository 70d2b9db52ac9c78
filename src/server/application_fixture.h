// SPDX-License-Identifier: Apache-2.0
// For tests of the door: requests with tokens of users, and the users.
#pragma once

#include "base/random.h"
#include "server/route_fixture.h"

namespace berth::server {

class ApplicationTest : public RouteTest {
 protected:
  /// A head as it comes in; "W/…" is below the default workspace.
  static io::RequestHead head_of(const std::string& method, std::string target,
                                 const std::string& token) {
    if (target == "W" || target.starts_with("W/")) target.replace(0, 1, kW);
    const std::size_t question = target.find('?');
    io::RequestHead head{.method = method,
                         .path = target.substr(0, question),
                         .query = question == target.npos ? "" : target.substr(question + 1),
                         .peer = "127.0.0.1:40000"};
    head.headers.emplace_back("Host", "localhost:8470");
    if (!token.empty()) head.headers.emplace_back("Authorization", "Bearer " + token);
    return head;
  }

  /// 0 when it is let in, else the status it is refused with.
  int refusal(const io::RequestHead& head) {
    const io::Admission admission = application.admit(head);
    const auto* refused = std::get_if<io::Refuse>(&admission);
    return refused == nullptr ? 0 : refused->reply.status;
  }

  /// The whole way: let in, handled, answered when it is on disk.
  Answer ask(const std::string& method, const std::string& target, const std::string& token,
             const std::string& body = {}) {
    const io::RequestHead head = head_of(method, target, token);
    std::optional<Answer> answer;
    perform({.head = head, .body = body}, [&](const io::Reply& reply) {
      answer = Answer{reply.status, reply.headers, reply.body, {}};
    });
    settle();
    if (!answer) finish_searches();
    EXPECT_TRUE(answer) << "no answer";
    return answer.value_or(Answer{});
  }

  /// Searches run one after the other: what was asked for before this has been answered behind it.
  void finish_searches() {
    services.store.search(
        [this](store::Tracking&) -> std::function<void()> { return [this] { loop.stop(); }; });
    loop.run();
  }

  /// The next server process, as far as deployments concern it: it has what is on disk and nothing
  /// else. What templates name is made by the test.
  class NextServer {
   public:
    using Make = std::function<Result<io::Reply>(const io::Request&)>;
    NextServer(ApplicationTest& test, Make make)
        : plane(*test.rows, test.effects, test.clock,
                {.settings = {.local = model::local_compute(2), .sizes = model::built_in_sizes()}}),
          services(services_of(test, plane)),
          deployments({.services = services, .loop = test.loop, .inside = door_of(make)}) {
      CHECK(plane.start(), "the next server starts");
    }

    ControlPlane plane;
    Services services;
    TemplateDeployments deployments;

   private:
    static Services services_of(ApplicationTest& test, ControlPlane& plane) {
      return {plane.ledger,      plane.jobs, plane.computes, plane.access, plane.workspaces,
              plane.deployments, *test.rows, test.objects,   test.logs,    test.signer,
              test.clock,        test.facts, test.waiters};
    }
    static Inside door_of(const Make& make) {
      return {
          .perform = [make](const Principal&, const io::Request& request) { return make(request); },
          .check = [](const Principal&, const io::RequestHead&) -> Status { return Done{}; }};
    }
  };

  /// A deployment goes from step to step by what it posts to the loop.
  void run_posted() {
    loop.post([this] { loop.stop(); });
    loop.run();
  }
  /// Runs the loop until it is so; false: it hangs.
  bool run_until(const std::function<bool()>& condition) {
    const auto hangs_at = SystemClock().now().mono + std::chrono::minutes(1);
    while (!condition()) {
      if (SystemClock().now().mono >= hangs_at) return false;
      run_posted();
    }
    return true;
  }

  model::UserId user(const std::string& name) {
    return plane.access.put_user(name, "", "owner")->id;
  }
  void role(const model::UserId& who, std::string_view name, const model::WorkspaceId& place) {
    EXPECT_TRUE(plane.access.assign_role({.id = {random_uuid()},
                                          .user = who,
                                          .role = std::string(core::find_role(name)->id),
                                          .workspace = place}));
  }
  AccessDesk::NewToken token(const model::UserId& who, const model::WorkspaceId& only = {},
                             Duration lifetime = std::chrono::hours(1)) {
    return *plane.access.make_token({.id = {random_hex(8)},
                                     .user = who,
                                     .workspace = only,
                                     .expires_at = clock.now().wall + lifetime});
  }
};

}  // namespace berth::server
