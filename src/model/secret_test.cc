// SPDX-License-Identifier: Apache-2.0
#include "model/secret.h"

#include <gtest/gtest.h>

namespace berth::model {
namespace {

TEST(SecretVariables, AreReadAsTheyAreWritten) {
  const auto read = secret_variables_from(" HF_TOKEN, wandb.key=WANDB_API_KEY ,");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (SecretVariables{{"HF_TOKEN", "HF_TOKEN"}, {"WANDB_API_KEY", "wandb.key"}}));
  EXPECT_EQ(to_text(*read), "HF_TOKEN,wandb.key=WANDB_API_KEY");
  EXPECT_EQ(*secret_variables_from(to_text(*read)), *read);
  EXPECT_TRUE(secret_variables_from("")->empty());
  EXPECT_EQ(to_text(SecretVariables{}), "");
}

TEST(SecretVariables, OfNoUseAreRefused) {
  for (const char* const wrong : {"a/b", "=X", "X=", "wandb.key", "A=1X", "A=X,B=X", "..=X"}) {
    const auto read = secret_variables_from(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().target, "properties.berth.secrets");
  }
  EXPECT_TRUE(secret_variables_from("A=X,A=X,A=Y"));  // One secret may be in two variables.
}

}  // namespace
}  // namespace berth::model
