// SPDX-License-Identifier: Apache-2.0
// Work that is not meant to end, and what is known of where it answers.
#pragma once

#include <boost/describe.hpp>
#include <string>

#include "base/clock.h"

namespace berth::model {

/// How its node finds out whether a service answers.
struct Probe {
  /// Asked for by HTTP: 200 to 399 is good. Empty: that the port takes a connection is enough.
  std::string path{};
  Duration period = std::chrono::seconds(5);  ///< Until it is ready it is asked more often.
  Duration timeout = std::chrono::seconds(2);
  Duration initial_delay{0};
  int failure_threshold = 3;  ///< So many in a row, and one that was ready is so no more.

  friend bool operator==(const Probe&, const Probe&) = default;
};
BOOST_DESCRIBE_STRUCT(Probe, (), (path, period, timeout, initial_delay, failure_threshold))

enum class RestartWhen { Always, OnFailure, Never };
BOOST_DESCRIBE_ENUM(RestartWhen, Always, OnFailure, Never)

/// What becomes of a service whose process has ended, and not because it was told to.
struct RestartPolicy {
  RestartWhen when = RestartWhen::Always;
  int limit = 0;  ///< Of restarts without ten good minutes between them; 0: none.
  Duration back_off = std::chrono::seconds(1);  ///< Before the first; twice as long each time …
  Duration longest_back_off = std::chrono::minutes(5);  ///< … up to this.

  friend bool operator==(const RestartPolicy&, const RestartPolicy&) = default;
};
BOOST_DESCRIBE_STRUCT(RestartPolicy, (), (when, limit, back_off, longest_back_off))

/// What is asked of a service: it listens on a port of its node's loopback address.
struct ServiceSpec {
  int port = 0;  ///< 0: its node picks a free one. Its command has it in BERTH_SERVICE_PORT.
  Probe probe{};
  RestartPolicy restart{};

  friend bool operator==(const ServiceSpec&, const ServiceSpec&) = default;
};
BOOST_DESCRIBE_STRUCT(ServiceSpec, (), (port, probe, restart))

///   Starting ──(a good probe)──> Ready <──(a good probe)── NotReady
///                                  └──(failure_threshold bad ones)──^
enum class EndpointState { Starting, Ready, NotReady };
BOOST_DESCRIBE_ENUM(EndpointState, Starting, Ready, NotReady)

/// Where an attempt of a service answers on its node, and whether it does.
struct Endpoint {
  EndpointState state = EndpointState::Starting;
  int port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
BOOST_DESCRIBE_STRUCT(Endpoint, (), (state, port))

}  // namespace berth::model
