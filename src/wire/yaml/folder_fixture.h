// SPDX-License-Identifier: Apache-2.0
// For tests: a folder with a few files in it, gone afterwards.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace berth::wire::yaml {

class InFolder : public testing::Test {
 protected:
  InFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-yaml-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    std::filesystem::create_directories(directory_ / "src");
    write("src/fit.py", "print(1)\n");
    write("rows.csv", "1,2\n");
  }
  ~InFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << text;
  }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::filesystem::path directory_;
};

}  // namespace berth::wire::yaml
