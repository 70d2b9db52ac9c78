// SPDX-License-Identifier: Apache-2.0
#include "store/database/foreign_reader.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "base/text.h"
#include "io/files/file.h"

namespace berth::store {
namespace {

/// Where a reader of the log has its lock, in the file "-shm". The byte before them is the lock of
/// who reads nothing of the log, the one behind them of who has the file open.
/// https://www.sqlite.org/walformat.html#locks
constexpr unsigned long kFirstReadLock = 124;
constexpr unsigned long kLastReadLock = 127;

}  // namespace

/// "1: POSIX  ADVISORY  READ 4711 fe:00:131073 124 124".
int find_reader(std::string_view locks, unsigned long inode, int own) {
  std::istringstream lines{std::string(locks)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, kind, manner, mode, file;
    int process = 0;
    unsigned long first = 0;
    if (!(words >> number >> kind >> manner >> mode >> process >> file >> first)) continue;
    const std::size_t colon = file.rfind(':');
    const bool is_file =
        colon != std::string::npos && file.substr(colon + 1) == fmt::to_string(inode);
    const bool reads = kind == "POSIX" && first >= kFirstReadLock && first <= kLastReadLock;
    if (is_file && reads && process != own) return process;
  }
  return 0;
}

// The file is not opened: whoever closes it loses all locks that his process has on it.
std::string foreign_reader(const std::string& database_path) {
  struct stat found {};
  const auto locks = io::read_file("/proc/locks");
  if (!locks || ::stat((database_path + "-shm").c_str(), &found) != 0) return "another process";
  const int process = find_reader(*locks, found.st_ino, ::getpid());
  if (process <= 0) return "another process";
  const auto name = io::read_file(fmt::format("/proc/{}/comm", process));
  if (!name) return fmt::format("process {}", process);
  return fmt::format("process {} ({})", process, trim(*name));
}

}  // namespace berth::store
