// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/random.h"
#include "io/files/temporary_directory.h"
#include "node/files/attempt_files.h"
#include "node/shim/lease.h"
#include "node/shim/process_tree.h"
#include "node/shim/testing_shim.h"
#include "node/shim/zygote.h"

namespace berth::node {

using namespace std::chrono_literals;
using model::Ending;

/// One attempt, and a zygote that makes a real shim for it.
class ShimTest : public testing::Test {
 protected:
  ShimTest() {
    EXPECT_TRUE(io::make_directories(paths.directory + "/wd"));
    EXPECT_TRUE(io::make_directories(paths.log_directory));
    launch.attempt = {.job = {.workspace = {"ws"}, .name = "shim-" + random_hex(6)}, .attempt = 1};
    EXPECT_TRUE(lease && lease->set(std::nullopt));
  }

  io::ProcessIdentity start(const std::string& command) {
    launch.command = command;
    EXPECT_TRUE(write_record(paths.launch, LaunchRecord{boot_id(), launch}));
    return launch_shim();
  }

  io::ProcessIdentity launch_shim() { return launch_without_agent(*zygote, paths); }

  ExitRecord wait(const io::ProcessIdentity& shim) {
    EXPECT_TRUE(io::wait_for_end(shim, 120s)) << "the shim does not end";
    const auto exit = read_record<ExitRecord>(paths.exit);
    EXPECT_TRUE(exit) << "no exit.json";
    EXPECT_TRUE(processes_marked(marker_of(paths)).empty());
    return exit.value_or(ExitRecord{});
  }

  model::Outcome run(const std::string& command) { return wait(start(command)).outcome; }

  std::string log() const { return io::read_file(paths.log).value_or("no log"); }

  /// Blocks until the command has written the file.
  std::string wait_for_file(const std::string& name) const {
    for (int attempt = 0; attempt < 24'000; ++attempt) {
      const auto text = io::read_file(paths.directory + "/wd/" + name);
      if (text && text->ends_with('\n')) return *text;
      ::usleep(5'000);
    }
    ADD_FAILURE() << "the command did not write " << name;
    return "0\n";
  }

  io::TemporaryDirectory directory;
  AttemptPaths paths{directory / "ws/job/1"};
  Result<LeaseFile> lease = LeaseFile::make(directory.path());
  wire::node::Launch launch{};
  Result<Zygote> zygote = Zygote::start({.grace = 100ms});
};

}  // namespace berth::node
