// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include "cli/testing_command_line.h"
#include "cli/testing_server.h"

namespace berth::cli {
namespace {

TEST_F(CliTest, AloneItPrintsAGuide) {
  EXPECT_EQ(berth({}), 0);
  EXPECT_NE(out().find("berth run -- "), std::string::npos);
  EXPECT_EQ(berth({"--version"}), 0);
  EXPECT_EQ(out(), "berth 0.1.0\n");
}

TEST_F(CliTest, GroupsAndCommandsHaveHelp) {
  EXPECT_EQ(berth({"job"}), 0);
  EXPECT_NE(out().find("download"), std::string::npos);
  EXPECT_EQ(berth({"job", "create", "-h"}), 0);
  EXPECT_NE(out().find("--set a.b=c…"), std::string::npos);
  EXPECT_NE(out().find("Examples:"), std::string::npos);
  EXPECT_EQ(berth({"help", "job", "show"}), 0);
  EXPECT_NE(out().find("berth job show NAME"), std::string::npos);
}

TEST_F(CliTest, AnUnknownCommandSuggestsTheNearest) {
  EXPECT_EQ(berth({"job", "shwo"}), 2);
  EXPECT_NE(err().find("did you mean 'berth job show'?"), std::string::npos) << err();
  EXPECT_EQ(berth({"jbo"}), 2);
  EXPECT_NE(err().find("did you mean 'berth job'?"), std::string::npos) << err();
  EXPECT_EQ(out(), "");
}

TEST_F(CliTest, WrongUsageIsStatusTwo) {
  EXPECT_EQ(berth({"job", "show", "--bogus"}), 2);
  EXPECT_EQ(berth({"job", "list", "-o", "xml"}), 2);
  EXPECT_EQ(berth({"job", "list", "--query", "[?x"}), 2);
  EXPECT_NE(err().find("syntax error at character 4"), std::string::npos) << err();
  EXPECT_EQ(berth({"job", "create"}), 2);
  EXPECT_NE(err().find("'job create' needs the job's YAML file: -f FILE"), std::string::npos)
      << err();
  EXPECT_EQ(berth({"job", "show"}), 2);
  EXPECT_EQ(berth({"run"}), 2);
  EXPECT_EQ(berth({"run", "--env", "nothing", "--", "ls"}), 2);
  EXPECT_EQ(out(), "");
}

TEST_F(CliTest, AzMayBeAWrapper) {
  EXPECT_EQ(berth({"ml", "job", "create", "-h"}), 0);
  EXPECT_NE(out().find("--stream"), std::string::npos);
  EXPECT_EQ(berth({"ml"}), 0);
  EXPECT_EQ(berth({"version", "--query", "extensions.ml", "-o", "tsv"}), 0);
  EXPECT_TRUE(out().starts_with("2.")) << out();
  EXPECT_EQ(berth({"login", "-o", "none"}), 0);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(berth({"account", "show", "--query", "[id, tenantId] | [0] == [1]"}), 0);
  EXPECT_EQ(berth({"extension", "add", "-n", "ml", "-y"}), 0);
  EXPECT_EQ(berth({"extension", "add", "-n", "other"}), 1);
}

TEST_F(CliTest, WhatAzHasAndBerthHasNotIsKnownByName) {
  EXPECT_EQ(berth({"ml", "online-endpoint", "create", "-f", "x.yml", "--auth-mode", "key"}), 1);
  EXPECT_NE(err().find("'berth online-endpoint create' is not supported yet"), std::string::npos);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(berth({"ml", "online-endpoint", "--help"}), 0);
  EXPECT_NE(out().find("get-credentials"), std::string::npos);
  EXPECT_EQ(berth({"ml", "schedule", "create", "--help"}), 0);
  EXPECT_EQ(berth({"compute", "attach", "-n", "x"}), 1);
}

TEST_F(CliTest, NamesThatAreNoNamesNeverReachAServer) {
  environment = {{"BERTH_URL", "http://127.0.0.1:1"}, {"BERTH_TOKEN", "t"}};

  EXPECT_EQ(berth({"job", "show", "../../secrets"}), 1);
  EXPECT_NE(err().find("cannot be the name of a job"), std::string::npos) << err();
  EXPECT_EQ(berth({"job", "list", "-w", "a/b"}), 1);
}

TEST_F(CliTest, ATokenNeverCrossesANetworkInTheClear) {
  for (const char* url :
       {"http://example.invalid", "http://127.0.0.1.example.invalid", "ftp://x"}) {
    environment = {{"BERTH_URL", url}, {"BERTH_TOKEN", "secret"}};
    EXPECT_EQ(berth({"job", "list"}), 1);
    EXPECT_NE(err().find("must start with https://"), std::string::npos) << err();
    EXPECT_EQ(err().find("secret"), std::string::npos);
  }
}

TEST_F(CliTest, SaysThatNoServerIsRunning) {
  EXPECT_EQ(berth({"server", "status", "-o", "json", "--query", "running"}), 1);
  EXPECT_EQ(out(), "false\n");
  EXPECT_EQ(berth({"server", "stop"}), 0);
}

TEST_F(CliTest, AMistakeInAJobFileNamesItsPlace) {
  folder.write("job.yml", "command: ls\ncomand: ls\n");

  EXPECT_EQ(berth({"job", "validate", "-f", folder.path() + "/job.yml"}), 1);
  EXPECT_NE(err().find("job.yml:2:1: 'comand' is not a key"), std::string::npos) << err();
}

TEST_F(CliTest, SetChangesTheFile) {
  folder.write("job.yml", "command: ls\ncompute: local\n");
  const std::string file = folder.path() + "/job.yml";

  EXPECT_EQ(berth({"job", "validate", "-f", file, "--set", "inputs.rate=0.1", "tags.a=b", "-o",
                   "json", "--query", "result"}),
            0)
      << err();
  EXPECT_EQ(out(), "\"Succeeded\"\n");
  EXPECT_EQ(berth({"job", "validate", "-f", file, "--set", "comand=x"}), 1);
}

TEST_F(CliTest, RefusesToUploadTheRootFolder) {
  const io::Descriptor err_file(open((folder.path() + "/err").c_str(), O_CREAT | O_WRONLY, 0600));
  const std::vector<std::string> words = {"run", "--", "ls"};
  const Place place{.directory = "/", .user_home = "/root", .home = folder.path()};

  EXPECT_EQ(run(words, Console{.err_fd = err_file.get()}, place), 2);
  EXPECT_NE(err().find("--no-code"), std::string::npos) << err();
}

/// Just enough of a server to run a job.
struct FakeWorkspace {
  std::map<std::string, std::string> blobs{};
  json::object code{};
  json::object job{};
  std::string url{};

  io::Reply answer(const io::Request& request) {
    const std::string& path = request.head.path;
    const std::string& method = request.head.method;
    if (path.starts_with("/up/")) {
      blobs[path.substr(4)] = request.body;
      return {.status = 201};
    }
    if (path.ends_with("/startPendingUpload")) {
      return {.body = json::serialize(json::object{
                  {"blobReferenceForConsumption",
                   {{"blobUri", url + "/up"}, {"credential", {{"sasUri", url + "/up?sig=s"}}}}}})};
    }
    if (path.ends_with("/log")) return log();
    if (path.find("/codes/") != std::string::npos) return answer_code(method, path, request);
    return answer_job(method, path, request);
  }

  io::Reply log() const {
    return {.headers = {{"x-berth-log-end", "true"}, {"x-berth-job-status", "Failed"}},
            .content_type = "application/octet-stream",
            .body = "hi\n"};
  }

  io::Reply answer_code(const std::string& method, const std::string& path,
                        const io::Request& request) {
    if (method == "PUT") {
      code = json::parse(request.body).as_object();
      code["id"] = path;
      return {.status = 201, .body = json::serialize(code)};
    }
    const bool known =
        !code.empty() && request.head.query.find(std::string(
                             code["properties"].at("properties").at("hash_sha256").as_string())) !=
                             std::string::npos;
    json::array values;
    if (known) values.push_back(code);
    return {.body = json::serialize(json::object{{"value", values}})};
  }

  io::Reply answer_job(const std::string& method, const std::string& path,
                       const io::Request& request) {
    if (method == "PUT") {
      job = json::parse(request.body).as_object();
      job["id"] = path;
      job["name"] = path.substr(path.rfind('/') + 1);
      job["properties"].as_object()["status"] = "Failed";
      job["properties"].as_object()["outcome"] = {{"ending", "Exited"}, {"exitCode", 7}};
    }
    return {.body = json::serialize(job)};
  }
};

TEST_F(CliTest, RunUploadsTheFolderShowsTheLogAndEndsLikeTheCommand) {
  FakeWorkspace fake;
  TestingServer server([&](const io::Request& request) { return fake.answer(request); });
  server.on_loop([&] { fake.url = server.url(); });
  environment = {{"BERTH_URL", server.url()}, {"BERTH_TOKEN", "t"}};
  folder.write("train.py", "print()");
  folder.write(".amlignore", "out\nerr\n.amlignore\n");

  EXPECT_EQ(berth({"run", "--env", "A=1", "--", "python3", "-c", "print(1)"}), 7) << err();

  EXPECT_EQ(out(), "hi\n");
  EXPECT_EQ(err(), "");
  server.on_loop([&] {
    EXPECT_EQ(fake.blobs, (std::map<std::string, std::string>{{"train.py", "print()"}}));
    const json::value& properties = fake.job.at("properties");
    EXPECT_EQ(properties.at("command"), "python3 -c 'print(1)'");
    EXPECT_EQ(properties.at("environmentVariables").at("A"), "1");
    EXPECT_EQ(properties.at("codeId"), fake.code.at("id"));
    fake.blobs.clear();
  });

  EXPECT_EQ(berth({"run", "--", "true"}), 7);
  server.on_loop([&] { EXPECT_TRUE(fake.blobs.empty()) << "the same code was sent again"; });
}

}  // namespace
}  // namespace berth::cli
