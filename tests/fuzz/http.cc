// SPDX-License-Identifier: Apache-2.0
// A request's head and chunks. However the bytes are cut into packets, the request is the same one:
// where it is not, two readers of one connection could disagree about where a request ends.

#include "fuzz.h"
#include "io/message/request_parser.h"

using namespace berth;

namespace {

struct Seen {
  int status = 0;
  bool is_done = false;
  std::size_t taken = 0;
  std::string method{}, path{}, query{}, body{};
  io::Headers headers{};
};

/// As a session does it: the parser is offered all that has arrived and was not taken.
Seen read(std::string_view bytes, std::size_t piece) {
  constexpr std::uint32_t kHeadLimit = 4096;
  io::RequestParser parser(kHeadLimit);
  Seen seen;
  parser.set_body(&seen.body);
  std::size_t arrived = 0;
  while (!parser.failure() && !parser.is_done()) {
    const std::size_t taken = parser.feed(bytes.substr(seen.taken, arrived - seen.taken));
    seen.taken += taken;
    fuzz::require(seen.taken <= arrived, "no more is taken than has arrived");
    if (taken > 0) continue;
    if (arrived == bytes.size()) break;
    arrived = std::min(arrived + piece, bytes.size());
  }
  if (parser.failure()) return {.status = parser.failure()->status};
  seen.is_done = parser.is_done();
  seen.method = parser.head().method;
  seen.path = parser.head().path;
  seen.query = parser.head().query;
  seen.headers = parser.head().headers;
  return seen;
}

}  // namespace

FUZZ(input) {
  if (input.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(input.front()) % 7;
  input.remove_prefix(1);
  const Seen whole = read(input, input.size() + 1);
  const Seen pieces = read(input, piece);
  if (whole.is_done || pieces.is_done) {
    fuzz::require(whole.status == pieces.status, "pieces fail as the whole does");
    fuzz::require(whole.is_done == pieces.is_done && whole.taken == pieces.taken,
                  "pieces end where the whole does");
    fuzz::require(whole.method == pieces.method && whole.path == pieces.path &&
                      whole.query == pieces.query && whole.headers == pieces.headers &&
                      whole.body == pieces.body,
                  "pieces say what the whole does");
    for (const auto& [name, value] : whole.headers) {
      fuzz::require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos,
                    "no header's value holds a line's end");
    }
  }
  (void)io::parse_query(whole.query);
}
