// SPDX-License-Identifier: Apache-2.0
// What HttpClient says in the clear and makes of what it hears, with libcurl and without.
#include "io/http/client_exchange.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>

#include "io/http/wire_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEmpty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A server that does as it is told, on a thread of its own, until the test is over.
class ToldServer {
 public:
  explicit ToldServer(std::function<void(WireListener&)> play)
      : thread_([this, play = std::move(play)] { play(listener_); }) {}
  ToldServer(const ToldServer&) = delete;
  ToldServer& operator=(const ToldServer&) = delete;
  ~ToldServer() { end(); }

  void end() {
    if (thread_.joinable()) thread_.join();
  }
  std::string url(std::string_view path) const {
    return fmt::format("http://127.0.0.1:{}{}", listener_.port(), path);
  }
  WireListener& listener() { return listener_; }

 private:
  WireListener listener_{};
  std::thread thread_;
};

/// Answers one request for each, all on the first connection.
ToldServer answering(std::vector<std::string> answers) {
  return ToldServer([answers = std::move(answers)](WireListener& listener) {
    Wire wire = listener.accept();
    for (const std::string& answer : answers) {
      wire.receive_head();
      wire.send(answer);
    }
  });
}

/// Parameter: by libcurl.
class PlainExchanges : public testing::TestWithParam<bool> {
 protected:
  Result<ClientResponse> ask(ClientRequest request) {
    request.follow_redirects = GetParam();  // There are none, but only libcurl could.
    return client.send(request);
  }
  Code code_of(ClientRequest request) {
    const auto response = ask(std::move(request));
    EXPECT_FALSE(response);
    return response ? Code::Internal : response.error().code;
  }

  HttpClient client{};
};

INSTANTIATE_TEST_SUITE_P(All, PlainExchanges, testing::Bool(),
                         [](const auto& test) { return test.param ? "Curl" : "Loopback"; });

TEST_P(PlainExchanges, UseAConnectionAgain) {
  ToldServer server = answering({std::string(kEmpty), std::string(kEmpty), std::string(kEmpty)});

  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask({.url = server.url("/")}));
}

TEST_P(PlainExchanges, DialAnewWhenTheServerHasClosedTheConnection) {
  std::promise<void> closed;
  ToldServer server([&](WireListener& listener) {
    {
      Wire wire = listener.accept();
      wire.receive_head();
      wire.send(kEmpty);
    }
    closed.set_value();
    Wire wire = listener.accept();
    wire.receive_head();
    wire.send(kEmpty);
  });

  EXPECT_TRUE(ask({.url = server.url("/")}));
  closed.get_future().wait();
  EXPECT_TRUE(ask({.url = server.url("/")}));
}

TEST_P(PlainExchanges, DialAnewWhenTheServerClosesAsTheyAsk) {
  std::string first;
  std::string second;
  ToldServer server([&](WireListener& listener) {
    {
      Wire wire = listener.accept();
      wire.receive_head();
      wire.send(kEmpty);
      first = wire.receive_to("body");
    }
    Wire wire = listener.accept();
    second = wire.receive_to("body");
    wire.send(kEmpty);
  });

  EXPECT_TRUE(ask({.url = server.url("/")}));
  EXPECT_TRUE(ask({.method = "POST", .url = server.url("/"), .body = "body"}));

  server.end();
  EXPECT_EQ(first, second);
  EXPECT_TRUE(first.ends_with("\r\n\r\nbody"));
}

TEST_P(PlainExchanges, DoNotAskAgainOnANewConnection) {
  ToldServer server([&](WireListener& listener) { listener.accept().receive_head(); });

  EXPECT_EQ(code_of({.url = server.url("/")}), Code::Unavailable);

  EXPECT_FALSE(server.listener().is_called());
}

TEST_P(PlainExchanges, DoNotAskAgainWhenAnAnswerHasBegun) {
  ToldServer server =
      answering({std::string(kEmpty), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"});

  EXPECT_TRUE(ask({.url = server.url("/")}));
  EXPECT_EQ(code_of({.url = server.url("/")}), Code::Unavailable);

  EXPECT_FALSE(server.listener().is_called());
}

TEST_P(PlainExchanges, GiveUpOnAServerThatStalls) {
  ToldServer server([&](WireListener& listener) {
    Wire first = listener.accept();
    first.receive_head();
    first.send(kEmpty);
    first.receive_head();
    first.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    Wire second = listener.accept();
    second.receive_head();
    second.send(kEmpty);
  });

  EXPECT_TRUE(ask({.url = server.url("/"), .timeout = 1min}));
  EXPECT_EQ(code_of({.url = server.url("/"), .timeout = 50ms}), Code::Unavailable);
  EXPECT_TRUE(ask({.url = server.url("/"), .timeout = 1min}));
}

TEST_P(PlainExchanges, DialAnewWhenTheServerWillClose) {
  ToldServer server([](WireListener& listener) {
    Wire first = listener.accept();
    first.receive_head();
    first.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    Wire second = listener.accept();
    second.receive_head();
    second.send(kEmpty);
  });

  EXPECT_TRUE(ask({.url = server.url("/")}));
  EXPECT_TRUE(ask({.url = server.url("/")}));
}

TEST_P(PlainExchanges, DialAnewAfterAnAnswerThatTheyLeft) {
  ToldServer server([](WireListener& listener) {
    Wire first = listener.accept();
    first.receive_head();
    first.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcde");
    Wire second = listener.accept();
    second.receive_head();
    second.send(kEmpty);
  });
  ClientRequest refused{.url = server.url("/")};
  refused.sink = [](std::string_view) -> Status { return fail(Code::OutOfSpace, "enough"); };

  EXPECT_EQ(code_of(refused), Code::OutOfSpace);
  EXPECT_TRUE(ask({.url = server.url("/")}));
}

TEST_P(PlainExchanges, SayWhatFailedAndWhy) {
  WireListener listener;
  listener.close();

  const auto response =
      ask({.url = fmt::format("http://127.0.0.1:{}/a?sig=secret", listener.port())});

  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Unavailable);
  const std::string begin = fmt::format("GET http://127.0.0.1:{}/a failed: ", listener.port());
  EXPECT_TRUE(response.error().message.starts_with(begin)) << response.error().message;
}

TEST_P(PlainExchanges, TakeAnAnswerThatIsCutForAFailure) {
  for (const char* answer : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcde",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
                             "HTTP/1.1 100 Continue\r\n\r\n"}) {
    ToldServer server = answering({answer});
    EXPECT_EQ(code_of({.url = server.url("/")}), Code::Unavailable) << answer;
  }
}

TEST_P(PlainExchanges, TakeAnAnswerThatEndsWithItsConnection) {
  ToldServer server = answering({"HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nall of it"});

  const auto response = ask({.url = server.url("/")});

  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "all of it");
  EXPECT_EQ(response->headers, (Headers{{"X-A", "b"}}));
}

TEST_P(PlainExchanges, PutChunksTogether) {
  ToldServer server = answering(
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
       "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"});

  EXPECT_EQ(ask({.url = server.url("/")})->body, "abcde");
  EXPECT_EQ(ask({.url = server.url("/")})->body, "next");
}

TEST_P(PlainExchanges, KnowAnswersWithoutABody) {
  ToldServer server = answering({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Name: Value \r\n\r\n",
                                 "HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 304 No\r\n\r\n",
                                 "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"});

  const auto head = ask({.method = "HEAD", .url = server.url("/")});

  ASSERT_TRUE(head);
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(head->headers, (Headers{{"Content-Length", "5"}, {"X-Name", "Value"}}));
  EXPECT_EQ(ask({.url = server.url("/")})->status, 204);
  EXPECT_EQ(ask({.url = server.url("/")})->status, 304);
  EXPECT_EQ(ask({.url = server.url("/")})->body, "next");
}

TEST_P(PlainExchanges, WaitForTheAnswerBehindThoseThatAnnounceIt) {
  ToldServer server =
      answering({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
                 "HTTP/1.1 201 Made\r\nContent-Length: 1\r\n\r\n!"});

  const auto response = ask({.method = "POST", .url = server.url("/"), .body = "x"});

  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "!");
  EXPECT_EQ(header(response->headers, "Link"), "");
}

TEST_P(PlainExchanges, HearAnAnswerThatDoesNotWaitForTheBody) {
  std::promise<void> over;
  ToldServer server([&](WireListener& listener) {
    Wire wire = listener.accept();
    wire.receive_head();
    wire.send("HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    over.get_future().wait();
  });

  const auto response =
      ask({.method = "POST", .url = server.url("/"), .body = std::string(kExpectBytes - 1, 'x')});
  over.set_value();

  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  EXPECT_EQ(response->body, "no");
}

TEST_P(PlainExchanges, TellHowMuchHasCome) {
  ToldServer server = answering({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde"});
  std::uint64_t moved = 0;

  EXPECT_TRUE(ask({.url = server.url("/"), .progress = [&](auto bytes) { moved = bytes; }}));

  EXPECT_EQ(moved, 5u);
}

/// What the server hears of it: the head, and a body as long as it says.
std::string heard_of(const ClientRequest& request) {
  std::string heard;
  ToldServer server([&](WireListener& listener) {
    Wire wire = listener.accept();
    heard = wire.receive_head() + wire.receive(request.body.size());
    wire.send(kEmpty);
  });
  ClientRequest sent = request;
  sent.url = server.url(request.url);
  EXPECT_TRUE(HttpClient().send(sent));
  server.end();
  heard.replace(heard.find(server.url("").substr(7)), server.url("").size() - 7, "HOST");
  return heard;
}

TEST(PlainExchange, LooksTheSameWithAndWithoutLibcurl) {
  const std::vector<ClientRequest> requests = {
      {.url = ""},
      {.url = "/a%20b/c?d=e&f=%2F..%2f"},
      {.method = "HEAD", .url = "/", .headers = {{"X-A", "b"}, {"X-Empty", ""}}},
      {.method = "POST", .url = "/", .headers = {{"Content-Type", "a/b"}}, .body = "{}"},
      {.method = "PUT", .url = "/"},
      {.method = "DELETE", .url = "/", .headers = {{"Accept", "a/b"}, {"Connection", "close"}}},
      {.method = "PATCH", .url = "/", .body = "x"}};
  for (ClientRequest request : requests) {
    const std::string without = heard_of(request);
    request.follow_redirects = true;  // Only libcurl could.
    EXPECT_EQ(without, heard_of(request));
  }
}

}  // namespace
}  // namespace berth::io
