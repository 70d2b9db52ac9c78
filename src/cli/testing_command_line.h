// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/testing_folder.h"
#include "io/files/file.h"

namespace berth::cli {

/// Runs the command line as a process would, with files for stdout and stderr.
class CliTest : public testing::Test {
 protected:
  int berth(std::vector<std::string> words) {
    const io::Descriptor out = file("out");
    const io::Descriptor err = file("err");
    Place place{.environment = environment,
                .directory = folder.path(),
                .user_home = "/nonexistent",
                .home = folder.path() + "/home"};
    return run(words, Console{.out_fd = out.get(), .err_fd = err.get()}, place);
  }
  std::string out() const { return folder.read("out"); }
  std::string err() const { return folder.read("err"); }

  std::map<std::string, std::string> environment{};
  TestingFolder folder{};

 private:
  io::Descriptor file(const std::string& name) const {
    return io::Descriptor(
        open((folder.path() + "/" + name).c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  }
};

}  // namespace berth::cli
