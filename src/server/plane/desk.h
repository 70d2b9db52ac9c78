// SPDX-License-Identifier: Apache-2.0
// Desks take what users ask for and what nodes report, one for each subject. A desk checks what is
// asked, applies the events, has decided what follows and hands that to the store; what it returns
// is what the answer shows, to be sent after Ledger::when_durable(). Who only reads looks at the
// State. Loop thread only.
#pragma once

#include "base/clock.h"
#include "server/plane/decider.h"
#include "server/plane/ledger.h"
#include "store/store.h"

namespace berth::server {

/// What a desk works with; all of it outlives the desk.
struct DeskParts {
  store::Store& store;
  Ledger& ledger;
  Decider& decider;
  const Clock& clock;
};

}  // namespace berth::server
