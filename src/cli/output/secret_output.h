// SPDX-License-Identifier: Apache-2.0
// Tokens that leave by a file or by stdout.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/output/console.h"
#include "io/files/file.h"

namespace berth::cli {

/// Called before a token is printed. `> FILE` of a shell makes a file that others can read: one
/// that is new and ours is closed to them, of any other a warning is given.
void protect_output(const Console& console);

/// A file for a token, 0600, complete or not there. Made before the token is, so that none is lost
/// because of a folder that cannot be written to.
class SecretFile {
 public:
  static Result<SecretFile> make(const std::string& path);
  /// Takes the place of what was there under its name.
  Status keep(std::string_view secret);

 private:
  SecretFile(std::string path, io::TemporaryFile file)
      : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  io::TemporaryFile file_;
};

}  // namespace berth::cli
