// SPDX-License-Identifier: Apache-2.0
// The audit log: who changed what, and whether anybody has changed the log.
#include "base/record.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "model/audit.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {{"Number", "number"}, {"Time", "at"},       {"Who", "who"},
                               {"From", "from"},     {"Method", "method"}, {"Target", "target"},
                               {"Status", "status"}, {"Action", "action"}};

struct Head {
  std::int64_t number = 0;
  std::string hash{};
};
BOOST_DESCRIBE_STRUCT(Head, (), (number, hash))
struct Line {
  std::int64_t number = 0;
  std::string record{};
  std::string hash{};
};
BOOST_DESCRIBE_STRUCT(Line, (), (number, record, hash))
struct Page {
  std::vector<Line> value{};
  Head head{};
};
BOOST_DESCRIBE_STRUCT(Page, (), (value, head))

Result<Page> page_after(Context& context, std::int64_t number) {
  Page page;
  const json::object answer =
      TRY(context.client.get(fmt::format("/berth/v1/audit?after={}", number)));
  TRY(record::decode_into(json::value(answer), page));
  return page;
}

Result<json::object> view_of(const Line& line) {
  const auto record = TRY(record::decode_text<model::AuditRecord>(line.record));
  return json::object{{"number", record.number}, {"at", to_iso8601(record.at)},
                      {"who", record.who},       {"token", record.token},
                      {"from", record.from},     {"method", record.method},
                      {"action", record.action}, {"target", record.target},
                      {"status", record.status}, {"unrecorded", record.unrecorded},
                      {"hash", line.hash}};
}

/// The newest, oldest of them first.
Result<int> list(Context& context) {
  const std::size_t most = TRY(most_results(context));
  const Page first = TRY(page_after(context, 0));
  const auto wanted = static_cast<std::int64_t>(std::min<std::size_t>(most, INT64_MAX));
  std::int64_t after = std::max<std::int64_t>(0, first.head.number - wanted);
  json::array views;
  for (Page page = TRY(page_after(context, after)); !page.value.empty() && views.size() < most;
       page = TRY(page_after(context, after))) {
    for (const Line& line : page.value) {
      if (views.size() < most) views.push_back(TRY(view_of(line)));
      after = std::max(after, line.number);
    }
  }
  TRY(context.print({.value = std::move(views), .columns = kColumns}));
  return 0;
}

Result<int> broken(Context& context, std::int64_t number, const std::string& why) {
  TRY(context.print({.value = {{"intact", false}, {"broken_at", number}, {"why", why}}}));
  context.console.error(fmt::format("the audit log is broken at line {}: {}", number, why));
  return 1;
}

/// "12:abc…", as an earlier `audit verify` printed it.
Result<Head> head_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto number = record::decode_text<std::int64_t>(text.substr(0, colon));
  if (colon != std::string::npos && number) return Head{*number, text.substr(colon + 1)};
  return fail(Code::InvalidArgument,
              "--head takes what an earlier 'berth audit verify' printed: NUMBER:HASH");
}

/// Walks the chain from its first line. Here and not in the server: whoever doubts the log computes
/// it for themselves.
Result<int> verify(Context& context) {
  std::vector<Head> known;
  if (context.arguments.has("head")) {
    const Result<Head> head = head_from(context.arguments.get("head"));
    if (!head) return wrong_usage(context, head.error().message);
    known.push_back(*head);
  }
  Head last;
  Page page = TRY(page_after(context, 0));
  known.push_back(page.head);
  for (; !page.value.empty(); page = TRY(page_after(context, last.number))) {
    for (const Line& line : page.value) {
      if (line.number != last.number + 1) {
        return broken(context, last.number + 1,
                      fmt::format("the next line has number {}", line.number));
      }
      if (model::audit_hash(last.hash, line.record) != line.hash) {
        return broken(context, line.number, "its hash does not follow from it and the line before");
      }
      last = {line.number, line.hash};
      for (const Head& head : known) {
        if (head.number == last.number && head.hash != last.hash) {
          return broken(context, line.number, "it is not the line that was there before");
        }
      }
    }
  }
  for (const Head& head : known) {
    if (head.number <= last.number) continue;
    return broken(context, last.number + 1,
                  fmt::format("lines up to {} were there and are gone", head.number));
  }
  TRY(context.print({.value = {{"intact", true},
                               {"lines", last.number},
                               {"head", fmt::format("{}:{}", last.number, last.hash)}}}));
  return 0;
}

constexpr Flag kListFlags[] = {
    {"-r,--max-results", Takes::Value, "N", "the newest so many (50)"},
    {"--all-results", Takes::Nothing, "", "all there are"},
};
constexpr Flag kVerifyFlags[] = {
    {"--head", Takes::Value, "NUMBER:HASH", "what an earlier check printed: it must still hold"}};

constexpr Command kCommands[] = {
    {.words = "audit list",
     .summary = "List who changed what, when and from where",
     .details = "Also who was turned away; of a flood of those only some, and how many more.",
     .examples = "  berth audit list -r 200 -o table",
     .flags = kListFlags,
     .run = list},
    {.words = "audit verify",
     .summary = "Check that nobody has changed the audit log",
     .details =
         R"(Each line carries a SHA-256 of itself and of the one before. Exit status 1 when a line was
changed, taken out or put in, and says which. Keep the head it prints somewhere else: with --head
a later check also notices a log that was written anew as a whole.)",
     .examples = "  berth audit verify --head 120:5f2c…",
     .flags = kVerifyFlags,
     .run = verify},
};

}  // namespace

std::span<const Command> audit_commands() { return kCommands; }

}  // namespace berth::cli
