// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "io/files/temporary_directory.h"
#include "target/slurm/slurm_provider.h"
#include "tests/contract/place.h"

namespace berth::target {

/// The Slurm that SLURM_CONF names: tests/slurm/slurm_cluster.py starts one. Every place is another
/// installation on it.
class SlurmPlace final : public Place {
 public:
  SlurmPlace();
  ~SlurmPlace() override;

  std::string why_not() override;
  std::string authority() override { return directory_ / "ca.pem"; }
  std::unique_ptr<NodeProvider> make_provider() override { return make_provider("lab"); }
  std::unique_ptr<NodeProvider> make_provider(const std::string& site);
  int starts_of(const model::NodeId& id) override;
  void kill(const model::NodeId& id) override;
  const std::string& folder() const { return directory_.path(); }

 private:
  io::TemporaryDirectory directory_;
  std::string installation_;
};

}  // namespace berth::target
