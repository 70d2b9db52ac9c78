// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/message.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/record.h"
#include "base/text.h"
#include "wire/mlflow/limits.h"
#include "wire/mlflow/tracking.h"

namespace berth::wire::mlflow {
namespace {

Message message(std::string_view text) { return Message(record::parse(text)->get_object()); }

TEST(MlflowMessage, NumbersMayComeAsTexts) {
  const Message sent = message(R"({"a": 7, "b": "8", "c": 9.0, "d": 1.5, "e": "x", "f": null})");
  EXPECT_EQ(*sent.integer("a"), 7);
  EXPECT_EQ(*sent.integer("b"), 8);
  EXPECT_EQ(*sent.integer("c"), 9);
  EXPECT_FALSE(sent.integer("d"));
  EXPECT_EQ(sent.integer("e").error().target, "e");
  EXPECT_EQ(*sent.integer("f"), std::nullopt);
  EXPECT_EQ(*sent.required_number("d"), 1.5);
  EXPECT_EQ(*sent.required_number("b"), 8.0);
  EXPECT_FALSE(sent.required_number("e"));
}

TEST(MlflowMessage, NumbersThatAreNotFiniteAreTexts) {
  const Message sent =
      message(R"({"a": "NaN", "b": "Infinity", "c": "-Infinity", "d": "inf", "e": "1e999"})");
  EXPECT_TRUE(std::isnan(*sent.required_number("a")));
  EXPECT_EQ(*sent.required_number("b"), HUGE_VAL);
  EXPECT_EQ(*sent.required_number("c"), -HUGE_VAL);
  EXPECT_FALSE(sent.required_number("d"));
  EXPECT_FALSE(sent.required_number("e"));
  EXPECT_EQ(number_to_json(std::nan("")), "NaN");
  EXPECT_EQ(number_to_json(-HUGE_VAL), "-Infinity");
  EXPECT_EQ(number_to_json(1.5), 1.5);
}

TEST(MlflowMessage, AQueryIsReadLikeABody) {
  const Message sent = Message::of_query({{"a", "1"}, {"b", "x"}, {"b", "y"}, {"b", "z"}});
  EXPECT_EQ(*sent.integer("a"), 1);
  EXPECT_EQ(*sent.texts("a"), std::vector<std::string>{"1"});
  EXPECT_EQ(*sent.texts("b"), (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_FALSE(sent.text("b"));
  EXPECT_TRUE(sent.texts("c")->empty());
}

TEST(MlflowMessage, ErrorsSayWhichField) {
  const Message sent = message(R"({"metrics": [{"key": "a", "value": 1, "timestamp": 1}, {}, 3]})");
  const auto metrics = sent.messages("metrics");
  ASSERT_FALSE(metrics);
  EXPECT_EQ(metrics.error().target, "metrics[2]");
  const Message other = message(R"({"metrics": [{"key": "a", "value": 1}]})");
  const auto metric = metric_from(other.messages("metrics")->front());
  ASSERT_FALSE(metric);
  EXPECT_EQ(metric.error().target, "metrics[0].timestamp");
  EXPECT_EQ(run_id_of(message(R"({"run_uuid": "r"})")), "r");
  EXPECT_EQ(run_id_of(message("{}")).error().target, "run_id");
}

TEST(MlflowLimits, KeysAreNamesThatLeadNowhereElse) {
  const auto is_fine = [](const std::string& key) { return check_tag(key, "", "").has_value(); };
  for (const char* key : {"a", "a/b", "val loss", "a.b-c_d:e", "übung", "..a", "a..b"}) {
    EXPECT_TRUE(is_fine(key)) << key;
  }
  for (const char* key :
       {"", ".", "..", "a/../b", "/a", "a/", "a//b", "a\nb", "a'b", "a\xff", "a%b"}) {
    EXPECT_FALSE(is_fine(key)) << key;
  }
  EXPECT_TRUE(is_fine(std::string(250, 'k')));
  EXPECT_FALSE(is_fine(std::string(251, 'k')));
}

TEST(MlflowLimits, CharactersAreCountedNotBytes) {
  std::string umlauts;
  for (int i = 0; i < 6000; ++i) umlauts += "ü";
  EXPECT_TRUE(check_param("k", umlauts, ""));
  const Status longer = check_param("k", umlauts + "x", "params[2].");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().message,
            "'params[2].value' has 6001 characters, at most 6000 are allowed");
}

TEST(MlflowLimits, ABatchHasThreeLimits) {
  EXPECT_TRUE(check_batch(800, 100, 100));
  EXPECT_FALSE(check_batch(1001, 0, 0));
  EXPECT_FALSE(check_batch(0, 101, 0));
  EXPECT_FALSE(check_batch(0, 0, 101));
  EXPECT_FALSE(check_batch(900, 100, 1));
}

TEST(MlflowTokens, OnlyOursAreTaken) {
  EXPECT_EQ(*offset_of_token(""), 0u);
  EXPECT_EQ(*offset_of_token(token_of_offset(150)), 150u);
  const auto encoded = [](std::string_view text) { return to_base64(text); };
  for (const std::string& token :
       {std::string("made up"), encoded("{}"), encoded("[1]"), encoded(R"({"offset": -1})"),
        encoded(R"({"offset": "1"})"), encoded(R"({"offset": 99999999999})")}) {
    EXPECT_EQ(offset_of_token(token).error().target, "page_token") << token;
    EXPECT_EQ(point_of_token(token).error().target, "page_token") << token;
  }
  for (const double value : {0.1, -HUGE_VAL, 1e-320}) {
    const auto point = point_of_token(token_of_point({.value = value, .timestamp = 7, .step = -3}));
    ASSERT_TRUE(point);
    EXPECT_EQ(point->value, value);
    EXPECT_EQ(point->timestamp, 7);
    EXPECT_EQ(point->step, -3);
  }
  EXPECT_TRUE(std::isnan(point_of_token(token_of_point({.value = std::nan("")}))->value));
}

}  // namespace
}  // namespace berth::wire::mlflow
