// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_server.h"

#include "base/digest.h"
#include "io/http/http_server_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Descriptor> file_of(const TemporaryDirectory& directory,
                                          const std::string& content) {
  EXPECT_TRUE(write_file(directory / "content", content));
  return std::make_shared<const Descriptor>(
      ::open((directory / "content").c_str(), O_RDONLY | O_CLOEXEC));
}

std::string varied(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i * i % 23);
  return bytes;
}

TEST(HttpServer, AnswersRequestsOnOneConnection) {
  RunningServer server;
  RawClient client(server.port);

  const auto hello = client.ask(get("/hello"));
  const auto echo = client.ask(post("/echo", "ping"));

  EXPECT_EQ(hello.status, 200);
  EXPECT_EQ(hello.body, "hello");
  EXPECT_EQ(header(hello.headers, "Server"), "berth");
  EXPECT_EQ(header(hello.headers, "Content-Type"), "application/json");
  EXPECT_TRUE(header(hello.headers, "Date").ends_with(" GMT"));
  EXPECT_TRUE(header(hello.headers, "Connection").empty());
  EXPECT_EQ(echo.body, "ping");
}

TEST(HttpServer, ShowsTheHandlerPathQueryAndHeaders) {
  RunningServer server;
  RawClient client(server.port);

  EXPECT_EQ(client.ask("GET /a%20b?x=1&y=%2F HTTP/1.1\r\nHost: h\r\nx-test: v\r\n\r\n").body,
            "GET /a%20b ? x=1&y=%2F v tls=false");
  EXPECT_EQ(client.ask("GET http://h/a?b HTTP/1.1\r\nHost: h\r\n\r\n").body,
            "GET /a ? b  tls=false");
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  RunningServer server;
  RawClient client(server.port);

  client.send(post("/echo", "one") + get("/hello") + post("/echo", "two"));

  EXPECT_EQ(client.receive().body, "one");
  EXPECT_EQ(client.receive().body, "hello");
  EXPECT_EQ(client.receive().body, "two");
}

TEST(HttpServer, TakesARequestThatArrivesByteByByte) {
  RunningServer server;
  RawClient client(server.port);

  for (const char c : post("/echo", "slowly")) client.send({&c, 1});

  EXPECT_EQ(client.receive().body, "slowly");
}

TEST(HttpServer, ReadsABodyOfAHundredThousandOneByteChunks) {
  RunningServer server;
  RawClient client(server.port);
  std::string request = "POST /count HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 100'000; ++i) request += "1\r\nx\r\n";

  const auto answer = client.ask(request + "0\r\nX-Trailer: ignored\r\n\r\n" + get("/hello"));

  EXPECT_EQ(answer.body, "100000");
  EXPECT_EQ(client.receive().body, "hello");
}

TEST(HttpServer, AnswersHeadWithALengthAndNoBody) {
  RunningServer server;
  server.handler.head_length = 1'000'000;
  RawClient client(server.port);

  client.send("HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto head = client.receive(true);

  EXPECT_EQ(header(head.headers, "Content-Length"), "1000000");
  EXPECT_EQ(client.ask(get("/hello")).body, "hello") << "bytes of a body came before this answer";
}

TEST(HttpServer, SendsNoBodyAndNoLengthWithStatus204) {
  RunningServer server;
  RawClient client(server.port);

  const auto nothing = client.ask(get("/nothing"));

  EXPECT_EQ(nothing.status, 204);
  EXPECT_TRUE(header(nothing.headers, "Content-Length").empty());
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
}

TEST(HttpServer, SendsRangesOfFilesOneAfterTheOther) {
  RunningServer server;
  const std::string content = varied(1'000'000);
  const auto file = file_of(server.directory, content);
  server.handler.files = {{file, 10, 600'000}, {file, 0, 0}, {file, 999'990, 10}};
  RawClient client(server.port);

  const auto answer = client.ask(get("/files"));

  EXPECT_TRUE(answer.body == content.substr(10, 600'000) + content.substr(999'990));
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
}

TEST(HttpServer, BreaksOffWhenAFileIsShorterThanPromised) {
  RunningServer server;
  server.handler.files = {{file_of(server.directory, "short"), 0, 1'000'000}};
  RawClient client(server.port);

  EXPECT_EQ(client.ask(get("/files")).status, 0);
}

TEST(HttpServer, SpoolsABodyToASyncedAndHashedFile) {
  RunningServer server;
  RawClient client(server.port);
  for (const std::size_t size : {0u, 10u, 300'000u, 3'000'000u}) {
    const std::string content = varied(size);

    const auto answer = client.ask(post("/spool", content));

    EXPECT_EQ(answer.body, fmt::format("{} {}", size, size));
    EXPECT_EQ(header(answer.headers, "X-Sha256"), to_hex(sha256(content)));
    Digest md5(Digest::Algorithm::Md5);
    md5.update(content);
    EXPECT_EQ(header(answer.headers, "X-Md5"), to_hex(md5.finish()));
  }
  EXPECT_TRUE(list_tree(server.directory.path())->empty()) << "a spooled body was left behind";
}

TEST(HttpServer, SaysContinueOnlyToABodyItWants) {
  RunningServer server;
  RawClient client(server.port);
  const std::string expecting =
      "HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";

  EXPECT_EQ(client.ask("POST /echo " + expecting).status, 100);
  EXPECT_EQ(client.ask("ping").body, "ping");
  const auto refused = client.ask("POST /refused " + expecting);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(header(refused.headers, "Connection"), "close");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, KeepsTheConnectionAfterRefusingARequestWithoutABody) {
  RunningServer server;
  RawClient client(server.port);

  EXPECT_EQ(client.ask(get("/refused")).status, 401);
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
}

TEST(HttpServer, ClosesTheConnectionOfAnOldOrLeavingClient) {
  RunningServer server;
  for (const char* request : {"GET /hello HTTP/1.0\r\n\r\n",
                              "GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"}) {
    RawClient client(server.port);
    const auto answer = client.ask(request);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(header(answer.headers, "Connection"), "close");
    EXPECT_TRUE(client.is_closed());
  }
}

TEST(HttpServer, AHeaderValueCannotStartAnotherHeader) {
  RunningServer server;
  server.handler.headers = {{"X-Name", "a\r\nX-Forged: b"},
                            {"Bad Name", "c"},
                            {"Content-Length", "999"},
                            {"x-name", "twice"}};
  RawClient client(server.port);

  const auto answer = client.ask(get("/headers"));

  EXPECT_EQ(header(answer.headers, "X-Name"), "aX-Forged: b");
  EXPECT_TRUE(header(answer.headers, "X-Forged").empty());
  EXPECT_EQ(header(answer.headers, "Content-Length"), "1");
  EXPECT_EQ(answer.headers.size(), 5u) << "Date, Server, Content-Type, Content-Length, X-Name";
}

TEST(HttpServer, TakesAnAnswerThatComesLater) {
  RunningServer server;
  RawClient client(server.port);
  RawClient other(server.port);
  client.send(get("/later"));
  bool is_there = false;
  while (!is_there) {
    EXPECT_EQ(other.ask(get("/hello")).status, 200) << "another client has to wait";
    server.on_loop([&] { is_there = !server.handler.waiting.empty(); });
  }

  server.on_loop([&] { server.handler.waiting.front()({.body = "at last"}); });

  EXPECT_EQ(client.receive().body, "at last");
}

TEST(HttpServer, AnswersForAHandlerThatForgets) {
  RunningServer server;
  RawClient client(server.port);

  EXPECT_EQ(client.ask(get("/dropped")).status, 500);
}

TEST(HttpServer, DrainingClosesIdleConnectionsAndAnswersTheRest) {
  RunningServer server;
  RawClient idle(server.port);
  idle.ask(get("/hello"));
  RawClient busy(server.port);
  busy.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(busy.receive().status, 100);

  std::future<void> drained = server.drain(1h);

  EXPECT_TRUE(idle.is_closed());
  const auto answer = busy.ask("ping");
  EXPECT_EQ(answer.body, "ping");
  EXPECT_EQ(header(answer.headers, "Connection"), "close");
  EXPECT_TRUE(comes(drained));
}

TEST(HttpServer, DrainingEndsWhenTheGraceIsOver) {
  RunningServer server;
  RawClient busy(server.port);
  busy.send("POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n");
  RawClient other(server.port);
  bool is_there = false;
  while (!is_there) {
    other.ask(get("/hello"));
    server.on_loop([&] { is_there = !server.handler.waiting.empty(); });
  }

  EXPECT_TRUE(comes(server.drain(0ms)));

  EXPECT_TRUE(busy.is_closed());
  server.on_loop([&] { server.handler.waiting.front()({.body = "too late"}); });
}

TEST(HttpServer, RefusesAnAddressThatIsTaken) {
  RunningServer server;
  HttpServer second(server.loop, server.disk, server.handler, {.port = server.port}, nullptr);

  const Status listening = second.listen();

  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().code, Code::Conflict);
}

TEST(HttpServer, SeveralAddressesAreAnsweredAtOnePort) {
  Loop loop;
  InlineOffload disk;
  PathHandler handler;
  HttpServer server(loop, disk, handler, {.more_addresses = {"127.0.0.2"}}, nullptr);
  ASSERT_TRUE(server.listen());

  RawClient first;
  RawClient second;
  first.connect(server.port());
  second.connect(server.port(), "127.0.0.2");
}

TEST(HttpServer, RefusesToListenOffLoopbackWithoutTls) {
  Loop loop;
  InlineOffload disk;
  PathHandler handler;
  HttpServer server(loop, disk, handler, {.address = "0.0.0.0"}, nullptr);

  EXPECT_EQ(server.listen().error().code, Code::InvalidArgument);
}

TEST(HttpServer, AChunkedBodyMayArriveByteByByte) {
  RunningServer server;
  for (const char* body : {"0\r\n\r\n", "2\r\n00\r\n1\r\n0\r\n0\r\n\r\n"}) {
    RawClient client(server.port);
    const std::string head = "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const char byte : head + body) client.send(std::string(1, byte));
    EXPECT_EQ(client.receive().status, 200) << body;
  }
}

TEST(HttpServer, TheTargetsOwnHostGoesBeforeTheHeader) {
  RunningServer server;
  RawClient client(server.port);

  EXPECT_EQ(client.ask("GET http://other:81/host?q=1 HTTP/1.1\r\nHost: h\r\n\r\n").body,
            "other:81");
  EXPECT_EQ(client.ask("GET /host HTTP/1.1\r\nHost: h\r\n\r\n").body, "h");
  EXPECT_EQ(client.ask("GET HTTPS://H:1?q HTTP/1.1\r\nHost: h\r\n\r\n").body,
            "GET / ? q  tls=false");
  EXPECT_EQ(RawClient(server.port).ask("GET http:///host HTTP/1.1\r\nHost: h\r\n\r\n").status, 400);
  EXPECT_EQ(RawClient(server.port).ask("GET ftp://h/host HTTP/1.1\r\nHost: h\r\n\r\n").status, 400);
}

}  // namespace
}  // namespace berth::io
