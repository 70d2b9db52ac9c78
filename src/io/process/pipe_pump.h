// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "io/files/file.h"

namespace berth::io {

struct Pipe {
  Descriptor reader{};  ///< Does not block.
  Descriptor writer{};
};
Result<Pipe> make_pipe();

/// Moves what others write into pipes into files, on a thread of its own: a disk that hangs or has
/// no room holds up those who write, and not the owner of the pump. What finds no room stays in its
/// pipe and is tried again. Everything but the thread belongs to one caller's thread.
class PipePump {
 public:
  /// `on_trouble` is called on the pump's thread when a file cannot be written for the first time.
  explicit PipePump(std::function<void()> on_trouble);
  ~PipePump();
  PipePump(const PipePump&) = delete;
  PipePump& operator=(const PipePump&) = delete;

  /// From here on what is written into the pipe goes to the end of the file. The pipe's writing end
  /// stays open as well until clear(): nobody's closing it ends anything.
  Status add(Pipe pipe, Descriptor file);

  struct Trouble {
    int error_number = 0;
    TimePoint since{};  ///< Nothing could be written since.
  };
  /// The longest one that there is now.
  std::optional<Trouble> trouble() const;

  /// Moves what is in the pipes at this moment, whoever may go on writing, and says how much of it
  /// could not be written.
  std::uint64_t drain();
  /// Closes all pipes and files.
  void clear();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace berth::io
