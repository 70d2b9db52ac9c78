// SPDX-License-Identifier: Apache-2.0
#include "io/http/reply_stream.h"

#include "io/http/http_server_fixture.h"
#include "io/http/wire_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

/// A server whose path /stream answers with what the test writes.
class ReplyStream : public testing::Test {
 protected:
  void SetUp() override {
    server.on_loop([this] {
      server.handler.on_stream = [this] {
        writer = std::make_unique<BodyWriter>();
        if (prepare) prepare();
        asked.set_value();
        return writer->body();
      };
    });
  }
  void TearDown() override {
    server.on_loop([this] { writer.reset(); });
  }

  void ask(Wire& client, std::string_view request = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n") {
    asked = {};
    auto future = asked.get_future();
    client.send(request);
    ASSERT_EQ(future.wait_for(1min), std::future_status::ready);
  }
  std::size_t write(std::string_view bytes) {
    std::size_t taken = 0;
    server.on_loop([&] { taken = writer->write(bytes); });
    return taken;
  }
  void end() {
    server.on_loop([this] { writer->end(); });
  }
  Wire client() const { return Wire::to_port(server.port); }
  bool comes_true(std::promise<void>& promise) {
    return promise.get_future().wait_for(1min) == std::future_status::ready;
  }

  std::promise<void> asked{};
  std::function<void()> prepare{};
  std::unique_ptr<BodyWriter> writer{};
  RunningServer server{};
};

TEST_F(ReplyStream, ArrivesAsItIsWrittenAndTheConnectionCanBeUsedAgain) {
  Wire from = client();
  ask(from);
  const std::string head = from.receive_head();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
  EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);

  EXPECT_EQ(write("one"), 3u);
  EXPECT_EQ(from.receive_to("\r\none\r\n"), "3\r\none\r\n");
  EXPECT_EQ(write("three"), 5u);
  EXPECT_EQ(from.receive_to("\r\nthree\r\n"), "5\r\nthree\r\n");
  end();

  EXPECT_EQ(from.receive(5), "0\r\n\r\n");
  from.send(get("/hello"));
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 200 "));
}

TEST_F(ReplyStream, AnOldClientGetsItUntilTheConnectionCloses) {
  Wire from = client();
  ask(from, "GET /stream HTTP/1.0\r\n\r\n");
  write("abc");
  EXPECT_EQ(from.receive_head().find("chunked"), std::string::npos);
  end();

  EXPECT_EQ(from.receive_rest(), "abc");
}

TEST_F(ReplyStream, TakesNoMoreThanItsRoomForASlowClientAndSaysWhenThereIsSome) {
  Wire from = Wire::to_port(server.port, true);
  ask(from);
  std::promise<void> has_room;
  const std::string piece(16 * 1024, 'x');
  std::size_t total = 0;

  server.on_loop([&] {
    EXPECT_EQ(writer->write(std::string(1u << 20, 'x')), BodyWriter::kRoom);
    EXPECT_EQ(writer->room(), 0u);
    EXPECT_EQ(writer->write("x"), 0u);
    total += BodyWriter::kRoom;
  });
  // The kernel takes some MiB; then it stays full.
  for (int times_full = 0; times_full < 50; ++times_full) {
    std::size_t taken = 0;
    while ((taken = write(piece)) > 0) total += taken;
  }
  EXPECT_LT(total, 64u << 20);
  while (write(piece) > 0) total += piece.size();
  server.on_loop([&] {
    writer->when_room([&, told = false]() mutable {
      if (!std::exchange(told, true)) has_room.set_value();
    });
  });
  from.receive(total / 2);

  EXPECT_TRUE(comes_true(has_room));
}

TEST_F(ReplyStream, TheProducerIsToldThatTheClientHasGone) {
  std::promise<void> gone;
  prepare = [&] { writer->when_gone([&] { gone.set_value(); }); };
  Wire from = client();
  ask(from);
  from.receive_head();

  from.close();

  EXPECT_TRUE(comes_true(gone));
  EXPECT_EQ(write("x"), 0u);
}

TEST_F(ReplyStream, TheProducerIsToldThatNobodyWantsTheBody) {
  std::promise<void> gone;
  prepare = [&] { writer->when_gone([&] { gone.set_value(); }); };
  Wire from = client();
  ask(from, "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n");

  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(comes_true(gone));
  from.send(get("/hello"));
  EXPECT_TRUE(from.receive_head().starts_with("HTTP/1.1 200 "));
}

TEST_F(ReplyStream, TheProducerIsToldWhenItsReplyComesTooLate) {
  std::promise<void> gone;
  Wire from = client();
  from.send(get("/later"));
  for (bool is_there = false; !is_there;) {
    server.on_loop([&] { is_there = server.handler.waiting.size() == 1; });
  }
  server.on_loop([&] { server.server->drain(0ms, [] {}); });
  EXPECT_TRUE(from.is_closed());

  server.on_loop([&] {
    writer = std::make_unique<BodyWriter>();
    server.handler.waiting[0]({.stream = writer->body()});
    writer->when_gone([&] { gone.set_value(); });
  });

  EXPECT_TRUE(comes_true(gone));
}

TEST_F(ReplyStream, ABodyThatIsNotEndedIsBrokenOff) {
  Wire from = client();
  ask(from);
  write("half");
  from.receive_to("half\r\n");

  server.on_loop([this] { writer.reset(); });

  EXPECT_TRUE(from.is_closed());
}

TEST_F(ReplyStream, ADrainingServerBreaksItOffAndSaysSo) {
  std::promise<void> gone;
  prepare = [&] { writer->when_gone([&] { gone.set_value(); }); };
  Wire from = client();
  ask(from);
  write("half");
  from.receive_to("half\r\n");

  auto drained = server.drain(1h);

  EXPECT_TRUE(comes_true(gone));
  EXPECT_TRUE(from.is_closed());
  EXPECT_EQ(drained.wait_for(1min), std::future_status::ready);
}

TEST_F(ReplyStream, AProducerCanEndItWhenTheServerDrains) {
  prepare = [&] {
    writer->when_draining([&] {
      writer->write("bye");
      writer->end();
    });
  };
  Wire from = client();
  ask(from);
  from.receive_head();

  auto drained = server.drain(1h);

  EXPECT_EQ(from.receive_rest(), "3\r\nbye\r\n0\r\n\r\n");
  EXPECT_EQ(drained.wait_for(1min), std::future_status::ready);
}

TEST_F(ReplyStream, IsOnItsCallersAccount) {
  RunningServer narrow({.held_bytes = 100 * 1024});
  std::vector<std::unique_ptr<BodyWriter>> writers;
  narrow.on_loop([&] {
    narrow.handler.on_stream = [&] {
      return writers.emplace_back(std::make_unique<BodyWriter>())->body();
    };
  });
  Wire first = Wire::to_port(narrow.port);
  first.send(get_as("ana", "/stream"));
  EXPECT_TRUE(first.receive_head().starts_with("HTTP/1.1 200 "));
  Wire second = Wire::to_port(narrow.port);
  second.send(get_as("ana", "/stream"));

  EXPECT_TRUE(second.receive_head().starts_with("HTTP/1.1 429 "));
  narrow.on_loop([&] {
    EXPECT_TRUE(writers.at(1)->is_gone());
    writers.at(0)->end();
  });
  first.receive_to("0\r\n\r\n");
  first.send(get_as("ana", "/stream"));
  EXPECT_TRUE(first.receive_head().starts_with("HTTP/1.1 200 ")) << "it has given its part back";
  narrow.on_loop([&] { writers.clear(); });
}

}  // namespace
}  // namespace berth::io
