// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace berth::io {

/// What became of some bytes of a body.
struct Passed {
  std::size_t taken = 0;  ///< So many of them, from the first, were the body's.
  std::size_t kept = 0;   ///< So many bytes, at the same place, are to be sent on.
};

/// Finds the end of a chunked body, and leaves of it what every reader understands alike: sizes,
/// data, line ends. Extensions and trailers are dropped; a line that ends in anything but CR LF, or
/// a size that is not a plain hexadecimal number, is an error.
class ChunkFilter {
 public:
  /// Without frames only the data is kept, for a reader that does not know chunks.
  explicit ChunkFilter(bool keeps_frames = true) : keeps_frames_(keeps_frames) {}

  /// Rewrites the bytes where they are. However they are cut into pieces, the same bytes are kept.
  Passed pass(std::span<char> bytes);
  bool is_done() const { return state_ == State::Done; }
  bool is_bad() const { return state_ == State::Bad; }

 private:
  enum class State {
    Size,
    Extension,
    SizeEnd,
    Data,
    DataEnd,
    DataLineEnd,
    TrailerStart,
    Trailer,
    TrailerEnd,
    LastEnd,
    Done,
    Bad,
  };
  struct Rewrite;

  void take(char byte, Rewrite& rewrite);
  void take_size(char byte, Rewrite& rewrite);
  void frame(char byte, bool is_expected, State next, Rewrite& rewrite);
  void drop(char byte, State next);
  void go_on(bool is_expected, State next) { state_ = is_expected ? next : State::Bad; }

  State state_ = State::Size;
  std::uint64_t left_ = 0;  ///< Of a chunk's data.
  std::uint32_t digits_ = 0;
  std::uint32_t dropped_ = 0;  ///< Bytes of extensions and trailers in a row.
  bool keeps_frames_;
};

/// How a body ends, and where in the bytes that arrive.
class BodyFraming {
 public:
  static BodyFraming none() { return BodyFraming(Kind::Length); }
  static BodyFraming of_length(std::uint64_t bytes);
  static BodyFraming of_chunks(bool keeps_frames);
  static BodyFraming until_close() { return BodyFraming(Kind::UntilClose); }

  Passed pass(std::span<char> bytes);
  bool is_done() const;
  bool is_bad() const { return kind_ == Kind::Chunks && chunks_.is_bad(); }
  bool ends_with_connection() const { return kind_ == Kind::UntilClose; }

 private:
  enum class Kind { Length, Chunks, UntilClose };
  explicit BodyFraming(Kind kind) : kind_(kind) {}

  Kind kind_;
  std::uint64_t left_ = 0;
  ChunkFilter chunks_{};
};

}  // namespace berth::io
