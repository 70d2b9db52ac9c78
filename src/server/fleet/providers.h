// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/offload.h"
#include "model/site.h"
#include "target/node_provider.h"

namespace berth::server {

/// The node provider of each site, made when it is first needed, each with a thread of its own: a
/// site that hangs delays only itself. Loop thread only.
class Providers {
 public:
  using Make =
      std::function<Result<std::unique_ptr<target::NodeProvider>>(const model::Site& site)>;
  using MakeThread = std::function<std::unique_ptr<io::Offload>()>;

  Providers(Make make, MakeThread make_thread)
      : make_(std::move(make)), make_thread_(std::move(make_thread)) {}

  struct Entry {
    std::shared_ptr<target::NodeProvider> provider;
    io::Offload& thread;
  };
  /// Made anew when the site's settings have changed.
  Result<Entry> of(const model::Site& site);

 private:
  struct Kept {
    model::Site site;
    std::shared_ptr<target::NodeProvider> provider;
    std::unique_ptr<io::Offload> thread;
  };

  Make make_;
  MakeThread make_thread_;
  std::map<std::string, Kept> kept_;
};

}  // namespace berth::server
