// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>

#include "base/log.h"
#include "base/random.h"
#include "io/files/temporary_directory.h"
#include "node/agent.h"
#include "node/fake_server.h"
#include "node/files/attempt_files.h"
#include "node/shim/process_tree.h"

namespace berth::node {

using namespace std::chrono_literals;
using model::Ending;
using wire::node::Advanced;
using wire::node::AttemptRef;
using wire::node::Ended;
using wire::node::Hello;
using wire::node::Launch;
using wire::node::Phase;

/// The real agent in a process of its own, against a server that is only pretended.
class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    options = {.id = {"n1"},
               .home = directory.path(),
               .work_root = directory / "work",
               .token_file = directory / "token",
               .slots = 2,
               .housekeeping = 50ms};
    EXPECT_TRUE(io::write_file(options.token_file, "token\n"));
    launch.attempt = {.job = {.workspace = {"ws"}, .name = "agent-" + random_hex(6)}, .attempt = 1};
    options.shims.grace = 100ms;
    server = std::make_unique<FakeServer>(*loop, directory.path());
  }

  ~AgentTest() override {
    if (agent > 0) kill_agent();
    for (const auto& left : processes_marked(marker())) {
      ADD_FAILURE() << "process " << left.pid << " was left behind";
      ::kill(left.pid, SIGKILL);
    }
  }

  /// The agent must be forked from one thread, which this test program has as long as its loop runs
  /// here and nowhere else.
  void start_agent() {
    agent = ::fork();
    if (agent == 0) {
      log::to_file(directory / "agent.log", log::Level::Debug);
      const Status ended = run_agent(options);
      ::_exit(ended ? 0 : 1);
    }
  }

  void kill_agent() {
    ::kill(agent, SIGKILL);
    ::waitpid(agent, nullptr, 0);
    agent = 0;
  }

  template <typename Condition>
  [[nodiscard]] bool until(Condition is_so) {
    const auto deadline = std::chrono::steady_clock::now() + 120s;  // For hangs.
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      loop->context().run_one_for(50ms);
    }
    return true;
  }

  void connect() {
    if (agent == 0) start_agent();
    ASSERT_TRUE(until([&] { return !server->heard<Hello>().empty(); }));
  }

  /// Another server on another port, after the old one died.
  void replace_server() {
    const auto blobs = server->blobs;
    const auto logs = server->logs;
    server.reset();
    loop = std::make_unique<io::Loop>();
    server = std::make_unique<FakeServer>(*loop, directory.path());
    server->blobs = blobs;
    server->logs = logs;
  }

  void send_launch(const std::string& command) {
    launch.command = command;
    server->say(launch);
  }

  Ended wait_for_end() {
    EXPECT_TRUE(until([&] { return !server->heard<Ended>().empty(); })) << agent_log();
    const auto ended = server->heard<Ended>();
    return ended.empty() ? Ended{} : ended.front();
  }

  Ended run(const std::string& command) {
    connect();
    send_launch(command);
    return wait_for_end();
  }

  bool wait_for_file(const std::string& name) {
    return until([&] { return ::access((paths().directory + "/wd/" + name).c_str(), F_OK) == 0; });
  }
  void touch(const std::string& name) {
    ASSERT_TRUE(io::write_file(paths().directory + "/wd/" + name, ""));
  }

  static ino_t inode_of(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_ino;
  }

  int wait_for_exit() {
    int status = -1;
    EXPECT_TRUE(until([&] { return ::waitpid(agent, &status, WNOHANG) == agent; }));
    agent = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  AttemptPaths paths() const {
    return AttemptPaths(options.work_root + "/" + wire::node::attempt_directory(launch.attempt));
  }
  std::string marker() const { return marker_of(paths()); }
  bool is_work_gone() const { return processes_marked(marker()).empty(); }
  const std::string& log() { return server->logs[launch.attempt]; }
  std::string agent_log() const { return io::read_file(directory / "agent.log").value_or(""); }

  io::TemporaryDirectory directory;
  AgentOptions options{};
  Launch launch{};
  std::unique_ptr<io::Loop> loop = std::make_unique<io::Loop>();
  std::unique_ptr<FakeServer> server{};
  pid_t agent = 0;
};

}  // namespace berth::node
