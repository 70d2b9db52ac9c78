// SPDX-License-Identifier: Apache-2.0
#include "base/record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/clock.h"

namespace berth::record {
namespace {

enum class Colour { Red, Green };
BOOST_DESCRIBE_ENUM(Colour, Red, Green)

struct Inner {
  int count = 7;
  std::optional<std::string> note{};
};
BOOST_DESCRIBE_STRUCT(Inner, (), (count, note))

struct Outer {
  Id<struct OuterTag> id{};
  Colour colour = Colour::Red;
  std::vector<Inner> inner{};
  std::map<std::string, std::string> tags{};
  WallTime at{};
  std::chrono::seconds length{};
  std::int64_t large = 0;
  double ratio = 0;
  bool flag = false;
  json::object rest{};
};
BOOST_DESCRIBE_STRUCT(Outer, (), (id, colour, inner, tags, at, length, large, ratio, flag, rest))

TEST(Record, ComesBackAsItWas) {
  const Outer outer{.id = {"x"},
                    .colour = Colour::Green,
                    .inner = {{.count = 1, .note = "n"}, {}},
                    .tags = {{"k", "v"}},
                    .at = WallTime(Duration(123)),
                    .length = std::chrono::seconds(9),
                    .large = 9'007'199'254'740'993,
                    .ratio = 0.1,
                    .flag = true,
                    .rest = {{"free", {1, 2}}}};
  const Outer back = decode_text<Outer>(encode_text(outer)).value();

  EXPECT_EQ(back.id, outer.id);
  EXPECT_EQ(back.colour, Colour::Green);
  ASSERT_EQ(back.inner.size(), 2u);
  EXPECT_EQ(back.inner[0].note, "n");
  EXPECT_EQ(back.inner[1].note, std::nullopt);
  EXPECT_EQ(back.tags, outer.tags);
  EXPECT_EQ(back.at, outer.at);
  EXPECT_EQ(back.length, outer.length);
  EXPECT_EQ(back.large, outer.large);
  EXPECT_EQ(back.ratio, outer.ratio);
  EXPECT_TRUE(back.flag);
  EXPECT_EQ(back.rest, outer.rest);
}

TEST(Record, ItsTextIsReadAsTheSameValue) {
  const Outer outer{.id = {"quote \" back \\ line \n nul \0 end"},
                    .inner = {{.note = "\x1f"}, {}, {.count = -5}},
                    .tags = {{"", "a"}, {"\t", "ü"}},
                    .large = std::numeric_limits<std::int64_t>::min(),
                    .ratio = 1e300};
  for (const Outer& value : {outer, Outer{}}) {
    EXPECT_EQ(encode(decode_text<Outer>(encode_text(value)).value()), encode(value));
  }
}

struct Spoken {
  std::string word = "hello";
  std::string other{};
  bool flag = true;
};
BOOST_DESCRIBE_STRUCT(Spoken, (), (word, other, flag))

TEST(Record, TextLeavesOutWhatIsBlankOnlyWhereItStartsBlank) {
  EXPECT_EQ(encode_text(Spoken{.word = "", .other = "", .flag = false}),
            R"({"word":"","flag":false})");
  EXPECT_EQ(encode_text(Inner{}), R"({"count":7})");
}

TEST(Record, MissingKeysKeepTheirDefaultsAndUnknownOnesAreSkipped) {
  const Inner inner = decode_text<Inner>(R"({"from_the_future": []})").value();
  EXPECT_EQ(inner.count, 7);
}

TEST(Record, KeysMayStandInAnyOrder) {
  const Outer outer =
      decode_text<Outer>(
          R"({"flag": true, "new": 1, "colour": "Green", "large": 5, "id": "a", "ratio": 0.5})")
          .value();
  EXPECT_TRUE(outer.flag);
  EXPECT_EQ(outer.colour, Colour::Green);
  EXPECT_EQ(outer.large, 5);
  EXPECT_EQ(outer.id.text, "a");
  EXPECT_EQ(outer.ratio, 0.5);
}

TEST(Record, AnErrorNamesTheField) {
  const auto wrong = decode_text<Outer>(R"({"inner": [{"count": "many"}]})");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().target, "inner.count");
  const auto colour = decode_text<Outer>(R"({"colour": "Blue"})");
  ASSERT_FALSE(colour);
  EXPECT_EQ(colour.error().target, "colour");
  EXPECT_EQ(colour.error().message, "unknown value 'Blue'");
}

TEST(Record, ANumberThatDoesNotFitIsRefused) {
  EXPECT_FALSE(decode_text<Inner>(R"({"count": 99999999999})"));
  EXPECT_FALSE(decode_text<Inner>(R"({"count": 1.5})"));
}

struct Round {
  static constexpr std::string_view kKind = "Round";
  int radius = 0;
};
BOOST_DESCRIBE_STRUCT(Round, (), (radius))
struct Square {
  static constexpr std::string_view kKind = "Square";
  std::vector<int> sides{};
};
BOOST_DESCRIBE_STRUCT(Square, (), (sides))
struct Empty {
  static constexpr std::string_view kKind = "Empty";
};
BOOST_DESCRIBE_STRUCT(Empty, (), ())
using Shape = std::variant<Round, Square, Empty>;
struct Drawing {
  std::string name{};
  Shape shape{};
  int z = 0;
};
BOOST_DESCRIBE_STRUCT(Drawing, (), (name, shape, z))

}  // namespace

template <>
struct OneOf<Shape> {
  static constexpr std::string_view kKey = "what";
};

namespace {

TEST(Record, AVariantLiesFlatAmongTheOtherMembers) {
  EXPECT_EQ(encode_text(Drawing{.name = "a", .shape = Round{4}, .z = 1}),
            R"({"name":"a","radius":4,"z":1})");
  EXPECT_EQ(encode_text(Drawing{.name = "a", .shape = Square{{2, 3}}, .z = 1}),
            R"({"name":"a","what":"Square","sides":[2,3],"z":1})");
  EXPECT_EQ(encode_text(Drawing{.shape = Empty{}}), R"({"what":"Empty","z":0})");
  EXPECT_EQ(json::serialize(encode(Drawing{.shape = Square{{2}}})),
            R"({"name":"","what":"Square","sides":[2],"z":0})");
}

TEST(Record, AVariantIsReadByItsKind) {
  for (const Shape& shape : {Shape(Round{4}), Shape(Square{{2, 3}}), Shape(Empty{})}) {
    const Drawing drawing{.name = "a", .shape = shape, .z = 2};
    const Drawing again = decode_text<Drawing>(encode_text(drawing)).value();
    EXPECT_EQ(again.shape.index(), shape.index());
    EXPECT_EQ(encode_text(again), encode_text(drawing));
    EXPECT_EQ(decode<Drawing>(encode(drawing))->shape.index(), shape.index());
  }
}

TEST(Record, AVariantOfWhichNothingIsSaidIsWhatItsMembersSay) {
  const auto shape_of = [](const char* text) { return decode_text<Drawing>(text).value().shape; };
  EXPECT_EQ(std::get<Square>(shape_of(R"({"sides": [1]})")).sides, std::vector<int>{1});
  EXPECT_EQ(std::get<Round>(shape_of(R"({"sides": []})")).radius, 0);
  EXPECT_EQ(std::get<Round>(shape_of(R"({"radius": 2})")).radius, 2);
  EXPECT_TRUE(std::holds_alternative<Round>(shape_of("{}")));
}

TEST(Record, AKindThatIsNotKnownIsRefused) {
  const auto unknown = decode_text<Drawing>(R"({"what": "Heart"})");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().target, "what");
  EXPECT_EQ(unknown.error().message, "unknown value 'Heart'");
  EXPECT_FALSE(decode_text<Drawing>(R"({"what": 3})"));
  EXPECT_EQ(decode_text<Drawing>(R"({"what": "Square", "sides": 1})").error().target, "sides");
}

TEST(Parse, SaysWhereTheTextBreaks) {
  const auto broken = parse(R"({"a": !})");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("at byte 6"), std::string::npos) << broken.error().message;
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("{"));
  EXPECT_FALSE(parse("{} {}"));
  EXPECT_FALSE(parse("\"\xff\""));
}

TEST(Parse, DeepNestingEndsBeforeTheStackDoes) {
  EXPECT_TRUE(parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(parse(std::string(100'000, '[')));
}

TEST(Parse, ReadsNumbersExactly) {
  for (int i = 0; i < 100'000; ++i) {
    const double number = i / 7.0 * (i % 3 == 0 ? 1e-9 : 1);
    const Result<json::value> parsed = parse(fmt::format("[{}]", number));
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->at(0).to_number<double>(), number) << fmt::format("{}", number);
  }
  EXPECT_EQ(parse("[1e-320]")->at(0).get_double(), 1e-320);
  EXPECT_TRUE(std::isinf(parse("[-1e999]")->at(0).get_double()));
  EXPECT_EQ(parse("[1e-999]")->at(0).get_double(), 0);
  EXPECT_TRUE(parse("[12]")->at(0).is_int64());
}

TEST(Parse, SaysWhereItBroke) {
  EXPECT_NE(parse("{\"a\": 1").error().message.find("at byte 7"), std::string::npos);
  EXPECT_FALSE(parse("{} x"));
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse(std::string(100, '[') + std::string(100, ']')));
}

}  // namespace
}  // namespace berth::record
