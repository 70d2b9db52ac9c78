// SPDX-License-Identifier: Apache-2.0
// For tests of routes: the real table, control plane and store on a temporary directory, without
// sockets. What the application does between the two (tokens, limits) has tests of its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/record.h"
#include "base/text.h"
#include "core/workspace_rules.h"
#include "io/temporary_directory.h"
#include "server/assets/log_blob.h"
#include "server/blob/access.h"
#include "server/door/route.h"
#include "server/fleet/log_store.h"
#include "server/fleet/log_waiters.h"
#include "server/keys/signer.h"
#include "server/plane/control_plane.h"
#include "server/plane/fake_effects.h"
#include "wire/arm/error.h"

namespace berth::server {

struct Sent {
  std::string method = "GET";
  std::string target{};  ///< Path and query. "W/…" is below the default workspace.
  std::string body{};
  io::Headers headers{};
  Principal::Kind by = Principal::Kind::Owner;
};

struct Answer {
  int status = 0;
  io::Headers headers{};
  std::string body{};
  std::optional<std::uint64_t> head_length{};

  std::string header(std::string_view name) const { return std::string(io::header(headers, name)); }
  boost::json::value json() const {
    Result<boost::json::value> parsed = record::parse(body);
    EXPECT_TRUE(parsed) << body;
    return parsed ? *parsed : boost::json::value();
  }
  /// The value at a JSON pointer, as text; empty when there is none.
  std::string at(std::string_view pointer) const {
    boost::system::error_code none;
    const boost::json::value document = json();
    const boost::json::value* found = document.find_pointer(pointer, none);
    if (found == nullptr) return {};
    return found->is_string() ? std::string(found->get_string()) : boost::json::serialize(*found);
  }
};

class RouteTest : public testing::Test {
 protected:
  static inline const std::string kW =
      "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/"
      "Microsoft.MachineLearningServices/workspaces/default";

  RouteTest() {
    CHECK(plane.start(), "the control plane starts");
    settle();
    workspace = plane.state().workspaces.begin()->first;
  }

  /// Sends a request and waits until its answer may leave.
  Answer send(Sent sent) {
    std::optional<Answer> answer;
    send_later(std::move(sent), answer);
    settle();
    EXPECT_TRUE(answer) << "no answer yet";
    return answer.value_or(Answer{});
  }
  Answer get(const std::string& target) { return send({.target = target}); }
  Answer put(const std::string& target, const std::string& body) {
    return send({.method = "PUT", .target = target, .body = body});
  }

  /// The same for an answer that may come later: `answer` must live until then.
  void send_later(Sent sent, std::optional<Answer>& answer) {
    requests.push_back(std::make_unique<io::Request>(request_of(sent)));
    io::Request& request = *requests.back();
    const Result<Match> match = table.find(request.head.method, request.head.path);
    if (!match) return take(fail(match.error()), answer);
    Call call{.request = request,
              .services = services,
              .respond = Respond(
                  [this, &answer](Result<io::Reply> reply) { take(std::move(reply), answer); }),
              .principal = {.kind = sent.by, .name = "me"}};
    call.parameters = match->parameters;
    call.query = *io::parse_query(request.head.query);
    if (sent.by != Principal::Kind::Owner &&
        match->route->permission.kind == Permission::Kind::Signature) {
      const Result<Principal> admitted = admit_blob(request.head, *match, services);
      if (!admitted) return take(blob_error_reply(admitted.error()), answer);
      call.principal = *admitted;
    }
    if (match->route->body == BodyKind::Spooled) spool(request);
    if (call.parameters.contains("workspaceName")) {
      call.workspace = core::find_workspace(plane.state(), call.parameter("subscriptionId"),
                                            call.parameter("resourceGroupName"),
                                            call.parameter("workspaceName"));
    }
    Result<io::Reply> reply = match->route->handle(call);
    if (!reply || !is_later(*reply)) take(std::move(reply), answer);
  }

  /// Runs the loop until all that was changed is on disk.
  void settle() {
    bool is_durable = false;
    plane.ledger.when_durable([&](const Status& status) {
      is_durable = status.has_value();
      loop.stop();
    });
    loop.run();
    EXPECT_TRUE(is_durable);
  }

  model::JobKey job(const std::string& name) const { return {workspace, name}; }

  /// Makes a job run on a node, as far as the server can tell.
  model::JobKey running(const std::string& name) {
    EXPECT_EQ(
        put("W/jobs/" + name, R"({"properties":{"jobType":"Command","command":"true"}})").status,
        201);
    EXPECT_TRUE(plane.nodes.joined(plane.state().nodes.begin()->first,
                                   {.slots = 2, .work_root = "/work-root"}, {}));
    settle();
    plane.nodes.job_advanced(plane.state().nodes.begin()->first, {job(name), 1},
                             model::JobStatus::Running);
    settle();
    return job(name);
  }

  /// Ends it well, with this log as the blob that stays.
  void finish(const model::JobKey& key, const std::string& log) {
    store::Batch more;
    if (!log.empty()) {
      io::TemporaryFile file = *io::TemporaryFile::make(spool_directory);
      CHECK(file.write(log), "the log is written");
      const std::string name = to_hex(sha256(log));
      CHECK(objects.adopt(std::move(file), name), "the log is an object");
      more.push_back(store::PutBlob{{.key = log_blob(key),
                                     .pieces = {{name, log.size()}},
                                     .size = log.size(),
                                     .content_type = "text/plain"}});
    }
    plane.nodes.job_ended(model::head_node(plane.state().jobs.at(key)), {key, 1}, {},
                          std::move(more));
    settle();
    logs.drop(key, 1);
  }

  io::TemporaryDirectory home;
  std::string spool_directory = home / "spool";
  bool has_spool = io::make_directories(spool_directory).has_value();
  SimClock clock;
  io::Loop loop;
  io::InlineOffload disk;
  io::ObjectStore objects = *io::ObjectStore::open(home / "objects");
  std::unique_ptr<store::Store> rows = *store::Store::open(home.path(), loop, objects);
  NoEffects effects;
  ControlPlane plane{
      *rows, effects, clock, {.settings = {.local_slots = 2, .sizes = model::built_in_sizes()}}};
  LogStore logs{home / "live", objects, disk};
  Signer signer{"key"};
  ServerFacts facts{.home = home.path(), .port = 8470};
  LogWaiters waiters;
  Services services{plane.ledger,     plane.jobs, plane.computes, plane.access,
                    plane.workspaces, *rows,      objects,        logs,
                    signer,           clock,      facts,          waiters};
  RouteTable table{all_routes()};
  model::WorkspaceId workspace;

 private:
  static io::Request request_of(const Sent& sent) {
    std::string target = sent.target;
    if (const std::size_t at = target.find("W/"); at == 0 || target == "W")
      target.replace(0, 1, kW);
    const std::size_t question = target.find('?');
    io::Request request{.body = sent.body};
    request.head = {.method = sent.method,
                    .path = target.substr(0, question),
                    .query = question == std::string::npos ? "" : target.substr(question + 1),
                    .headers = sent.headers};
    request.head.headers.emplace_back("Host", "localhost:8470");
    return request;
  }

  void spool(io::Request& request) {
    Digest md5(Digest::Algorithm::Md5);
    if (wants_md5(request.head)) md5.update(request.body);
    request.spooled = io::SpooledBody{.file = *io::TemporaryFile::make(spool_directory),
                                      .size = request.body.size(),
                                      .sha256 = sha256(request.body),
                                      .md5 = wants_md5(request.head) ? md5.finish() : ""};
    CHECK(request.spooled->file.write(request.body), "the body is spooled");
    request.body.clear();
  }

  static std::string content_of(const io::Reply& reply) {
    if (reply.files.empty()) return reply.body;
    std::string content;
    for (const io::FileRange& range : reply.files) {
      std::string part(range.length, '\0');
      const ssize_t got =
          ::pread(range.file->get(), part.data(), part.size(), static_cast<off_t>(range.offset));
      EXPECT_EQ(got, static_cast<ssize_t>(part.size()));
      content += part;
    }
    return content;
  }

  static void take(Result<io::Reply> reply, std::optional<Answer>& answer) {
    if (!reply) {
      answer = Answer{.status = wire::arm::http_status(reply.error().code),
                      .body = wire::arm::error_body(reply.error())};
    } else {
      answer = Answer{reply->status, reply->headers, content_of(*reply), reply->head_length};
      answer->headers.emplace_back("Content-Type", reply->content_type);
    }
  }

  std::vector<std::unique_ptr<io::Request>> requests;
};

}  // namespace berth::server
