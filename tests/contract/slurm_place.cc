// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/slurm_place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/random.h"
#include "base/text.h"
#include "io/files/file.h"

namespace berth::target {

SlurmPlace::SlurmPlace() : installation_(random_hex(6)) {
  // A stand-in for `berth node --name ID …` that keeps what it was given.
  EXPECT_TRUE(io::write_file(directory_ / "berth",
                             "#!/bin/sh\ncd " + directory_.path() +
                                 "\nrm -f /tmp/berth-node-$SLURM_JOB_USER-$SLURM_JOB_ID.log\n"
                                 "cat /dev/fd/3 > $3.token; cat /dev/fd/4 > $3.ca\n"
                                 "echo $$ >> $3.starts\nexec sleep 600\n",
                             0700));
  EXPECT_TRUE(io::write_file(authority(),
                             "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"));
}

SlurmPlace::~SlurmPlace() {
  if (!why_not().empty()) return;
  for (const char* site : {"lab", "other"}) {
    const auto provider = make_provider(site);
    EXPECT_TRUE(eventually([&] {
      const auto seen = provider->observe();
      if (!seen) return false;
      bool is_empty = true;
      for (const ObservedNode& node : *seen) {
        if (node.liveness == Liveness::Gone) continue;
        (void)provider->stop(node.id);
        is_empty = false;
      }
      return is_empty;
    }));
  }
}

std::string SlurmPlace::why_not() {
  if (std::getenv("SLURM_CONF") != nullptr) return {};
  if (std::getenv("CI") != nullptr) ADD_FAILURE() << "with CI set there must be a Slurm";
  return "no Slurm: run it by tests/slurm/slurm_cluster.py";
}

std::unique_ptr<NodeProvider> SlurmPlace::make_provider(const std::string& site) {
  return std::make_unique<slurm::SlurmProvider>(
      model::SlurmSettings{.partition = "main", .work_directory = directory_.path()},
      slurm::Owner{installation_, site}, directory_ / "berth");
}

int SlurmPlace::starts_of(const model::NodeId& id) {
  const auto starts = io::read_file(directory_ / (id.text + ".starts"));
  return starts ? static_cast<int>(std::ranges::count(*starts, '\n')) : 0;
}

void SlurmPlace::kill(const model::NodeId& id) {
  const auto starts = io::read_file(directory_ / (id.text + ".starts"));
  ASSERT_TRUE(starts);
  ASSERT_EQ(::kill(std::stoi(std::string(split(trim(*starts), '\n').back())), SIGKILL), 0);
}

}  // namespace berth::target
