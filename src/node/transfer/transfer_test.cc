// SPDX-License-Identifier: Apache-2.0
#include "node/transfer/transfer.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace berth::node {
namespace {

using Steps = std::vector<TransferStep>;

class TransferTest : public testing::Test {
 protected:
  std::shared_ptr<Transfer> make(TransferOptions options = {}) {
    return std::make_shared<Transfer>(loop, threads, "/dir", options);
  }

  /// A step that fails as told, one outcome a try, and then works.
  TransferStep step(const std::string& name, std::vector<Code> failures = {}, Steps more = {}) {
    auto left = std::make_shared<std::vector<Code>>(failures.rbegin(), failures.rend());
    return {.run = [this, name, left, more](const TransferView&) -> Result<Steps> {
              tries.push_back(name);
              if (left->empty()) return more;
              const Code code = left->back();
              left->pop_back();
              return fail(code, "trouble");
            },
            .what = name};
  }

  Transfer::OnDone note_end() {
    return [this](std::vector<Error> found) { errors = std::move(found); };
  }
  void run_until_done() {
    while (!errors) loop.context().run_one();
  }

  io::Loop loop;
  io::InlineOffload threads;
  std::vector<std::string> tries{};
  std::optional<std::vector<Error>> errors{};
};

TEST_F(TransferTest, NothingToDoIsDoneAtOnce) {
  make()->start({}, note_end());

  ASSERT_TRUE(errors);
  EXPECT_TRUE(errors->empty());
}

TEST_F(TransferTest, WaitsForAddressesAndThenDoesEverything) {
  const auto transfer = make();
  transfer->start({step("a"), step("b", {}, {step("b1"), step("b2")})}, note_end());
  EXPECT_TRUE(tries.empty());

  transfer->resume({});

  EXPECT_EQ(tries, (std::vector<std::string>{"a", "b", "b1", "b2"}));
  ASSERT_TRUE(errors);
  EXPECT_TRUE(errors->empty());
}

TEST_F(TransferTest, RepeatsWhatMayPass) {
  const auto transfer = make();
  transfer->start({step("a", {Code::Unavailable, Code::Internal})}, note_end());
  transfer->resume({});
  run_until_done();

  EXPECT_EQ(tries.size(), 3u);
  EXPECT_TRUE(errors->empty());
}

TEST_F(TransferTest, CollectsWhatFailedAndGoesOn) {
  const auto transfer = make();
  transfer->start({step("a", {Code::NotFound}), step("b")}, note_end());
  transfer->resume({});

  EXPECT_EQ(tries, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(errors->size(), 1u);
  EXPECT_EQ((*errors)[0].message, "a: trouble");
}

TEST_F(TransferTest, StopsAtTheFirstErrorWhenToldTo) {
  const auto transfer = make({.stop_at_first_error = true});
  transfer->start({step("a", {Code::NotFound}), step("b")}, note_end());
  transfer->resume({});

  EXPECT_EQ(tries, std::vector<std::string>{"a"});
  EXPECT_EQ(errors->size(), 1u);
}

TEST_F(TransferTest, AFullDiskIsWorthWaitingForOnlyWhenPatient) {
  const auto patient = make({.is_patient = true});
  patient->start({step("a", {Code::OutOfSpace})}, note_end());
  patient->resume({});
  run_until_done();
  EXPECT_TRUE(errors->empty());

  const auto impatient = make();
  impatient->start({step("b", {Code::OutOfSpace})}, note_end());
  impatient->resume({});
  EXPECT_EQ(errors->size(), 1u);
}

TEST_F(TransferTest, ARefusedSignatureIsRenewedOnce) {
  const auto transfer = make();
  int refreshes = 0;
  transfer->on_refused([&] { ++refreshes; });
  transfer->start({step("a", {Code::Forbidden, Code::Forbidden})}, note_end());
  transfer->resume({});
  EXPECT_EQ(refreshes, 1);
  EXPECT_FALSE(errors);

  transfer->resume({});

  EXPECT_EQ(refreshes, 1);
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->size(), 1u);
}

TEST_F(TransferTest, WhatIsAbortedSaysNothing) {
  const auto transfer = make();
  transfer->start({step("a")}, note_end());
  transfer->abort();
  transfer->resume({});

  EXPECT_TRUE(tries.empty());
  EXPECT_FALSE(errors);
}

}  // namespace
}  // namespace berth::node
