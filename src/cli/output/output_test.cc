// SPDX-License-Identifier: Apache-2.0
#include "cli/output/output.h"

#include <gtest/gtest.h>

#include "cli/output/az_format.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

constexpr Column kColumns[] = {{"Name", "name"}, {"Created", "context.at"}};

json::value read(std::string_view text) { return json::parse({text.data(), text.size()}); }

std::string text_of(const Answer& answer, const OutputOptions& options,
                    const Console& console = {}) {
  const auto text = to_text(answer, options, console);
  return text ? *text : "error: " + text.error().message;
}

TEST(Json, IsIndentedAndSortedAsAzPrintsIt) {
  EXPECT_EQ(to_json_text(read(R"({"b":[1,{"d":null}],"a":{},"c":[],"é":"ü"})")),
            "{\n"
            "  \"a\": {},\n"
            "  \"b\": [\n"
            "    1,\n"
            "    {\n"
            "      \"d\": null\n"
            "    }\n"
            "  ],\n"
            "  \"c\": [],\n"
            "  \"é\": \"ü\"\n"
            "}\n");
}

TEST(Tsv, AnObjectIsOneLineOfItsValuesInTheOrderOfItsKeys) {
  const Answer answer{.value =
                          read(R"({"b":"two","a":1,"c":null,"d":true,"e":[1,2],"f":{"g":1}})")};

  EXPECT_EQ(text_of(answer, {.format = Format::Tsv}), "1\ttwo\tNone\tTrue\t2\t\n");
}

TEST(Tsv, WhatAQueryMakesKeepsTheOrderOfTheQuery) {
  const Answer answer{.value = read(R"({"name":"x","status":"Failed"})")};

  EXPECT_EQ(text_of(answer, {.format = Format::Tsv, .query = "{s: status, n: name}"}),
            "Failed\tx\n");
}

TEST(Tsv, AListHasOneLineForEachElement) {
  EXPECT_EQ(to_tsv_text(read(R"(["x","y"])")), "x\ny\n");
  EXPECT_EQ(to_tsv_text(read(R"([["x",1],["y",2]])")), "x\t1\ny\t2\n");
  EXPECT_EQ(to_tsv_text(read("[]")), "");
}

TEST(Tsv, AScalarStandsAlone) {
  EXPECT_EQ(to_tsv_text(read(R"("Completed")")), "Completed\n");
  EXPECT_EQ(to_tsv_text(read("true")), "true\n");
  EXPECT_EQ(to_tsv_text(read("0.5")), "0.5\n");
}

TEST(Output, AQueryAndTsvPrintJustTheValue) {
  const Answer answer{.value = read(R"({"name":"witty_harbor"})")};

  EXPECT_EQ(text_of(answer, {.format = Format::Tsv, .query = "name"}), "witty_harbor\n");
  EXPECT_EQ(text_of(answer, {.format = Format::Tsv, .query = "nothing"}), "");
}

TEST(Output, OffATerminalIsJson) {
  EXPECT_EQ(text_of({.value = read(R"({"name":"x"})"), .columns = kColumns}, {}),
            "{\n  \"name\": \"x\"\n}\n");
}

TEST(Output, OnATerminalAListIsATable) {
  const Answer answer{
      .value = read(R"([{"name":"x","context":{"at":"2026-11-16T00:45:12.345Z"}},{"name":"y"}])"),
      .columns = kColumns};

  EXPECT_EQ(text_of(answer, {}, {.out_is_terminal = true}),
            "Name  Created\n"
            "----  -------------------\n"
            "x     2026-11-16 00:45:12\n"
            "y\n");
}

TEST(Output, OnATerminalOneThingIsASummary) {
  const Answer answer{.value = read(R"({"name":"x","context":{"at":null}})"), .columns = kColumns};

  EXPECT_EQ(text_of(answer, {}, {.out_is_terminal = true}), "Name  x\n");
}

TEST(Output, ATableOfAQueryShowsEveryScalar) {
  const Answer answer{.value = read(R"([{"name":"x","id":"/a","n":3,"o":{}}])"),
                      .columns = kColumns};

  EXPECT_EQ(text_of(answer, {.format = Format::Table, .query = "[]"}),
            "N    Name\n"
            "---  ------\n"
            "3    x\n");
}

TEST(Output, ATableOfNothingIsAnEmptyLineAsInAz) {
  EXPECT_EQ(text_of({.value = read(R"([{"a":{}}])")}, {.format = Format::Table}), "\n");
  EXPECT_EQ(text_of({.value = read("[]")}, {.format = Format::Table}), "\n");
}

TEST(Output, ATableForScriptsHasALineForEachLineOfACell) {
  EXPECT_EQ(text_of({.value = read(R"([["a\nb", 1, null, true], ["c", [1, "x"], 2, false]])")},
                    {.format = Format::Table}),
            "Column1    Column2    Column3    Column4\n"
            "---------  ---------  ---------  ---------\n"
            "a          1                     True\n"
            "b\n"
            "c          [1, 'x']   2          False\n");
}

TEST(Output, ATableOfOneThingLeavesOutWhatIsEmpty) {
  const Answer answer{.value = read(R"({"name":"x","context":{"at":null}})"), .columns = kColumns};

  EXPECT_EQ(text_of(answer, {.format = Format::Table}), "Name\n------\nx\n");
}

TEST(Output, NonePrintsNothing) {
  EXPECT_EQ(text_of({.value = read("[1]")}, {.format = Format::None}), "");
}

TEST(Output, AnUnknownFormatListsTheKnownOnes) {
  const auto format = format_from("xml");

  ASSERT_FALSE(format);
  EXPECT_NE(format.error().message.find("json, jsonc, yaml"), std::string::npos);
  EXPECT_EQ(*format_from("JSON"), Format::Json);
}

}  // namespace
}  // namespace berth::cli
