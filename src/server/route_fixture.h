// SPDX-License-Identifier: Apache-2.0
// For tests of routes: the real application, control plane and store on a temporary directory,
// without sockets. A request goes the whole way: it is let in, handled, and answered when what the
// answer rests on is on disk.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/record.h"
#include "base/text.h"
#include "core/rules/workspace_rules.h"
#include "io/files/temporary_directory.h"
#include "server/application.h"
#include "server/assets/log_blob.h"
#include "server/blob/access.h"
#include "server/fleet/log_store.h"
#include "server/fleet/log_waiters.h"
#include "server/keys/signer.h"
#include "server/plane/control_plane.h"
#include "server/plane/fake_effects.h"

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
  static constexpr const char* kOwnerToken = "the-owners-token";
  static inline const std::string kW =
      "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/"
      "Microsoft.MachineLearningServices/workspaces/default";

  RouteTest() {
    CHECK(plane.start(), "the control plane starts");
    application.resume();
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
    perform(request_of(sent), [&answer](const io::Reply& reply) {
      answer = Answer{reply.status, reply.headers, content_of(reply), reply.head_length};
      answer->headers.emplace_back("Content-Type", reply.content_type);
    });
  }

  /// Lets the request in and has it handled, as the HTTP server does.
  void perform(io::Request request, io::Respond respond) {
    perform_at(application, std::move(request), std::move(respond));
  }
  void perform_at(Application& door, io::Request request, io::Respond respond) {
    io::Admission admission = door.admit(request.head);
    if (auto* refused = std::get_if<io::Refuse>(&admission)) return respond(refused->reply);
    if (auto* wanted = std::get_if<io::SpoolBody>(&admission)) {
      spool(request, wanted->with_md5);
      return wanted->handle(std::move(request), std::move(respond));
    }
    std::get<io::ReadBody>(admission).handle(std::move(request), std::move(respond));
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
      *rows,
      effects,
      clock,
      {.settings = {.local = model::local_compute(2), .sizes = model::built_in_sizes()}}};
  LogStore logs{home / "live", objects, disk};
  Signer signer{"key"};
  ServerFacts facts{.home = home.path(), .port = 8470};
  LogWaiters waiters;
  Services services{plane.ledger,
                    plane.jobs,
                    plane.computes,
                    plane.access,
                    plane.workspaces,
                    plane.deployments,
                    *rows,
                    objects,
                    logs,
                    signer,
                    clock,
                    facts,
                    waiters};
  Providers providers{[](const model::Site&) -> Result<std::unique_ptr<target::NodeProvider>> {
                        return fail(Code::NotSupported, "no nodes here");
                      },
                      [] { return std::make_unique<io::InlineOffload>(); }};
  NodeHub hub{{.loop = loop,
               .providers = providers,
               .logs = logs,
               .signer = signer,
               .clock = clock,
               .on_job_changed = [](const model::JobKey&) {}}};
  Application application{
      {.loop = loop, .services = services, .nodes = hub, .owner_token = kOwnerToken}};
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
                    .headers = sent.headers,
                    .peer = "127.0.0.1:40000"};
    request.head.headers.emplace_back("Host", "localhost:8470");
    if (sent.by == Principal::Kind::Owner) {
      request.head.headers.emplace_back("Authorization", fmt::format("Bearer {}", kOwnerToken));
    }
    return request;
  }

  void spool(io::Request& request, bool with_md5) {
    Digest md5(Digest::Algorithm::Md5);
    if (with_md5) md5.update(request.body);
    request.spooled = io::SpooledBody{.file = *io::TemporaryFile::make(spool_directory),
                                      .size = request.body.size(),
                                      .sha256 = sha256(request.body),
                                      .md5 = with_md5 ? md5.finish() : ""};
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
};

}  // namespace berth::server
