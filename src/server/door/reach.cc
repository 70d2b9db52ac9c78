// SPDX-License-Identifier: Apache-2.0
#include "server/door/reach.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/address.h"

namespace berth::server {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

void add(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

}  // namespace

Result<Reach> find_reach(const std::vector<std::string>& bind, const std::string& host_name) {
  Reach reach{.addresses = {kLoopback}, .names = {host_name}};
  std::string everywhere;
  for (const std::string& wanted : bind) {
    const Result<std::string> address = io::find_address(wanted);
    if (!address) {
      return fail(Code::InvalidArgument, fmt::format("--bind: {}", address.error().message));
    }
    if (*address == "0.0.0.0" || *address == "::") {
      everywhere = *address;
      for (const std::string& own : io::own_addresses()) add(reach.names, own);
      continue;
    }
    if (reach.host == kLoopback) reach.host = wanted;
    add(reach.addresses, *address);
    add(reach.names, *address);
    add(reach.names, wanted);
  }
  // All of them at once: loopback is one of them, and cannot be listened on beside it.
  if (!everywhere.empty()) reach.addresses = {everywhere};
  if (!everywhere.empty() && reach.host == kLoopback) reach.host = host_name;
  return reach;
}

}  // namespace berth::server
