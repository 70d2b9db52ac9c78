// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "base/clock.h"
#include "lang/arm_template/functions.h"

namespace berth::lang::arm_template {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::months;
using std::chrono::seconds;

constexpr std::string_view kUsual = "yyyyMMddTHHmmssZ";
constexpr std::int64_t kLargestPart = 1'000'000;
constexpr std::int64_t kMostYears =
    10'000;  // More leaves the calendar, and years are short numbers.
constexpr WallTime kFirst = std::chrono::sys_days(std::chrono::year(1) / 1 / 1);
constexpr WallTime kLast = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);

/// The whole formats that one letter stands for.
std::string_view standard_format(std::string_view letter) {
  if (letter == "u") return "yyyy-MM-dd HH:mm:ssZ";
  if (letter == "s") return "yyyy-MM-ddTHH:mm:ss";
  if (letter == "o" || letter == "O") return "yyyy-MM-ddTHH:mm:ss.fff0000Z";
  if (letter == "d") return "MM/dd/yyyy";
  if (letter == "D") return {};
  return letter;
}

struct Parts {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::milliseconds> clock;
};

/// One run of the same letter, "yyyy" say; nothing when it is none that we know.
std::string part_of(const Parts& parts, std::string_view run) {
  const auto year = static_cast<int>(parts.date.year());
  const auto month = static_cast<unsigned>(parts.date.month());
  const auto day = static_cast<unsigned>(parts.date.day());
  const auto hour = parts.clock.hours().count();
  const auto minute = parts.clock.minutes().count();
  const auto second = parts.clock.seconds().count();
  const auto half = hour % 12 == 0 ? 12 : hour % 12;
  if (run == "yyyy") return fmt::format("{:04}", year);
  if (run == "yy") return fmt::format("{:02}", year % 100);
  if (run == "MM") return fmt::format("{:02}", month);
  if (run == "M") return fmt::format("{}", month);
  if (run == "dd") return fmt::format("{:02}", day);
  if (run == "d") return fmt::format("{}", day);
  if (run == "HH") return fmt::format("{:02}", hour);
  if (run == "H") return fmt::format("{}", hour);
  if (run == "hh") return fmt::format("{:02}", half);
  if (run == "h") return fmt::format("{}", half);
  if (run == "mm") return fmt::format("{:02}", minute);
  if (run == "m") return fmt::format("{}", minute);
  if (run == "ss") return fmt::format("{:02}", second);
  if (run == "s") return fmt::format("{}", second);
  if (run == "fff") return fmt::format("{:03}", parts.clock.subseconds().count());
  if (run == "tt") return hour < 12 ? "AM" : "PM";
  return {};
}

bool is_letter_of_formats(char c) {
  return std::string_view("yMdHhmsftgzK").find(c) != std::string_view::npos;
}

struct Step {
  std::int64_t months = 0;
  std::int64_t seconds = 0;
};

/// "P1Y2M3DT4H5M6S", with a sign before it.
Result<Step> duration_of(std::string_view text) {
  const auto wrong = [&] {
    return fail(Code::InvalidArgument, "the duration is not written as P1Y2M3DT4H5M6S is");
  };
  const bool is_back = text.starts_with('-');
  if (is_back || text.starts_with('+')) text.remove_prefix(1);
  if (!text.starts_with('P') || text.size() < 3) return wrong();
  text.remove_prefix(1);
  Step step;
  bool is_time = false;
  while (!text.empty()) {
    if (text.starts_with('T')) {
      is_time = true;
      text.remove_prefix(1);
      continue;
    }
    std::int64_t number = 0;
    const auto [stopped, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto used = static_cast<std::size_t>(stopped - text.data());
    if (failed != std::errc() || number < 0 || number > kLargestPart || used >= text.size())
      return wrong();
    const char unit = text[used];
    text.remove_prefix(used + 1);
    if (!is_time && unit == 'Y')
      step.months += 12 * number;
    else if (!is_time && unit == 'M')
      step.months += number;
    else if (!is_time && unit == 'W')
      step.seconds += number * 7 * 86'400;
    else if (!is_time && unit == 'D')
      step.seconds += number * 86'400;
    else if (is_time && unit == 'H')
      step.seconds += number * 3'600;
    else if (is_time && unit == 'M')
      step.seconds += number * 60;
    else if (is_time && unit == 'S')
      step.seconds += number;
    else
      return wrong();
  }
  if (step.months > kMostYears * 12 || step.seconds > kMostYears * 366 * 86'400) {
    return fail(Code::InvalidArgument, "beyond the calendar");
  }
  if (is_back) step = {-step.months, -step.seconds};
  return step;
}

/// Also as utcNow() writes it: 20261118T031500Z.
Result<WallTime> time_of(std::string_view text) {
  std::string full(text);
  if (full.size() == 16 && full[8] == 'T' && full.find('-') == std::string::npos) {
    full = fmt::format("{}-{}-{}T{}:{}:{}", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2),
                       text.substr(9, 2), text.substr(11, 2), text.substr(13));
  } else if (full.size() > 10 && full[10] == ' ') {
    full[10] = 'T';
  }
  return wall_time_from_iso8601(full);
}

Result<WallTime> moved(WallTime time, const Step& step) {
  using namespace std::chrono;
  const sys_days day = floor<days>(time);
  year_month_day date = year_month_day(day) + months(step.months);
  if (!date.ok()) date = date.year() / date.month() / last;  // The 31st of a shorter month.
  const sys_time<milliseconds> result = sys_days(date) + (time - day) + seconds(step.seconds);
  if (result < kFirst || result > kLast) return fail(Code::InvalidArgument, "beyond the calendar");
  return WallTime(result);
}

Result<json::value> add(const Arguments& given) {
  const Result<WallTime> time = time_of(TRY(given.text(0)));
  if (!time) return given.wrong("argument 1 is no time such as 2026-11-18T03:15:00Z");
  const Result<Step> step = duration_of(TRY(given.text(1)));
  if (!step) return given.wrong(step.error().message);
  const Result<WallTime> result = moved(*time, *step);
  if (!result) return given.wrong(result.error().message);
  const std::string_view format = given.size() > 2 ? TRY(given.text(2)) : std::string_view("u");
  const Result<std::string> text = format_time(*result, format);
  if (!text) return given.wrong(text.error().message);
  return json::value(*text);
}

Result<json::value> to_epoch(const Arguments& given) {
  const Result<WallTime> time = time_of(TRY(given.text(0)));
  if (!time) return given.wrong("argument 1 is no time such as 2026-11-18T03:15:00Z");
  return std::chrono::floor<seconds>(*time).time_since_epoch().count();
}

Result<json::value> from_epoch(const Arguments& given) {
  const std::int64_t since = TRY(given.number(0));
  if (since < -62'135'596'800 || since > 253'402'214'400) return given.wrong("beyond the calendar");
  return json::value(TRY(format_time(WallTime(seconds(since)), "yyyy-MM-ddTHH:mm:ssZ")));
}

constexpr Function kFunctions[] = {
    {"dateTimeAdd", 2, 3, add},
    {"dateTimeToEpoch", 1, 1, to_epoch},
    {"dateTimeFromEpoch", 1, 1, from_epoch},
};

}  // namespace

Result<std::string> format_time(WallTime time, std::string_view format) {
  if (format.empty()) format = kUsual;
  if (format.size() == 1) format = standard_format(format);
  const auto day = std::chrono::floor<days>(time);
  const Parts parts{std::chrono::year_month_day(day), std::chrono::hh_mm_ss(time - day)};
  std::string text;
  for (std::size_t at = 0; at < format.size();) {
    const char letter = format[at];
    if (letter == '\'') {
      const std::size_t end = std::min(format.find('\'', at + 1), format.size());
      text += format.substr(at + 1, end - at - 1);
      at = end + 1;
      continue;
    }
    const std::size_t end = std::min(format.find_first_not_of(letter, at), format.size());
    const std::string_view run = format.substr(at, end - at);
    if (!is_letter_of_formats(letter)) {
      text += run;
    } else if (const std::string part = part_of(parts, run); !part.empty()) {
      text += part;
    } else {
      return fail(Code::InvalidArgument,
                  fmt::format("'{}' in a format of times is not known", run));
    }
    at = end;
  }
  return text;
}

std::span<const Function> time_functions() { return kFunctions; }

}  // namespace berth::lang::arm_template
