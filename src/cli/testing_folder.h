// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace berth::cli {

/// A temporary folder for one test.
class TestingFolder {
 public:
  TestingFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "berth-cli-XXXXXX").string();
    path_ = mkdtemp(path.data()) != nullptr ? path : "";
  }
  ~TestingFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TestingFolder(const TestingFolder&) = delete;
  TestingFolder& operator=(const TestingFolder&) = delete;

  const std::string& path() const { return path_; }

  void write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  std::string read(const std::string& name) const {
    std::ifstream file(std::filesystem::path(path_) / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_{};
};

}  // namespace berth::cli
