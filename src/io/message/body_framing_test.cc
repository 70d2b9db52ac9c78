// SPDX-License-Identifier: Apache-2.0
#include "io/message/body_framing.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace berth::io {
namespace {

struct Kept {
  std::string bytes{};
  std::size_t taken = 0;
  bool is_done = false;
  bool is_bad = false;
};

Kept pass(std::string_view input, std::size_t piece, bool keeps_frames = true) {
  ChunkFilter filter(keeps_frames);
  Kept kept;
  while (kept.taken < input.size() && !filter.is_done() && !filter.is_bad()) {
    std::string bytes(input.substr(kept.taken, piece));
    const Passed passed = filter.pass(bytes);
    kept.bytes += bytes.substr(0, passed.kept);
    kept.taken += passed.taken;
  }
  kept.is_done = filter.is_done();
  kept.is_bad = filter.is_bad();
  return kept;
}

TEST(ChunkFilter, KeepsSizesAndDataHoweverTheBytesAreCut) {
  constexpr std::string_view kInput =
      "5;name=\"v\"\r\nhello\r\nA \r\n0123456789\r\n00\r\nTrailer: x\r\nOther: y\r\n\r\nGET / next";
  for (std::size_t piece = 1; piece <= kInput.size(); ++piece) {
    const Kept kept = pass(kInput, piece);

    EXPECT_EQ(kept.bytes, "5\r\nhello\r\nA\r\n0123456789\r\n00\r\n\r\n") << piece;
    EXPECT_EQ(kInput.substr(kept.taken), "GET / next") << piece;
    EXPECT_TRUE(kept.is_done);
    EXPECT_EQ(pass(kInput, piece, false).bytes, "hello0123456789") << piece;
  }
}

TEST(ChunkFilter, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const std::string_view bad :
       {"\r\n", "x\r\n", "-1\r\n", "0x1\r\n", "1\n", "1\rx", "1;a\nb\r\n", "1\r\nab\r\n",
        "1\r\na\n0\r\n\r\n", "1\r\na\rx", "fffffffffffffffff\r\n", "0\r\nX: y\n\r\n", "0\r\n\rx"}) {
    for (std::size_t piece = 1; piece <= bad.size(); ++piece) {
      EXPECT_TRUE(pass(bad, piece).is_bad) << bad;
    }
  }
}

TEST(ChunkFilter, HasALimitForWhatItDrops) {
  EXPECT_TRUE(pass("1;" + std::string(20'000, 'x'), 1000).is_bad);
  EXPECT_TRUE(pass("0\r\nX: " + std::string(20'000, 'x'), 1000).is_bad);
}

TEST(BodyFraming, ALengthIsTakenAndNothingBehindIt) {
  BodyFraming framing = BodyFraming::of_length(5);
  std::string bytes = "helloworld";

  EXPECT_EQ(framing.pass(std::span(bytes).first(3)).kept, 3u);
  EXPECT_FALSE(framing.is_done());
  EXPECT_EQ(framing.pass(std::span(bytes).subspan(3)).taken, 2u);
  EXPECT_TRUE(framing.is_done());
}

}  // namespace
}  // namespace berth::io
