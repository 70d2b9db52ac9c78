// SPDX-License-Identifier: Apache-2.0
#include "cli/testing_command_line.h"
#include "cli/testing_server.h"
#include "wire/arm/compute.h"

namespace berth::cli {
namespace {

/// Just enough of a server for clusters, sites and nodes. Remembers what it was asked.
struct FakeComputes {
  std::vector<std::string> asked{};  ///< "METHOD path?query".
  json::object body{};               ///< Of the last request that had one.
  int polls_until_done = 0;
  bool has_site = true;

  io::Reply answer(const io::Request& request) {
    const io::RequestHead& head = request.head;
    asked.push_back(head.method + " " + head.path.substr(head.path.rfind('/') + 1) +
                    (head.query.empty() ? "" : "?" + head.query));
    if (!request.body.empty()) body = json::parse(request.body).as_object();
    if (head.path.find("/operations/") != std::string::npos) return poll();
    if (head.path.starts_with("/berth/v1/sites/") && head.method == "GET" && !has_site) {
      return testing_error(404, "ResourceNotFound");
    }
    if (head.path.starts_with("/berth/v1/")) return ours(head);
    if (head.path.ends_with("/listNodes")) return nodes(head);
    if (head.method == "DELETE") return begun({.status = 202});
    if (head.path.ends_with("/missing")) return testing_error(404, "ResourceNotFound");
    const model::Compute cluster{
        .name = "cpu", .location = "lab", .kind = model::Cluster{.size = "S"}};
    io::Reply reply{.body = json::serialize(
                        wire::arm::to_json(cluster, {.name = "default"}, {.current_nodes = 3}))};
    return head.method == "GET" ? reply : begun(std::move(reply));
  }

  io::Reply begun(io::Reply reply) const {
    reply.headers.emplace_back("Azure-AsyncOperation", "http://elsewhere/operations/1?x=y");
    reply.headers.emplace_back("x-berth-notice", "nobody has defined 'mars'");
    return reply;
  }

  io::Reply poll() {
    const bool is_done = polls_until_done-- <= 0;
    return {.body = is_done ? R"({"status":"Succeeded"})" : R"({"status":"InProgress"})"};
  }

  io::Reply ours(const io::RequestHead& head) const {
    if (head.path.ends_with("/sites") || head.path.ends_with("/nodes")) {
      return {.body = R"({"value":[{"name":"n1","compute":"cpu"},{"name":"n2","compute":"gpu"}]})"};
    }
    return {.body = R"({"name":"lab","provider":"slurm","capacity":{"nodes":4,"cores":8},
                        "slurm":{"partition":"main"}})"};
  }

  io::Reply nodes(const io::RequestHead& head) const {
    if (head.method == "GET") return {.body = R"({"nodes":[{"nodeId":"n2","nodeState":"idle"}]})"};
    return {.body = R"({"nodes":[{"nodeId":"n1","nodeState":"running","runId":"j"}],
                        "nextLink":"http://x/more/listNodes?$skip=1"})"};
  }
};

class ComputeCommands : public CliTest {
 protected:
  ComputeCommands() { environment = {{"BERTH_URL", server.url()}, {"BERTH_TOKEN", "t"}}; }

  std::vector<std::string> asked() {
    return server.on_loop([this] { return std::exchange(fake.asked, {}); });
  }
  json::object body() {
    return server.on_loop([this] { return fake.body; });
  }

  FakeComputes fake{};
  TestingServer server{[this](const io::Request& request) { return fake.answer(request); }};
};

TEST_F(ComputeCommands, CreateTakesFlagsOverTheFile) {
  folder.write("c.yml", "type: amlcompute\nname: pool\nsize: S\nmax_instances: 2\n");

  EXPECT_EQ(berth({"compute", "create", "-f", folder.path() + "/c.yml", "-n", "cpu",
                   "--max-instances", "8", "--tier", "low_priority", "--tags", "a=b", "--set",
                   "location=lab", "-o", "json", "--query", "current_node_count"}),
            0)
      << err();

  EXPECT_EQ(out(), "3\n");
  EXPECT_NE(err().find("note: nobody has defined 'mars'"), std::string::npos) << err();
  EXPECT_EQ(asked(), (std::vector<std::string>{"PUT cpu", "GET 1?x=y", "GET cpu"}));
  const json::object sent = body();
  EXPECT_EQ(sent.at("location"), "lab");
  EXPECT_EQ(sent.at("tags").at("a"), "b");
  const json::value& inner = sent.at("properties").at("properties");
  EXPECT_EQ(inner.at("vmSize"), "S");
  EXPECT_EQ(inner.at("vmPriority"), "LowPriority");
  EXPECT_EQ(inner.at("scaleSettings").at("maxNodeCount"), 8);
}

TEST_F(ComputeCommands, WaitsForTheEndUnlessToldNotTo) {
  server.on_loop([this] { fake.polls_until_done = 2; });
  EXPECT_EQ(berth({"compute", "delete", "-n", "cpu", "-y"}), 0) << err();
  EXPECT_EQ(asked(),
            (std::vector<std::string>{"GET cpu", "DELETE cpu?underlyingResourceAction=Delete",
                                      "GET 1?x=y", "GET 1?x=y", "GET 1?x=y"}));

  EXPECT_EQ(berth({"compute", "delete", "cpu", "-y", "--no-wait", "--if-idle"}), 0) << err();
  EXPECT_EQ(asked(),
            (std::vector<std::string>{"GET cpu", "DELETE cpu?underlyingResourceAction=Detach"}));
}

TEST_F(ComputeCommands, NothingIsDeletedWithoutAnAnswer) {
  EXPECT_EQ(berth({"compute", "delete", "-n", "cpu"}), 1);
  EXPECT_NE(err().find("-y says yes"), std::string::npos) << err();
  EXPECT_EQ(berth({"compute", "delete", "-n", "missing", "-y"}), 3);
  EXPECT_EQ(asked(), (std::vector<std::string>{"GET cpu", "GET missing"}));
}

TEST_F(ComputeCommands, AnUpdateSendsOnlyWhatChanges) {
  EXPECT_EQ(berth({"compute", "update", "-n", "cpu", "--min-instances", "1", "--set", "tags.team=a",
                   "-o", "none"}),
            0)
      << err();

  EXPECT_EQ(asked().at(1), "PATCH cpu");
  const json::object sent = body();
  EXPECT_EQ(sent.at("properties").at("properties").as_object(),
            (json::object{{"scaleSettings", {{"minNodeCount", 1}}}}));
  EXPECT_EQ(sent.at("tags").at("team"), "a");
}

TEST_F(ComputeCommands, WrongUsageIsStatusTwoAndAsksNothing) {
  EXPECT_EQ(berth({"compute", "create"}), 2);
  EXPECT_EQ(berth({"compute", "create", "-n", "cpu", "--max-instances", "many"}), 2);
  EXPECT_NE(err().find("--max-instances takes a whole number, not 'many'"), std::string::npos);
  EXPECT_EQ(berth({"compute", "update", "-n", "cpu"}), 2);
  EXPECT_EQ(berth({"compute", "show"}), 2);
  EXPECT_EQ(berth({"compute", "create", "-n", "cpu", "--bogus"}), 2);
  EXPECT_EQ(berth({"site", "add", "lab"}), 2);
  EXPECT_EQ(berth({"run", "--instances", "0", "--", "ls"}), 2);
  EXPECT_EQ(berth({"node", "prempt"}), 2);
  EXPECT_EQ(asked(), std::vector<std::string>());
}

TEST_F(ComputeCommands, WhatTheFileSaysIsChecked) {
  EXPECT_EQ(berth({"compute", "create", "-n", "cpu", "--tier", "spot"}), 1);
  EXPECT_NE(err().find("'spot' is not a tier"), std::string::npos) << err();
  EXPECT_EQ(berth({"compute", "create", "-n", "cpu", "-t", "computeinstance"}), 1);
  EXPECT_NE(err().find("not supported yet"), std::string::npos) << err();
  EXPECT_EQ(berth({"compute", "create", "-n", "../x"}), 1);
  EXPECT_EQ(asked(), std::vector<std::string>());
}

TEST_F(ComputeCommands, NodesOfAllPagesAreListed) {
  EXPECT_EQ(berth({"compute", "list-nodes", "-n", "cpu", "-o", "json", "--query", "[].node_id"}),
            0);
  EXPECT_EQ(json::parse(out()), (json::array{"n1", "n2"}));
  EXPECT_EQ(berth({"node", "list", "--compute", "GPU", "--query", "[].name", "-o", "tsv"}), 0);
  EXPECT_EQ(out(), "n2\n");
}

TEST_F(ComputeCommands, ASiteIsAddedOnceAndThenUpdated) {
  EXPECT_EQ(berth({"site", "add", "lab", "--provider", "slurm"}), 1);
  EXPECT_NE(err().find("'berth site update' changes it"), std::string::npos) << err();

  server.on_loop([this] { fake.has_site = false; });
  EXPECT_EQ(berth({"site", "add", "lab", "--provider", "slurm", "--partition", "main", "--nodes",
                   "4", "--memory", "64Gi", "--time-limit", "1-00:30:01", "--option",
                   "constraint=fast", "--option=--exclusive"}),
            0)
      << err();
  EXPECT_EQ(body().at("slurm"), json::parse(R"({"partition":"main","time_limit_minutes":1471,
                            "options":["--constraint=fast","--exclusive"]})"));
  EXPECT_EQ(body().at("capacity").at("memory_mib"), 65536);

  server.on_loop([this] { fake.has_site = true; });
  EXPECT_EQ(berth({"site", "update", "lab", "--cores", "none", "--qos", "high"}), 0) << err();
  EXPECT_EQ(body().at("capacity").at("nodes"), 4);
  EXPECT_TRUE(body().at("capacity").at("cores").is_null());
  EXPECT_EQ(body().at("slurm").at("partition"), "main");
  EXPECT_EQ(body().at("slurm").at("qos"), "high");
}

TEST_F(ComputeCommands, RubbishForASiteIsWrongUsage) {
  server.on_loop([this] { fake.has_site = false; });
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--provider", "cloud"},
                                             {"--provider", "slurm", "--nodes", "-1"},
                                             {"--provider", "slurm", "--memory", "64"},
                                             {"--provider", "slurm", "--time-limit", "soon"},
                                             {"--provider", "slurm", "--time-limit", "0"},
                                             {"--provider", "slurm", "--time-limit", "1:2"}}) {
    std::vector<std::string> words = {"site", "add", "lab"};
    words.insert(words.end(), flags.begin(), flags.end());
    EXPECT_EQ(berth(words), 2) << err();
  }
}

TEST_F(ComputeCommands, HelpIsThereForEachGroup) {
  for (const char* group : {"compute", "site", "node"}) {
    EXPECT_EQ(berth({group}), 0);
    EXPECT_NE(out().find("list"), std::string::npos) << group;
  }
  EXPECT_EQ(berth({"compute", "create", "--help"}), 0);
  EXPECT_NE(out().find("--idle-time-before-scale-down SECONDS"), std::string::npos) << out();
}

}  // namespace
}  // namespace berth::cli
