// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_client.h"

#include "base/digest.h"
#include "io/http/http_server_fixture.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

/// How a request goes out: without libcurl, by it in the clear, by it over TLS.
enum class Way { Loopback, Curl, Tls };

class HttpClients : public testing::TestWithParam<Way> {
 protected:
  HttpClients() { EXPECT_TRUE(write_file(files / "authority.pem", server.authority.certificate)); }

  bool is_tls() const { return GetParam() == Way::Tls; }
  std::string url(const std::string& path) const { return server.url(path, is_tls()); }
  Result<ClientResponse> ask(ClientRequest request) {
    request.follow_redirects = GetParam() == Way::Curl;  // There are none, but only libcurl could.
    return client.send(request);
  }
  ClientResponse send(const ClientRequest& request) {
    Result<ClientResponse> response = ask(request);
    EXPECT_TRUE(response) << response.error().message;
    return response ? *response : ClientResponse{};
  }
  FileRange file(const std::string& content) {
    EXPECT_TRUE(write_file(files / "content", content));
    return {std::make_shared<const Descriptor>(
                ::open((files / "content").c_str(), O_RDONLY | O_CLOEXEC)),
            0, content.size()};
  }

  RunningServer server{};
  TemporaryDirectory files{};
  HttpClient client{{.authority_file = files / "authority.pem"}};
};

INSTANTIATE_TEST_SUITE_P(All, HttpClients, testing::Values(Way::Loopback, Way::Curl, Way::Tls),
                         [](const auto& test) {
                           return test.param == Way::Loopback ? "Loopback"
                                  : test.param == Way::Curl   ? "Curl"
                                                              : "Tls";
                         });

TEST_P(HttpClients, GetAnAnswer) {
  const ClientResponse response = send({.url = url("/path?a=b"), .headers = {{"X-Test", "here"}}});

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, fmt::format("GET /path ? a=b here tls={}", is_tls()));
  EXPECT_EQ(header(response.headers, "server"), "berth");
}

TEST_P(HttpClients, SendBodiesWithEveryMethod) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    EXPECT_EQ(send({.method = method, .url = url("/echo"), .body = method}).body, method);
    EXPECT_EQ(send({.method = method, .url = url("/count")}).body, "0");
  }
  EXPECT_EQ(send({.method = "HEAD", .url = url("/hello")}).body, "");
  const std::string large(5'000'000, 'x');
  EXPECT_TRUE(send({.method = "POST", .url = url("/echo"), .body = large}).body == large);
}

TEST_P(HttpClients, UploadAPartOfAFile) {
  std::string content(3'000'000, 'a');
  for (std::size_t i = 0; i < content.size(); i += 7) content[i] = static_cast<char>('a' + i % 26);
  FileRange part = file(content);
  part.offset = 100;
  part.length -= 200;
  std::uint64_t moved = 0;

  const ClientResponse response =
      send({.method = "PUT", .url = url("/spool"), .upload = part, .progress = [&](auto bytes) {
              moved = bytes;
            }});

  EXPECT_EQ(header(response.headers, "X-Sha256"),
            to_hex(sha256(content.substr(100, content.size() - 200))));
  EXPECT_EQ(moved, part.length);
}

TEST_P(HttpClients, DownloadPieceByPiece) {
  const std::string content(2'000'000, 'y');
  server.handler.files = {file(content)};
  std::string received;
  ClientRequest request{.url = url("/files")};
  request.sink = [&](std::string_view piece) -> Status {
    received += piece;
    return Done{};
  };

  EXPECT_EQ(send(request).body, "");
  EXPECT_TRUE(received == content);

  request.sink = [&](std::string_view) -> Status { return fail(Code::OutOfSpace, "enough"); };
  const auto stopped = ask(request);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::OutOfSpace);
  EXPECT_EQ(send({.url = url("/hello")}).body, "hello");
}

TEST_P(HttpClients, KeepTheBodyOfAnErrorFromTheSink) {
  ClientRequest request{.url = url("/refused")};
  request.sink = [](std::string_view) -> Status {
    ADD_FAILURE() << "an error's body reached the sink";
    return Done{};
  };

  const ClientResponse response = send(request);

  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.body, "no");
}

TEST_P(HttpClients, RefuseAnAnswerTooLargeToHold) {
  server.handler.files.assign(65, file(std::string(1u << 20, 'z')));

  const auto response = ask({.url = url("/files")});

  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::TooLarge);
}

TEST_P(HttpClients, GiveUpAfterTheirTimeout) {
  const auto response = ask({.url = url("/later"), .timeout = 30ms});

  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Unavailable);
}

TEST(HttpClient, DoesNotTrustAnUnknownAuthority) {
  RunningServer server;

  const auto response = HttpClient().send({.url = server.url("/hello?sig=secret", true)});

  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Forbidden);
  EXPECT_EQ(response.error().message.find("secret"), std::string::npos);
}

TEST(HttpClient, TellsATransportFailureFromABadAddress) {
  HttpClient client;

  EXPECT_EQ(client.send({.url = "http://127.0.0.1:1/"}).error().code, Code::Unavailable);
  EXPECT_EQ(client.send({.url = "file:///etc/passwd"}).error().code, Code::InvalidArgument);
  EXPECT_EQ(client.send({.url = "http://a/", .headers = {{"A", "b\r\nC: d"}}}).error().code,
            Code::InvalidArgument);
}

}  // namespace
}  // namespace berth::io
