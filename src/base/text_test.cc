// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kKeys[] = {"command", "code", "compute", "inputs", "outputs"};

TEST(Text, CaseIsIgnoredForAsciiOnly) {
  EXPECT_TRUE(equals_ignoring_case("WorkSpaces", "workspaces"));
  EXPECT_FALSE(equals_ignoring_case("workspace", "workspaces"));
  EXPECT_TRUE(starts_with_ignoring_case("AZUREML://x", "azureml:"));
  EXPECT_FALSE(starts_with_ignoring_case("az", "azureml:"));
  EXPECT_EQ(to_lower("ÄBC"), "Äbc");
}

TEST(Text, TrimTakesSpaceFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest("comand", kKeys), "command");
  EXPECT_EQ(nearest("ocde", kKeys), "code");
  EXPECT_EQ(nearest("INPUT", kKeys), "inputs");
}

TEST(Nearest, SuggestsNothingForAStrangeWord) {
  EXPECT_EQ(nearest("zebra_stripes", kKeys), std::nullopt);
  EXPECT_EQ(nearest("", kKeys), std::nullopt);
  EXPECT_EQ(nearest("x", std::array{"ab"sv}), std::nullopt);
  EXPECT_EQ(nearest(std::string(1'000'000, 'c'), kKeys), std::nullopt);
}

TEST(Utf8, BrokenSequencesAndNulsBecomeReplacementCharacters) {
  EXPECT_EQ(to_valid_utf8("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(to_valid_utf8("half \xe2\x82"), "half \xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(to_valid_utf8("a\0b"sv),
            "a\xef\xbf\xbd"
            "b");
}

TEST(Utf8, OverlongFormsSurrogatesAndTooLargeNumbersAreInvalid) {
  for (const auto bytes : {"\xc0\x80"sv, "\xe0\x80\x80"sv, "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv,
                           "\xf5\x80\x80\x80"sv, "\x80"sv, "\xc3"sv, "\xff"sv}) {
    EXPECT_FALSE(is_valid_utf8(bytes)) << to_hex(bytes);
    EXPECT_TRUE(is_valid_utf8(to_valid_utf8(bytes)));
  }
  EXPECT_TRUE(is_valid_utf8("\xf0\x9f\x9a\xa2 \xed\x9f\xbf \xf4\x8f\xbf\xbf"));
}

TEST(PercentCoding, GoesThereAndBack) {
  const std::string text = "a b/ü%~.txt";
  EXPECT_EQ(percent_encode(text), "a%20b%2F%C3%BC%25~.txt");
  EXPECT_EQ(percent_encode("a/b", true), "a/b");
  EXPECT_EQ(percent_decode(percent_encode(text)).value(), text);
}

TEST(PercentCoding, DecodesOnlyOnce) { EXPECT_EQ(percent_decode("%252e").value(), "%2e"); }

TEST(PercentCoding, BrokenEscapesAndNulsAreRefused) {
  for (const char* text : {"%", "%4", "abc%zz", "%00"}) EXPECT_FALSE(percent_decode(text)) << text;
}

TEST(Base64, GoesThereAndBack) {
  for (const auto bytes : {""sv, "f"sv, "fo"sv, "foo"sv, "\0\xff\x10z"sv}) {
    EXPECT_EQ(from_base64(to_base64(bytes)).value(), bytes);
  }
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
}

TEST(Base64, OtherTextIsRefused) {
  for (const char* text : {"Zg", "Zg=", "Z===", "Zm9*", "====", "Zm 9v"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(ResourceName, IsPlain) {
  EXPECT_TRUE(is_resource_name("train-7_b.2"));
  EXPECT_TRUE(is_resource_name("_x"));
  EXPECT_TRUE(is_resource_name(std::string(255, 'a')));
}

TEST(ResourceName, CannotBeAPathTrick) {
  for (const auto name : {""sv, "."sv, ".."sv, "a/b"sv, "a\\b"sv, "-x"sv, "a\0b"sv, "a b"sv,
                          "%2e%2e"sv, "ü"sv, "a\n"sv}) {
    EXPECT_FALSE(is_resource_name(name)) << name;
  }
  EXPECT_FALSE(is_resource_name(std::string(256, 'a')));
}

TEST(HumanBytes, ReadsEasily) {
  EXPECT_EQ(human_bytes(312), "312 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes((1u << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(3ull << 30), "3.0 GiB");
}

TEST(Hex, IsLowerCase) { EXPECT_EQ(to_hex("\xab\x01"), "ab01"); }

}  // namespace
}  // namespace berth
