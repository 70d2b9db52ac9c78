// SPDX-License-Identifier: Apache-2.0
// What a disk may have done to the files between two servers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

constexpr std::size_t kCommits = 24;
constexpr std::size_t kLogHeader = 32;

/// BERTH_TEST_CUTS for more than a build should wait for.
std::size_t cuts() {
  const char* const asked = std::getenv("BERTH_TEST_CUTS");
  return asked == nullptr ? 60 : std::max<std::size_t>(std::strtoul(asked, nullptr, 10), 1);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class DamageTest : public StoreFixture {
 protected:
  /// One job after the other, each acknowledged. All of them are in the log only.
  DamageTest() {
    for (int number = 1; number <= static_cast<int>(kCommits); ++number) {
      commit({Put<model::Job>{job(number, "j" + std::to_string(number))}});
    }
    database_ = bytes_of(directory() + "/berth.db");
    log_ = bytes_of(directory() + "/berth.db-wal");
  }

  /// What a server gets that starts on these files.
  Result<std::unique_ptr<SqliteStore>> open_copy(const std::string& log) {
    const std::string copy = copies_ / std::to_string(++copied_);
    std::filesystem::create_directory(copy);
    std::ofstream(copy + "/berth.db", std::ios::binary) << database_;
    std::ofstream(copy + "/berth.db-wal", std::ios::binary) << log;
    return SqliteStore::open(copy, loop, objects);
  }

  /// How many jobs a server finds that starts on these files; it must be the first so many.
  std::size_t jobs_found_with(const std::string& log) {
    auto opened = open_copy(log);
    EXPECT_TRUE(opened) << opened.error().message;
    const auto state = opened ? (*opened)->load() : fail(opened.error());
    EXPECT_TRUE(state) << state.error().message;
    if (!state) return 0;
    const std::size_t found = state->jobs.size();
    for (std::size_t number = 1; number <= found; ++number) {
      EXPECT_TRUE(state->jobs.contains({{"w"}, "j" + std::to_string(number)}))
          << "there are " << found << " jobs, and " << number << " is not one of them";
    }
    return found;
  }

  std::string database_{};
  std::string log_{};

 private:
  io::TemporaryDirectory copies_{};
  int copied_ = 0;
};

TEST_F(DamageTest, ALogThatIsCutAnywhereGivesTheCommitsBeforeTheCut) {
  ASSERT_GT(log_.size(), 0u);
  const std::size_t step = std::max<std::size_t>(log_.size() / cuts(), 1);
  std::size_t before = 0;
  for (std::size_t size = 0; size < log_.size(); size += step) {
    const std::size_t found = jobs_found_with(log_.substr(0, size));
    EXPECT_GE(found, before) << "cut at " << size;
    before = found;
  }
  EXPECT_EQ(jobs_found_with(log_), kCommits);
}

TEST_F(DamageTest, ACutWithinTheLastRecordLosesThatOneOnly) {
  for (std::size_t missing = 1; missing <= 4096; missing += 819) {
    EXPECT_EQ(jobs_found_with(log_.substr(0, log_.size() - missing)), kCommits - 1) << missing;
  }
}

TEST_F(DamageTest, AByteOfTheLogThatChangedIsNoticedAndNothingIsForgottenInSilence) {
  std::mt19937 random(11);
  for (std::size_t round = 0; round < cuts() / 2; ++round) {
    const std::size_t at = kLogHeader + random() % (log_.size() - kLogHeader);
    std::string changed = log_;
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));

    const auto opened = open_copy(changed);

    if (opened) {  // Only what a crash could have done to it: the last commit is not whole.
      EXPECT_GE((*opened)->load()->jobs.size(), kCommits - 1) << "byte " << at;
    } else {
      EXPECT_EQ(opened.error().code, Code::Internal) << "byte " << at;
      EXPECT_NE(opened.error().message.find("truncate -s"), std::string::npos);
    }
  }
}

TEST_F(DamageTest, TheAdviceOfTheMessageWorks) {
  std::string changed = log_;
  changed[log_.size() / 2] ^= 1;
  const auto refused = open_copy(changed);
  ASSERT_FALSE(refused);
  const std::string& message = refused.error().message;
  const std::size_t good = std::stoul(message.substr(message.find("truncate -s ") + 12));

  const std::size_t found = jobs_found_with(changed.substr(0, good));

  EXPECT_GT(found, kCommits / 2 - 3);
  EXPECT_LT(found, kCommits);
}

TEST_F(DamageTest, ALogThatACrashLeftBeginsAnewSoThatItsEndCannotBeMistakenLater) {
  store.reset();
  EXPECT_EQ(bytes_of(directory() + "/berth.db-wal"), "");
  std::ofstream(directory() + "/berth.db", std::ios::binary | std::ios::trunc) << database_;
  std::ofstream(directory() + "/berth.db-wal", std::ios::binary | std::ios::trunc)
      << log_.substr(0, log_.size() - 1);

  reopen();

  EXPECT_EQ(store->load()->jobs.size(), kCommits - 1);
  EXPECT_EQ(bytes_of(directory() + "/berth.db-wal"), "");
}

TEST_F(DamageTest, ADatabaseThatIsDamagedSaysWhichFileAndWhatToDo) {
  store.reset();  // Moves the log into the database.
  const std::string path = directory() + "/berth.db";
  std::string damaged = bytes_of(path);
  ASSERT_GT(damaged.size(), 8192u);
  for (std::size_t at = 4096; at < damaged.size(); ++at) damaged[at] = static_cast<char>(at * 7);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;

  auto opened = SqliteStore::open(directory(), loop, objects);
  const Error error = opened ? (*opened)->load().error() : opened.error();

  EXPECT_EQ(error.code, Code::Internal);
  for (const std::string word : {path.c_str(), "damaged", "backup", ".recover"}) {
    EXPECT_NE(error.message.find(word), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace berth::store
