// SPDX-License-Identifier: Apache-2.0
#include "io/message/body_framing.h"

#include <algorithm>
#include <cstring>

namespace berth::io {
namespace {

/// Enough for 2^60 bytes, and no number overflows.
constexpr std::uint32_t kMostDigits = 15;
constexpr std::uint32_t kMostDropped = 16 * 1024;

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

/// Bytes that are read and written at the same place. Writing never overtakes reading.
struct ChunkFilter::Rewrite {
  std::span<char> bytes;
  std::size_t in = 0;
  std::size_t out = 0;

  void keep(char byte) { bytes[out++] = byte; }
  void keep_next(std::size_t count) {
    if (out != in) std::memmove(bytes.data() + out, bytes.data() + in, count);
    out += count;
  }
};

Passed ChunkFilter::pass(std::span<char> bytes) {
  Rewrite rewrite{.bytes = bytes};
  while (rewrite.in < bytes.size() && state_ != State::Done && state_ != State::Bad) {
    if (state_ == State::Data) {
      const auto here =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - rewrite.in));
      rewrite.keep_next(here);
      rewrite.in += here;
      left_ -= here;
      if (left_ == 0) state_ = State::DataEnd;
    } else {
      take(bytes[rewrite.in++], rewrite);
    }
  }
  return {.taken = rewrite.in, .kept = rewrite.out};
}

void ChunkFilter::take_size(char byte, Rewrite& rewrite) {
  const int value = hex_value(byte);
  if (value >= 0) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(value);
    frame(byte, ++digits_ <= kMostDigits, State::Size, rewrite);
  } else if (digits_ == 0) {
    go_on(false, State::Bad);
  } else if (byte == '\r') {
    frame(byte, true, State::SizeEnd, rewrite);
  } else {
    go_on(byte == ';' || byte == ' ' || byte == '\t', State::Extension);
  }
}

/// One byte of what is around the data.
void ChunkFilter::take(char byte, Rewrite& rewrite) {
  const bool is_return = byte == '\r';
  switch (state_) {
    case State::Size: return take_size(byte, rewrite);
    case State::Extension:
      if (!is_return) return drop(byte, State::Extension);
      return frame(byte, true, State::SizeEnd, rewrite);
    case State::SizeEnd:
      digits_ = 0;
      return frame(byte, byte == '\n', left_ == 0 ? State::TrailerStart : State::Data, rewrite);
    case State::DataEnd: return frame(byte, is_return, State::DataLineEnd, rewrite);
    case State::DataLineEnd: dropped_ = 0; return frame(byte, byte == '\n', State::Size, rewrite);
    case State::TrailerStart:
      if (!is_return) return drop(byte, State::Trailer);
      return frame(byte, true, State::LastEnd, rewrite);
    case State::Trailer: return is_return ? go_on(true, State::TrailerEnd) : drop(byte, state_);
    case State::TrailerEnd: return go_on(byte == '\n', State::TrailerStart);
    case State::LastEnd: return frame(byte, byte == '\n', State::Done, rewrite);
    case State::Data:
    case State::Done:
    case State::Bad: return;
  }
}

/// A byte of the frame, which is kept as soon as it is read: so writing never overtakes reading,
/// wherever the pieces are cut.
void ChunkFilter::frame(char byte, bool is_expected, State next, Rewrite& rewrite) {
  if (keeps_frames_) rewrite.keep(byte);
  go_on(is_expected, next);
}

void ChunkFilter::drop(char byte, State next) {
  go_on(byte != '\n' && ++dropped_ <= kMostDropped, next);
}

BodyFraming BodyFraming::of_length(std::uint64_t bytes) {
  BodyFraming framing(Kind::Length);
  framing.left_ = bytes;
  return framing;
}

BodyFraming BodyFraming::of_chunks(bool keeps_frames) {
  BodyFraming framing(Kind::Chunks);
  framing.chunks_ = ChunkFilter(keeps_frames);
  return framing;
}

Passed BodyFraming::pass(std::span<char> bytes) {
  if (kind_ == Kind::Chunks) return chunks_.pass(bytes);
  if (kind_ == Kind::UntilClose) return {.taken = bytes.size(), .kept = bytes.size()};
  const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  left_ -= here;
  return {.taken = here, .kept = here};
}

bool BodyFraming::is_done() const {
  if (kind_ == Kind::Chunks) return chunks_.is_done();
  return kind_ == Kind::Length && left_ == 0;
}

}  // namespace berth::io
