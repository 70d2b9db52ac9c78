// SPDX-License-Identifier: Apache-2.0
// Which versions of an asset a list is to show, as the query of the request says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/assets/asset.h"
#include "server/door/call.h"

namespace berth::server {

class VersionFilter {
 public:
  /// `$tags` or `tags`, `properties` ("k1,k2=v2"), `version`, `description` (a part of it),
  /// `offset`.
  static Result<VersionFilter> of(const Call& call);

  bool takes(const model::Asset& asset) const;
  /// For the store, which looks for one only; empty when there is none.
  std::string first_tag() const { return tags_.empty() ? std::string() : tags_.front().first; }
  /// How many to leave out before the first page.
  std::size_t offset() const { return offset_; }

 private:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  Pairs tags_;
  Pairs properties_;
  std::string version_;
  std::string description_;
  std::size_t offset_ = 0;
};

}  // namespace berth::server
