// SPDX-License-Identifier: Apache-2.0
#include "node/shim/handover.h"

namespace berth::node {

std::string encode(const Handover& handover) {
  std::string message = handover.directory + '\0';
  for (const auto& [name, value] : handover.secrets) {
    message += name;
    message += '=';
    message += value;
    message += '\0';
  }
  return message;
}

Handover decode_handover(std::string_view message) {
  Handover handover;
  const auto next = [&] {
    const std::size_t end = message.find('\0');
    const std::string_view part = message.substr(0, end);
    message.remove_prefix(end == message.npos ? message.size() : end + 1);
    return part;
  };
  handover.directory = next();
  while (!message.empty()) {
    const std::string_view variable = next();
    const std::size_t equals = variable.find('=');
    if (equals == variable.npos) continue;
    handover.secrets.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return handover;
}

}  // namespace berth::node
