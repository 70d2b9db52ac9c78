// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace berth {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct Parts {
  std::chrono::year_month_day date{};
  std::chrono::hh_mm_ss<Duration> time{};
  std::chrono::weekday weekday{};
};

Parts parts_of(WallTime time) {
  const auto day = std::chrono::floor<days>(time);
  return {.date = std::chrono::year_month_day(day),
          .time = std::chrono::hh_mm_ss(time - day),
          .weekday = std::chrono::weekday(day)};
}

tl::unexpected<Error> not_a_time(std::string_view text) {
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not a time such as 2026-11-16T00:45:12Z", text));
}

tl::unexpected<Error> not_a_duration(std::string_view text) {
  return fail(Code::InvalidArgument, fmt::format("'{}' is not a duration such as PT1H30M", text));
}

/// Takes text apart from the front. Each function says whether what it wants was there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Exactly `width` digits.
  bool take_digits(std::size_t width, int& value) {
    if (rest_.size() < width) return false;
    const char* end = rest_.data() + width;
    if (rest_.front() < '0' || rest_.front() > '9') return false;
    const auto [stop, failed] = std::from_chars(rest_.data(), end, value);
    if (failed != std::errc() || stop != end) return false;
    rest_.remove_prefix(width);
    return true;
  }

  /// As many digits as there are, at least one.
  bool take_number(std::int64_t& value) {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return false;
    const auto [stop, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failed != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    return true;
  }

  /// The digits after a decimal point, as milliseconds; what is finer is cut off.
  bool take_fraction(Duration& value) {
    int scale = 100;
    std::int64_t milliseconds = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      milliseconds += (rest_[digits] - '0') * scale;
      scale /= 10;
    }
    rest_.remove_prefix(digits);
    value = Duration(milliseconds);
    return digits > 0;
  }

  char take_any() {
    if (rest_.empty()) return '\0';
    const char first = rest_.front();
    rest_.remove_prefix(1);
    return first;
  }

 private:
  std::string_view rest_;
};

bool scan_date(Scanner& scan, std::chrono::year_month_day& date) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!scan.take_digits(4, year) || !scan.take('-')) return false;
  if (!scan.take_digits(2, month) || !scan.take('-') || !scan.take_digits(2, day)) return false;
  date = std::chrono::year(year) / month / day;
  return date.ok();
}

bool scan_time(Scanner& scan, Duration& time) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  Duration fraction{};
  if (!scan.take_digits(2, hour) || !scan.take(':') || !scan.take_digits(2, minute)) return false;
  if (!scan.take(':') || !scan.take_digits(2, second)) return false;
  if (scan.take('.') && !scan.take_fraction(fraction)) return false;
  // 60 is a leap second; sys_time has none, so it becomes the next second.
  if (hour > 23 || minute > 59 || second > 60) return false;
  time = hours(hour) + minutes(minute) + seconds(second) + fraction;
  return true;
}

/// "Z", "+01:00", "-0530", or nothing, which means UTC.
bool scan_zone(Scanner& scan, Duration& offset) {
  if (scan.at_end() || scan.take('Z') || scan.take('z')) return scan.at_end();
  const char sign = scan.take_any();
  int hour = 0;
  int minute = 0;
  if ((sign != '+' && sign != '-') || !scan.take_digits(2, hour)) return false;
  scan.take(':');
  if (!scan.take_digits(2, minute) || !scan.at_end() || hour > 23 || minute > 59) return false;
  offset = hours(hour) + minutes(minute);
  if (sign == '-') offset = -offset;
  return true;
}

/// How long one of the unit is; nothing for a letter that is not one, or has no length.
std::optional<seconds> unit_length(char unit, bool in_time) {
  if (!in_time && unit == 'W') return days(7);
  if (!in_time && unit == 'D') return days(1);
  if (in_time && unit == 'H') return hours(1);
  if (in_time && unit == 'M') return minutes(1);
  if (in_time && unit == 'S') return seconds(1);
  return std::nullopt;
}

}  // namespace

Now SystemClock::now() const {
  return {.mono = std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now()),
          .wall = std::chrono::floor<Duration>(std::chrono::system_clock::now())};
}

Duration since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(now.tv_nsec));
}

std::string to_iso8601(WallTime time) {
  const auto [date, clock, weekday] = parts_of(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", int(date.year()),
                     unsigned(date.month()), unsigned(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

Result<WallTime> wall_time_from_iso8601(std::string_view text) {
  Scanner scan(text);
  std::chrono::year_month_day date{};
  Duration time{};
  Duration offset{};
  if (!scan_date(scan, date)) return not_a_time(text);
  if (scan.at_end()) return WallTime(std::chrono::sys_days(date));
  if (!scan.take('T') && !scan.take('t') && !scan.take(' ')) return not_a_time(text);
  if (!scan_time(scan, time) || !scan_zone(scan, offset)) return not_a_time(text);
  return std::chrono::sys_days(date) + time - offset;
}

std::string to_iso8601(std::chrono::seconds duration) {
  if (duration == seconds(0)) return "PT0S";
  if (duration < seconds(0)) return "-" + to_iso8601(-duration);
  const std::int64_t total = duration.count();
  std::string text = "P";
  if (total >= 86'400) text += fmt::format("{}D", total / 86'400);
  if (total % 86'400 == 0) return text;
  text += 'T';
  if (total / 3'600 % 24 != 0) text += fmt::format("{}H", total / 3'600 % 24);
  if (total / 60 % 60 != 0) text += fmt::format("{}M", total / 60 % 60);
  if (total % 60 != 0) text += fmt::format("{}S", total % 60);
  return text;
}

Result<std::chrono::seconds> seconds_from_iso8601(std::string_view text) {
  Scanner scan(text);
  if (!scan.take('P')) return not_a_duration(text);
  seconds total{};
  bool in_time = false;
  bool any = false;
  while (!scan.at_end()) {
    if (!in_time && scan.take('T')) {
      in_time = true;
      any = false;
      continue;
    }
    std::int64_t count = 0;
    Duration fraction{};
    if (!scan.take_number(count)) return not_a_duration(text);
    const bool has_fraction = scan.take('.');
    if (has_fraction && !scan.take_fraction(fraction)) return not_a_duration(text);
    const auto unit = unit_length(scan.take_any(), in_time);
    if (!unit || (has_fraction && *unit != seconds(1))) return not_a_duration(text);
    if (count > (std::numeric_limits<std::int32_t>::max() - total.count()) / unit->count()) {
      return fail(Code::InvalidArgument, fmt::format("'{}' is too long a duration", text));
    }
    total += count * *unit;
    any = true;
  }
  if (!any) return not_a_duration(text);
  return total;
}

std::string to_http_date(WallTime time) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto [date, clock, weekday] = parts_of(time);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[weekday.c_encoding()],
                     unsigned(date.day()), kMonths[unsigned(date.month()) - 1], int(date.year()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace berth
