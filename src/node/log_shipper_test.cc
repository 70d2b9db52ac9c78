// SPDX-License-Identifier: Apache-2.0
#include "node/log_shipper.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "io/files/temporary_directory.h"

namespace berth::node {
namespace {

/// Keeps what was sent, for the test to answer as it likes.
class RecordingOutbox final : public Outbox {
 public:
  bool is_open() const override { return is_connected; }
  void send(const wire::node::ToServer& message) override {
    chunks.push_back(std::get<wire::node::LogChunk>(message));
  }
  std::size_t queued_bytes() const override { return queued; }
  void redial() override {}

  bool is_connected = true;
  std::size_t queued = 0;
  std::vector<wire::node::LogChunk> chunks{};
};

class LogShipperTest : public testing::Test {
 protected:
  void write(std::string_view bytes) {
    const io::Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    ASSERT_TRUE(io::write_all(file.get(), bytes));
  }

  /// What was sent since the last call.
  std::string sent() {
    std::string bytes;
    for (const auto& chunk : std::exchange(outbox.chunks, {})) bytes += chunk.bytes;
    return bytes;
  }

  io::TemporaryDirectory directory;
  std::string path = directory / "log";
  io::Loop loop;
  RecordingOutbox outbox;
  LogShipper shipper{loop, outbox, {.attempt = 1}, path};
  bool is_done = false;
};

TEST_F(LogShipperTest, SendsWhatIsThereAndLooksForMore) {
  write("one");
  shipper.begin_at_start();
  EXPECT_EQ(sent(), "one");

  write("two");
  while (outbox.chunks.empty()) loop.context().run_one();
  EXPECT_EQ(outbox.chunks[0].offset, 3u);
  EXPECT_EQ(sent(), "two");
}

TEST_F(LogShipperTest, ALogThatDoesNotExistIsAllStored) {
  shipper.begin_at_start();
  shipper.finish([this] { is_done = true; });

  EXPECT_TRUE(is_done);
  EXPECT_EQ(shipper.size(), 0u);
}

TEST_F(LogShipperTest, AsksWhereTheServersCopyEndsAndGoesOnFromThere) {
  write("0123456789");
  shipper.connected();
  ASSERT_EQ(outbox.chunks.size(), 1u);
  EXPECT_EQ(sent(), "") << "a question only";

  shipper.stored(7);

  EXPECT_EQ(outbox.chunks.at(0).offset, 7u);
  EXPECT_EQ(sent(), "789");
}

TEST_F(LogShipperTest, IsFinishedOnlyWhenAllIsStored) {
  write("0123456789");
  shipper.begin_at_start();
  shipper.finish([this] { is_done = true; });
  EXPECT_FALSE(is_done);

  shipper.stored(10);
  EXPECT_TRUE(is_done);
}

TEST_F(LogShipperTest, KeepsOnlyAMebibyteUnderWay) {
  write(std::string(5 << 20, 'x'));
  shipper.begin_at_start();
  EXPECT_EQ(sent().size(), 1u << 20);

  shipper.stored(256 * 1024);
  EXPECT_EQ(sent().size(), 256u * 1024);
}

TEST_F(LogShipperTest, WaitsWhileTheConnectionIsFull) {
  outbox.queued = 5 << 20;
  write("x");
  shipper.begin_at_start();
  EXPECT_TRUE(outbox.chunks.empty());

  outbox.queued = 0;
  while (outbox.chunks.empty()) loop.context().run_one();
  EXPECT_EQ(sent(), "x");
}

TEST_F(LogShipperTest, SendsAgainWhatAFullDiskDidNotTake) {
  write(std::string(512 * 1024, 'x'));
  shipper.begin_at_start();
  ASSERT_EQ(outbox.chunks.size(), 2u);
  sent();

  shipper.stored(0);  // The second chunk was refused for its gap; the first is answered later.
  EXPECT_TRUE(outbox.chunks.empty());
  shipper.stored(0);

  EXPECT_EQ(sent().size(), 512u * 1024);
}

TEST_F(LogShipperTest, StartsOverOnANewConnection) {
  write("0123456789");
  shipper.begin_at_start();
  sent();
  shipper.disconnected();
  shipper.finish([this] { is_done = true; });

  shipper.connected();
  shipper.stored(4);
  EXPECT_EQ(sent(), "456789");
  shipper.stored(10);
  EXPECT_TRUE(is_done);
}

}  // namespace
}  // namespace berth::node
