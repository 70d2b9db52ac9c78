// SPDX-License-Identifier: Apache-2.0
// Signed addresses and tokens. What is accepted must be what we would sign ourselves.

#include "fuzz.h"
#include "server/keys/signer.h"

using namespace berth;
using server::Signer;

FUZZ(input) {
  static const Signer signer("the key of the fuzzer");
  if (const auto token = signer.check_job_token(input)) {
    fuzz::require(signer.job_token(token->job, token->attempt) == input, "a job's token is ours");
  }
  if (const auto node = signer.check_node_token(input)) {
    fuzz::require(signer.node_token(*node) == input, "a node's token is ours");
  }
  const auto grant = signer.check({"workspace"}, "container", input, WallTime{});
  if (!grant) return;
  const auto signature_of = [](std::string_view query) {
    return std::string(query.substr(std::min(query.find("sig="), query.size())));
  };
  fuzz::require(!signature_of(signer.sign(*grant)).empty(), "a grant can be signed again");
  fuzz::require(!server::covers(*grant, "../x"), "no grant covers what is outside");
}
