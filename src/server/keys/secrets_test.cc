// SPDX-License-Identifier: Apache-2.0
#include "server/keys/secrets.h"

#include <gtest/gtest.h>

#include "store/fake_store.h"

namespace berth::server {
namespace {

class SecretsTest : public testing::Test {
 protected:
  SecretsTest() {
    job.key = {{"w"}, "j"};
    job.created_by_user = {"ana-id"};
    command_of(job.spec.edit()).secrets = {{"HF_TOKEN", "HF_TOKEN"}};
  }

  void set(const std::string& owner, const std::string& name, const std::string& value) {
    const model::SecretKey key{{"w"}, owner, name};
    put({.key = key, .sealed = seal_secret(signer, key, value)});
  }
  void put(const model::Secret& secret) {
    store.commit({store::PutSecret{secret}}, [](const Status&) {});
    store.complete();
  }
  void remove(const std::string& owner, const std::string& name) {
    store.commit({store::DeleteSecret{{{"w"}, owner, name}}}, [](const Status&) {});
    store.complete();
  }
  std::string value() {
    const auto opened = open_secrets(store, signer, job);
    return opened ? opened->at("HF_TOKEN") : "refused: " + opened.error().message;
  }

  store::FakeStore store;
  Signer signer{"key"};
  model::Job job;
};

TEST_F(SecretsTest, OnesOwnComeBeforeSharedOnes) {
  set(model::kSharedSecrets, "HF_TOKEN", "shared");
  set("bo-id", "HF_TOKEN", "his");
  EXPECT_EQ(value(), "shared");
  set("ana-id", "HF_TOKEN", "hers");
  EXPECT_EQ(value(), "hers");
  set("ana-id", "HF_TOKEN", "hers, changed");
  EXPECT_EQ(value(), "hers, changed");
}

TEST_F(SecretsTest, TheOwnersAreNoUsers) {
  set(model::kOwnerName, "HF_TOKEN", "the owner's");
  EXPECT_FALSE(check_secrets(store, job));
  job.created_by_user = {};
  EXPECT_EQ(value(), "the owner's");
}

TEST_F(SecretsTest, OneThatIsNotThereIsNamed) {
  set("ana-id", "HF_TOKEN", "x");
  set("bo-id", "HF_TOKN", "x");  // Others' are not told of.
  command_of(job.spec.edit()).secrets = {{"T", "HF_TOKEM"}};
  const Status checked = check_secrets(store, job);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("did you mean 'HF_TOKEN'?"), std::string::npos);
  command_of(job.spec.edit()).secrets = {{"HF_TOKEN", "HF_TOKEN"}};
  EXPECT_TRUE(check_secrets(store, job));
  remove("ana-id", "HF_TOKEN");
  EXPECT_EQ(value(), "refused: its secret 'HF_TOKEN' was deleted after it was submitted");
}

TEST_F(SecretsTest, ASealedValueIsOfNoUseInAnotherPlaceOrWithAnotherKey) {
  const model::SecretKey shared{{"w"}, model::kSharedSecrets, "HF_TOKEN"};
  put({.key = {{"w"}, "ana-id", "HF_TOKEN"}, .sealed = seal_secret(signer, shared, "x")});
  EXPECT_TRUE(value().starts_with("refused: its secret 'HF_TOKEN' cannot be read")) << value();
  const model::SecretKey hers{{"w"}, "ana-id", "HF_TOKEN"};
  put({.key = hers, .sealed = seal_secret(Signer("other"), hers, "x")});
  EXPECT_TRUE(value().starts_with("refused: its secret 'HF_TOKEN' cannot be read")) << value();
}

TEST_F(SecretsTest, OfOneJobAreBoundedTogether) {
  const std::string large(kLongestSecret, 'x');
  for (const char* const name : {"A", "B", "C"}) set("ana-id", name, large);
  command_of(job.spec.edit()).secrets = {{"A", "A"}};
  EXPECT_TRUE(check_secrets(store, job));
  EXPECT_TRUE(open_secrets(store, signer, job));
  command_of(job.spec.edit()).secrets = {{"A", "A"}, {"B", "B"}, {"C", "C"}};
  EXPECT_FALSE(check_secrets(store, job));
  EXPECT_FALSE(open_secrets(store, signer, job));
}

}  // namespace
}  // namespace berth::server
