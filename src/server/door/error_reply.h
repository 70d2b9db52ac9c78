// SPDX-License-Identifier: Apache-2.0
// Errors in the words of whoever asks: each family of clients reads only its own.
#pragma once

#include "base/result.h"
#include "io/message/http.h"

namespace berth::server {

/// As ARM's clients expect it, or MLflow's below /mlflow/.
io::Reply error_reply(const io::RequestHead& head, const Error& error);

/// There is no route: `error` is what RouteTable::find said.
io::Reply no_route_reply(const io::RequestHead& head, const Error& error);

/// Too many wrong tokens came from there.
io::Reply throttled_reply(const io::RequestHead& head);

}  // namespace berth::server
