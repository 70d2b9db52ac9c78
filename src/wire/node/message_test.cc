// SPDX-License-Identifier: Apache-2.0
#include "wire/node/message.h"

#include <gtest/gtest.h>

namespace berth::wire::node {
namespace {

using namespace std::chrono_literals;

const AttemptRef kAttempt{.job = {.workspace = {"ws"}, .name = "train"}, .attempt = 2};

template <typename T>
T to_node_and_back(const T& message) {
  const Frame frame = encode(ToNode(message));
  EXPECT_FALSE(frame.binary);
  const auto decoded = decode_to_node(frame.data, frame.binary);
  EXPECT_TRUE(decoded && *decoded && std::holds_alternative<T>(**decoded)) << frame.data;
  return std::get<T>(**decoded);
}

template <typename T>
T to_server_and_back(const T& message) {
  const Frame frame = encode(ToServer(message));
  const auto decoded = decode_to_server(frame.data, frame.binary);
  EXPECT_TRUE(decoded && *decoded && std::holds_alternative<T>(**decoded)) << frame.data;
  return std::get<T>(**decoded);
}

TEST(Message, ALaunchArrivesWhole) {
  const Launch sent{{.command = "echo \"hi\"\n",
                     .environment = {{"A", "1"}},
                     .secrets = {{"S", "s"}},
                     .fetches = {{.url = "http://h/c?sig=1",
                                  .destination = "code",
                                  .is_folder = true,
                                  .prefix = "p/",
                                  .what = "code"}},
                     .directories = {"wd/outputs"},
                     .deliveries = {{.source = "wd/outputs",
                                     .container_url = "http://h/c?sig=2",
                                     .prefix = "x/",
                                     .only_changed = true,
                                     .what = "outputs"}},
                     .timeout = 90s},
                    kAttempt,
                    1u << 30};

  const Launch got = to_node_and_back(sent);

  EXPECT_EQ(got.attempt, kAttempt);
  EXPECT_EQ(got.command, sent.command);
  EXPECT_EQ(got.working_directory, "wd");
  EXPECT_EQ(got.environment, sent.environment);
  EXPECT_EQ(got.secrets, sent.secrets);
  ASSERT_EQ(got.fetches.size(), 1u);
  EXPECT_EQ(got.fetches[0].prefix, "p/");
  EXPECT_TRUE(got.fetches[0].is_folder);
  ASSERT_EQ(got.deliveries.size(), 1u);
  EXPECT_TRUE(got.deliveries[0].only_changed);
  EXPECT_EQ(got.directories, sent.directories);
  EXPECT_EQ(got.timeout, 90s);
  EXPECT_EQ(got.memory_limit_bytes, sent.memory_limit_bytes);
}

TEST(Message, ALaunchOfAnEarlierServerIsUnderstood) {
  const auto decoded = decode_to_node(
      R"({"kind":"Launch","attempt":{"job":{"workspace":"w","name":"j"},"attempt":2,"fence":"f"},)"
      R"("command":"true","working_directory":"wd","environment":{"A":"1"},"grace":10000,)"
      R"("deliveries":[{"source":"wd/outputs","only_on_success":false}],"timeout":90,)"
      R"("cpu_limit":2,"starter":"Shim"})",
      false);

  ASSERT_TRUE(decoded && *decoded);
  const Launch& launch = std::get<Launch>(**decoded);
  EXPECT_EQ(launch.attempt, (AttemptRef{{{"w"}, "j"}, 2, "f"}));
  EXPECT_EQ(launch.command, "true");
  EXPECT_EQ(launch.environment.at("A"), "1");
  EXPECT_EQ(launch.deliveries.at(0).source, "wd/outputs");
  EXPECT_EQ(launch.timeout, 90s);
  EXPECT_EQ(launch.cpu_limit, 2.0);
}

TEST(Message, TheSmallOnesArriveWhole) {
  EXPECT_EQ(to_node_and_back(Welcome{"1.2"}).server_version, "1.2");
  EXPECT_EQ(to_node_and_back(Stop{kAttempt}).attempt, kAttempt);
  EXPECT_EQ(to_node_and_back(Forget{kAttempt}).attempt, kAttempt);
  EXPECT_EQ(to_node_and_back(LogStored{kAttempt, 1ull << 40}).size, 1ull << 40);
  EXPECT_EQ(to_node_and_back(Leave{"idle"}).reason, "idle");
  EXPECT_EQ(to_server_and_back(Advanced{kAttempt, Phase::Finalizing}).phase, Phase::Finalizing);
  EXPECT_EQ(to_server_and_back(WorkAhead{3}).attempts, 3);
  EXPECT_EQ(to_server_and_back(Returned{kAttempt}).attempt, kAttempt);
}

TEST(Message, HelloCarriesWhatTheNodeHolds) {
  const Hello got = to_server_and_back(Hello{.node = {"n1"},
                                             .version = "1",
                                             .slots = 4,
                                             .work_root = "/w",
                                             .attempts = {{kAttempt, Phase::Running}}});

  EXPECT_EQ(got.node.text, "n1");
  EXPECT_EQ(got.slots, 4);
  ASSERT_EQ(got.attempts.size(), 1u);
  EXPECT_EQ(got.attempts[0].attempt, kAttempt);
  EXPECT_EQ(got.attempts[0].phase, Phase::Running);
}

TEST(Message, EndedCarriesTheOutcome) {
  const Ended sent{.attempt = kAttempt,
                   .outcome = {model::Ending::Signaled, 0, 11, "segfault"},
                   .log_size = 7,
                   .delivery_errors = {"output 'x': gone"}};

  const Ended got = to_server_and_back(sent);

  EXPECT_EQ(got.outcome, sent.outcome);
  EXPECT_EQ(got.log_size, 7u);
  EXPECT_EQ(got.delivery_errors, sent.delivery_errors);
}

TEST(Message, ALogChunkCarriesAnyBytes) {
  const std::string bytes("\n\0\xff{}\n", 6);

  const Frame frame = encode(ToServer(LogChunk{kAttempt, 5, bytes}));
  EXPECT_TRUE(frame.binary);
  EXPECT_EQ(to_server_and_back(LogChunk{kAttempt, 5, bytes}).bytes, bytes);
  EXPECT_EQ(to_server_and_back(LogChunk{kAttempt, 5, ""}).offset, 5u);
}

TEST(Message, UnknownKindsAreIgnored) {
  const auto unknown = decode_to_node(R"({"kind":"Dance","to":1})", false);
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
  const auto also_unknown = decode_to_server(R"({"kind":"Dance"})", false);
  ASSERT_TRUE(also_unknown);
  EXPECT_FALSE(*also_unknown);
}

TEST(Message, BrokenFramesAreErrors) {
  EXPECT_FALSE(decode_to_node("{", false));
  EXPECT_FALSE(decode_to_node("[]", false));
  EXPECT_FALSE(decode_to_node(R"({"no":"kind"})", false));
  EXPECT_FALSE(decode_to_node(R"({"kind":"Stop","attempt":7})", false));
  EXPECT_FALSE(decode_to_server("no newline", true));
  EXPECT_FALSE(decode_to_server("{\"kind\":\"Hello\"}\nbytes", true));
  EXPECT_FALSE(decode_to_server("{\"kind\":\"LogChunk\"}", false));
}

TEST(Message, AnAttemptsDirectoryIsUniqueToIt) {
  EXPECT_EQ(attempt_directory(kAttempt), "ws/train/2");
  EXPECT_EQ(attempt_directory({.job = kAttempt.job, .attempt = 2, .fence = "0a1b"}),
            "ws/train/2-0a1b");
}

TEST(Message, AServiceArrivesWholeAndSaysWhetherItAnswers) {
  Launch sent{{.command = "serve"}, kAttempt};
  sent.service = model::ServiceSpec{.port = 8000, .probe = {.path = "/health", .period = 1500ms}};
  EXPECT_EQ(to_node_and_back(sent).service, sent.service);
  EXPECT_FALSE(to_node_and_back(Launch{{.command = "true"}, kAttempt}).service);

  const model::Endpoint ready{model::EndpointState::Ready, 8000};
  EXPECT_EQ(to_server_and_back(Serving{kAttempt, ready}).endpoint, ready);
}

TEST(Message, ConnectionsAreParkedForOneAttempt) {
  EXPECT_EQ(parking_path({"n 1"}, {{{"ws"}, "web"}, 3, "f00"}),
            "/berth/v1/nodes/n%201/services/ws/web/3/f00");
}

}  // namespace
}  // namespace berth::wire::node
