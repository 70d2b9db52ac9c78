// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "io/http/http_server.h"
#include "io/loop.h"
#include "server/arm/shown_jobs.h"
#include "server/arm/template_deployments.h"
#include "server/door/audit_trail.h"
#include "server/door/call.h"
#include "server/door/route.h"
#include "server/door/throttle.h"
#include "server/fleet/node_hub.h"
#include "server/fleet/service_gate.h"
#include "server/mlflow/run_room.h"

namespace berth::server {

struct ApplicationParts {
  io::Loop& loop;
  Services& services;
  NodeHub& nodes;
  std::string owner_token{};
  std::string sealing_key{};  ///< Secure parameters of deployments are encrypted with it.
};

/// The one door: every request is matched, authenticated and allowed on its head alone, before any
/// of its body is read, and its answer leaves only when what it rests on is on disk.
class Application final : public io::HttpHandler {
 public:
  explicit Application(ApplicationParts parts);

  io::Admission admit(const io::RequestHead& head) override;

  /// Goes on with deployments, those included that an earlier server has begun.
  void resume() { template_deployments_.resume(); }

  /// The door for requests of our own.
  Inside inside();

  const RouteTable& table() const { return table_; }
  ServiceGate& gate() { return gate_; }

 private:
  Status check_origin(const io::RequestHead& head) const;
  Principal identify(const io::RequestHead& head, const Route* route) const;
  Result<Principal> show_in(const io::RequestHead& head, const Match& match,
                            const Principal& bearer) const;
  Asked asked_of(const Match& match) const;
  static io::Caller caller_of(const io::RequestHead& head, const Route& route,
                              const Principal& principal);
  Status check_room(const Route& route) const;
  struct Exchange;
  std::function<bool()> guard_of(const std::shared_ptr<Exchange>& exchange) const;
  Status check_still_allowed(const Exchange& exchange) const;
  io::Refuse turn_away(const io::RequestHead& head, const Route* route, const Error& error,
                       const Principal& principal);
  io::Admission let_in(const io::RequestHead& head, Match match, Principal principal);
  io::Admission give_away(const io::RequestHead& head, Match match, Principal principal);
  Status fill(Call& call, const Match& match) const;
  Result<io::Reply> perform(Call& call, const Route& route);
  Result<io::Reply> perform_unguarded(Call& call, const Route& route);
  Status check_inside(const Principal& principal, const io::RequestHead& head) const;
  Result<io::Reply> perform_inside(const Principal& principal, io::Request request);
  void attempt(const std::shared_ptr<Exchange>& exchange);
  void attempt_once(const std::shared_ptr<Exchange>& exchange);
  void answer(const std::shared_ptr<Exchange>& exchange, Result<io::Reply> reply);

  ApplicationParts parts_;
  RouteTable table_;
  AuditTrail audit_;
  PeerThrottle guesses_;
  RunRoom run_room_;
  ShownJobs shown_jobs_;
  TemplateDeployments template_deployments_;
  ServiceGate gate_;
};

}  // namespace berth::server
