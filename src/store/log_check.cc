// SPDX-License-Identifier: Apache-2.0
// The format is written down in https://www.sqlite.org/fileformat2.html#walformat
#include "store/log_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "io/file.h"

namespace berth::store {
namespace {

constexpr std::size_t kHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
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

Reading read_log(std::string_view log, std::size_t page_size, Checksum checksum) {
  Reading reading{.good_bytes = kHeaderSize};
  const std::string_view salts = log.substr(16, 8);
  const std::size_t frame_size = kFrameHeaderSize + page_size;
  bool is_believed = true;
  for (std::size_t at = kHeaderSize; at + frame_size <= log.size(); at += frame_size) {
    const std::string_view frame = log.substr(at, frame_size);
    const bool is_of_this_log = frame.substr(8, 8) == salts;
    if (is_believed) {
      checksum.add(frame.substr(0, 8));
      checksum.add(frame.substr(kFrameHeaderSize));
      is_believed = is_of_this_log && checksum.is_at(frame, 16);
    }
    const bool ends_transaction = is_of_this_log && big_endian(frame, 4) != 0;
    if (ends_transaction && is_believed) reading.good_bytes = at + frame_size;
    if (ends_transaction && !is_believed) ++reading.transactions_behind;
  }
  return reading;
}

}  // namespace

Status check_log(const std::string& path) {
  const Result<std::string> log = io::read_file(path, std::numeric_limits<std::uint64_t>::max());
  if (!log && log.error().code == Code::NotFound) return Done{};
  if (!log) return fail(log.error());
  if (log->size() < kHeaderSize) return Done{};
  const std::uint32_t magic = big_endian(*log, 0);
  if ((magic & ~1u) != kMagic || big_endian(*log, 4) != kVersion) return Done{};
  Checksum checksum((magic & 1) != 0);
  checksum.add(std::string_view(*log).substr(0, 24));
  // A new log that was cut off at its beginning stands before the frames of an old one.
  if (!checksum.is_at(*log, 24)) return Done{};
  const Reading reading = read_log(*log, big_endian(*log, 8), checksum);
  if (reading.transactions_behind < 2) return Done{};
  return fail(
      Code::Internal,
      fmt::format("its log '{}' was changed behind byte {}, and {} commits that are later "
                  "cannot be believed (to go on without them: \"truncate -s {} '{}'\")",
                  path, reading.good_bytes, reading.transactions_behind, reading.good_bytes, path));
}

}  // namespace berth::store
