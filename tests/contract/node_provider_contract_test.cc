// SPDX-License-Identifier: Apache-2.0
// What every NodeProvider promises. A provider joins by adding a Place to kPlaces.
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "base/record.h"
#include "io/files/file.h"
#include "io/files/temporary_directory.h"
#include "io/process/process.h"
#include "target/fake/fake_provider.h"
#include "target/local/local_provider.h"
#include "tests/contract/slurm_place.h"

namespace berth::target {
namespace {

class FakePlace final : public Place {
 public:
  std::unique_ptr<NodeProvider> make_provider() override {
    return std::make_unique<fake::FakeProvider>(nodes_);
  }
  int starts_of(const model::NodeId& id) override { return nodes_->nodes[id].starts; }
  void kill(const model::NodeId& id) override { nodes_->nodes[id].liveness = Liveness::Gone; }

 private:
  std::shared_ptr<fake::FakeNodes> nodes_ = std::make_shared<fake::FakeNodes>();
};

class LocalPlace final : public Place {
 public:
  LocalPlace() {
    // A stand-in for `berth node --name ID --home HOME --slots N`.
    EXPECT_TRUE(io::write_file(directory_ / "berth",
                               "#!/bin/sh\necho $$ >> $5/$3.starts\nexec sleep 600\n", 0700));
    EXPECT_TRUE(io::make_directories(directory_ / "home"));
  }
  ~LocalPlace() override {
    const auto provider = make_provider();
    const auto seen = provider->observe();
    for (const ObservedNode& node : *seen) (void)provider->stop(node.id);
  }

  std::unique_ptr<NodeProvider> make_provider() override {
    return std::make_unique<local::LocalProvider>(directory_ / "berth", directory_ / "home");
  }

  int starts_of(const model::NodeId& id) override {
    const auto starts = io::read_file(directory_ / ("home/" + id.text + ".starts"));
    return starts ? static_cast<int>(std::ranges::count(*starts, '\n')) : 0;
  }

  void kill(const model::NodeId& id) override {
    const auto starts = io::read_file(directory_ / ("home/" + id.text + ".starts"));
    ASSERT_TRUE(starts);
    ASSERT_EQ(::kill(std::stoi(*starts), SIGKILL), 0);
  }

 private:
  io::TemporaryDirectory directory_;
};

struct PlaceCase {
  const char* name;
  std::function<std::unique_ptr<Place>()> make;
};

const PlaceCase kPlaces[] = {
    {"Fake", [] { return std::make_unique<FakePlace>(); }},
    {"Local", [] { return std::make_unique<LocalPlace>(); }},
    {"Slurm", [] { return std::make_unique<SlurmPlace>(); }},
};

class NodeProviderContract : public testing::TestWithParam<PlaceCase> {
 protected:
  std::optional<Liveness> liveness_of(const model::NodeId& id) {
    const auto seen = provider->observe();
    EXPECT_TRUE(seen);
    std::optional<Liveness> found;
    for (const ObservedNode& node : *seen) {
      if (node.id != id) continue;
      EXPECT_FALSE(found) << "listed twice";
      found = node.liveness;
    }
    return found;
  }

  void SetUp() override {
    if (const std::string why = place->why_not(); !why.empty()) GTEST_SKIP() << why;
  }

  NodeSpec spec_of(const char* id) {
    return {.id = {id},
            .token = "token",
            .slots = 2,
            .server_url = "https://127.0.0.1:1",
            .ca_file = place->authority()};
  }

  void start(const char* id) {
    const Status started = provider->start(spec_of(id));
    ASSERT_TRUE(started) << started.error().message;
    ASSERT_TRUE(eventually([&] { return place->starts_of({id}) > 0; }));
  }

  /// A site may let it end in good order first.
  bool goes(const model::NodeId& id) {
    return eventually([&] { return liveness_of(id).value_or(Liveness::Gone) == Liveness::Gone; });
  }

  std::unique_ptr<Place> place = GetParam().make();
  std::unique_ptr<NodeProvider> provider = place->make_provider();
};

TEST_P(NodeProviderContract, SeesNothingBeforeAnythingWasStarted) {
  EXPECT_TRUE(provider->observe()->empty());
}

TEST_P(NodeProviderContract, ANodeThatWasStartedIsThere) {
  start("n1");

  EXPECT_TRUE(eventually([&] { return liveness_of({"n1"}) == Liveness::Running; }));
}

TEST_P(NodeProviderContract, StartingAnIdTwiceStartsOneThing) {
  start("n1");
  start("n1");
  ASSERT_TRUE(provider->stop({"n1"}));
  ASSERT_TRUE(goes({"n1"}));

  EXPECT_EQ(place->starts_of({"n1"}), 1);
}

TEST_P(NodeProviderContract, NodesAreIndependent) {
  start("n1");
  start("n2");

  ASSERT_TRUE(provider->stop({"n1"}));

  EXPECT_TRUE(goes({"n1"}));
  EXPECT_EQ(liveness_of({"n2"}), Liveness::Running);
}

TEST_P(NodeProviderContract, ANodeThatDiesIsSeenGoneAndCanBeStartedAgain) {
  start("n1");
  place->kill({"n1"});
  EXPECT_TRUE(eventually([&] { return liveness_of({"n1"}) == Liveness::Gone; }));

  start("n1");
  EXPECT_TRUE(eventually([&] { return place->starts_of({"n1"}) == 2; }));
  EXPECT_TRUE(eventually([&] { return liveness_of({"n1"}) == Liveness::Running; }));
}

TEST_P(NodeProviderContract, StoppingIsRepeatable) {
  start("n1");

  EXPECT_TRUE(provider->stop({"n1"}));
  EXPECT_TRUE(goes({"n1"}));
  EXPECT_TRUE(provider->stop({"n1"}));
  EXPECT_TRUE(provider->stop({"never-started"}));
}

TEST_P(NodeProviderContract, ANewProviderFindsTheNodesOfTheOldOne) {
  start("n1");

  provider = place->make_provider();

  EXPECT_TRUE(eventually([&] { return liveness_of({"n1"}) == Liveness::Running; }));
  start("n1");
  EXPECT_TRUE(provider->stop({"n1"}));
  EXPECT_TRUE(goes({"n1"}));
  EXPECT_EQ(place->starts_of({"n1"}), 1);
}

TEST_P(NodeProviderContract, RefusesIdsThatCouldBePaths) {
  for (const char* id : {"", "..", "../n1", "a/b"}) {
    const Status refused = provider->start(spec_of(id));
    ASSERT_FALSE(refused) << id;
    EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NodeProviderContract, testing::ValuesIn(kPlaces),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace berth::target
