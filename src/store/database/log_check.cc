// SPDX-License-Identifier: Apache-2.0
// The format is written down in https://www.sqlite.org/fileformat2.html#walformat
#include "store/database/log_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/files/file.h"

namespace berth::store {
namespace {

constexpr std::size_t kHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
constexpr std::size_t kFramesAtOnce = 64;
constexpr std::uint32_t kMagic = 0x377f0682;  ///< Its last bit: checksums read big-endian words.
constexpr std::uint32_t kVersion = 3'007'000;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t index) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + index]));
  };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  return __builtin_bswap32(big_endian(bytes, at));
}

/// Runs over the header and all frames.
class Checksum {
 public:
  explicit Checksum(bool is_big_endian) : is_big_endian_(is_big_endian) {}

  void add(std::string_view bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first_ += word(bytes, at) + second_;
      second_ += word(bytes, at + 4) + first_;
    }
  }

  bool is_at(std::string_view bytes, std::size_t at) const {
    return big_endian(bytes, at) == first_ && big_endian(bytes, at + 4) == second_;
  }

 private:
  std::uint32_t word(std::string_view bytes, std::size_t at) const {
    return is_big_endian_ ? big_endian(bytes, at) : little_endian(bytes, at);
  }

  bool is_big_endian_;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

/// What a log says of itself, as far as it can be believed.
struct Reading {
  std::size_t good_bytes = 0;   ///< Up to the end of the last transaction that is whole.
  int transactions_behind = 0;  ///< That end behind the first wrong frame.
};

/// Judges frame after frame.
class Reader {
 public:
  Reader(std::string_view header, Checksum checksum)
      : salts_(header.substr(16, 8)), checksum_(checksum) {}

  void read(std::string_view frame) {
    at_ += frame.size();
    const bool is_of_this_log = frame.substr(8, 8) == salts_;
    if (is_believed_) {
      checksum_.add(frame.substr(0, 8));
      checksum_.add(frame.substr(kFrameHeaderSize));
      is_believed_ = is_of_this_log && checksum_.is_at(frame, 16);
    }
    const bool ends_transaction = is_of_this_log && big_endian(frame, 4) != 0;
    if (ends_transaction && is_believed_) reading_.good_bytes = at_;
    if (ends_transaction && !is_believed_) ++reading_.transactions_behind;
  }
  const Reading& reading() const { return reading_; }

 private:
  std::string salts_;
  Checksum checksum_;
  Reading reading_{.good_bytes = kHeaderSize};
  std::size_t at_ = kHeaderSize;
  bool is_believed_ = true;
};

/// As much as the buffer holds, or less at the end of the file.
Result<std::string_view> read_into(std::string& buffer, int file, const std::string& path) {
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t count = ::read(file, buffer.data() + size, buffer.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(io::error_from_errno(errno, fmt::format("read '{}'", path)));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  return std::string_view(buffer).substr(0, size);
}

/// A log that an older server left can be longer than the memory.
Result<Reading> read_frames(Reader reader, std::size_t frame_size, int file,
                            const std::string& path) {
  std::string buffer(frame_size * kFramesAtOnce, '\0');
  for (;;) {
    const std::string_view frames = TRY(read_into(buffer, file, path));
    for (std::size_t at = 0; at + frame_size <= frames.size(); at += frame_size) {
      reader.read(frames.substr(at, frame_size));
    }
    if (frames.size() < buffer.size()) return reader.reading();
  }
}

}  // namespace

Status check_log(const std::string& path) {
  const io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return Done{};
  if (!file) return fail(io::error_from_errno(errno, fmt::format("open '{}'", path)));
  std::string buffer(kHeaderSize, '\0');
  const std::string_view header = TRY(read_into(buffer, file.get(), path));
  if (header.size() < kHeaderSize) return Done{};
  const std::uint32_t magic = big_endian(header, 0);
  if ((magic & ~1u) != kMagic || big_endian(header, 4) != kVersion) return Done{};
  Checksum checksum((magic & 1) != 0);
  checksum.add(header.substr(0, 24));
  // A new log that was cut off at its beginning stands before the frames of an old one.
  if (!checksum.is_at(header, 24)) return Done{};
  const std::size_t frame_size = kFrameHeaderSize + big_endian(header, 8);
  const Reading reading = TRY(read_frames(Reader(header, checksum), frame_size, file.get(), path));
  if (reading.transactions_behind < 2) return Done{};
  return fail(
      Code::Internal,
      fmt::format("its log '{}' was changed behind byte {}, and {} commits that are later "
                  "cannot be believed (to go on without them: \"truncate -s {} '{}'\")",
                  path, reading.good_bytes, reading.transactions_behind, reading.good_bytes, path));
}

}  // namespace berth::store
