// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::node {

/// One connection that carries several streams, in frames of one letter, four bytes of length and
/// as many bytes. An empty frame ends its stream. The frame 'q' brings the exit status.
///
/// Whatever is slow holds up only what goes to it, up to a limit. No threads.
class MpiRelay {
 public:
  static constexpr char kInput = 'i', kOutput = 'o', kError = 'e', kExit = 'q', kCommand = 'c';

  explicit MpiRelay(int link);

  /// What comes from `fd` leaves as frames of that kind, and the other way round. The descriptors
  /// are the caller's.
  void send_from(int fd, char kind) { sources_.push_back({fd, kind}); }
  void receive_to(int fd, char kind) { sinks_.push_back({fd, kind, {}, false}); }
  /// Readable when the command has ended.
  void end_with(int fd) { process_end_ = fd; }

  /// Until the command of end_with() has ended and all it wrote has been read (nullopt), or the
  /// other side's 'q' came and all it sent is written (that status). Unavailable when the other
  /// side is gone.
  Result<std::optional<int>> run();

  /// The last frame; returns when the other side has hung up. Blocking.
  Status send_exit(int status);

 private:
  struct Source {
    int fd = -1;
    char kind = 0;
  };
  struct Sink {
    int fd = -1;
    char kind = 0;
    std::string pending{};
    bool is_ended = false;  ///< To be closed once nothing is pending.
  };

  Status step();
  void read_sources();
  Status read_link();
  Status take_frames();
  Status take_frame(char kind, std::string_view bytes);
  void write_sinks();
  void write_link();
  bool is_drained() const;

  int link_;
  int process_end_ = -1;
  std::vector<Source> sources_{};
  std::vector<Sink> sinks_{};
  std::string to_link_{};
  std::string from_link_{};
  std::vector<int> ready_{};  ///< Descriptors that the last wait found readable.
  bool has_process_ended_ = false;
  std::optional<int> status_{};
};

/// Blocking, for what comes before the relay: the command.
Status send_mpi_frame(int link, char kind, std::string_view bytes);
Result<std::string> receive_mpi_command(int link);

}  // namespace berth::node
