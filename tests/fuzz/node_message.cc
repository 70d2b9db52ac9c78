// SPDX-License-Identifier: Apache-2.0
// What server and nodes say to each other. The first byte tells text from binary.

#include "fuzz.h"
#include "wire/node/message.h"

using namespace berth;
using namespace berth::wire::node;

namespace {

template <typename Decode>
void read(Decode decode, std::string_view data, bool binary) {
  const auto message = decode(data, binary);
  if (!message || !*message) return;
  const Frame frame = encode(**message);
  const auto again = decode(frame.data, frame.binary);
  fuzz::require(again && *again && (*again)->index() == (*message)->index(),
                "what was read can be sent again");
}

}  // namespace

FUZZ(input) {
  if (input.empty()) return;
  const bool binary = input.front() == 'b';
  input.remove_prefix(1);
  read(decode_to_server, input, binary);
  read(decode_to_node, input, binary);
}
