// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/stream.h"

#include <gtest/gtest.h>

#include "cli/testing_server.h"

namespace berth::cli {
namespace {

std::uint64_t offset_of(const io::Request& request) {
  const auto query = io::parse_query(request.head.query);
  for (const auto& [name, value] : *query) {
    if (name == "offset") return std::stoull(value);
  }
  return 0;
}

io::Reply part(std::string bytes, bool is_end) {
  return {.headers = {{"x-berth-job-status", is_end ? "Completed" : "Running"},
                      {"x-berth-log-end", is_end ? "true" : "false"}},
          .content_type = "application/octet-stream",
          .body = std::move(bytes)};
}

struct Followed {
  Status status = Done{};
  std::string text{};
};

Followed follow(const Locate& locate) {
  const Console console;
  Client client(locate, {.name = "default"}, console);
  Followed followed;
  followed.status = follow_log(client, console, "job", [&](std::string_view bytes) -> Status {
    followed.text += bytes;
    return Done{};
  });
  return followed;
}

TEST(Stream, HandsOverEveryByteOnce) {
  const std::string log("line 1\nNUL \0 and \xff\nline 3", 25);
  TestingServer server([&](const io::Request& request) {
    const std::uint64_t offset = offset_of(request);
    const std::string bytes = log.substr(offset, 7);
    return part(bytes, offset + bytes.size() == log.size());
  });

  const Followed followed = follow(server.locate());

  EXPECT_TRUE(followed.status);
  EXPECT_EQ(followed.text, log);
}

TEST(Stream, GoesOnWhereItWasWhenTheServerComesBack) {
  TestingServer first([](const io::Request& request) {
    return offset_of(request) == 0 ? part("before ", false)
                                   : testing_error(503, "ServiceUnavailable");
  });
  TestingServer second([](const io::Request& request) {
    return part(std::string("before after").substr(offset_of(request)), true);
  });
  const Locate locate = [&](bool again) -> Result<Endpoint> {
    return again ? second.endpoint() : first.endpoint();
  };

  const Followed followed = follow(locate);

  EXPECT_TRUE(followed.status);
  EXPECT_EQ(followed.text, "before after");
}

TEST(Stream, OfAnUnknownJobFailsAtOnce) {
  TestingServer server([](const io::Request&) { return testing_error(404, "ResourceNotFound"); });

  const Followed followed = follow(server.locate());

  ASSERT_FALSE(followed.status);
  EXPECT_EQ(followed.status.error().code, Code::NotFound);
}

TEST(Stream, EndsWhenNobodyReads) {
  TestingServer server([](const io::Request&) { return part("bytes", false); });
  const Console console;
  Client client(server.locate(), {.name = "default"}, console);

  const Status status = follow_log(client, console, "job", [](std::string_view) -> Status {
    return fail(Code::Unavailable, "the pipe is closed");
  });

  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the pipe is closed");
}

}  // namespace
}  // namespace berth::cli
