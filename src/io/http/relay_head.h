// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/http/relay.h"
#include "io/message/answer_parser.h"
#include "io/message/http.h"

namespace berth::io {

/// How a message's body is told apart from what follows it. At most one of the two.
struct BodyMark {
  bool is_chunked = false;
  std::optional<std::uint64_t> length{};
};

/// How a request leaves for the upstream.
struct RequestMark {
  BodyMark body{};
  bool is_http11 = true;    ///< The client's; to the upstream it is 1.1 always.
  bool may_upgrade = true;  ///< A request with a body cannot.
};

/// The head of a request as the upstream gets it, to the empty line that ends it.
std::string relayed_request(const RequestHead& head, const RequestMark& mark,
                            const RelayPlan& plan);

/// True when relayed_request asks the upstream to change the protocol.
bool asks_for_upgrade(const RequestHead& head, const RequestMark& mark);

/// How an answer leaves for the client.
struct AnswerMark {
  BodyMark body{};
  bool keep_alive = true;
  bool is_upgrade = false;  ///< A 101.
};

/// The head of an answer as the client gets it, to the empty line that ends it.
std::string relayed_answer(const AnswerParser& answer, const AnswerMark& mark,
                           const HeaderPatch& patch);

}  // namespace berth::io
