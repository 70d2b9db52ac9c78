// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "io/files/object_store.h"
#include "io/message/http.h"
#include "model/workspace.h"
#include "server/keys/principal.h"
#include "store/store.h"

namespace berth::server {

class AccessDesk;
class ComputesDesk;
class DeploymentsDesk;
class TemplateDeployments;
class JobsDesk;
class Ledger;
class LogStore;
class LogWaiters;
class NodeHub;
class RunRoom;
class ServiceGate;
class ShownJobs;
class Signer;
class StorageKeeper;
class WorkspacesDesk;
struct Grant;

/// What the process knows about itself; changes only before the first request.
struct ServerFacts {
  std::string home{};
  std::uint16_t port = 0;
  /// Names beside localhost, 127.0.0.1 and [::1] under which the listener is reached.
  std::vector<std::string> host_names{};
};

/// Everything a handler may reach. Lives as long as the server; loop thread only. What is of the
/// State is read in ledger.state() and changed at a desk; other rows go through ledger.write().
struct Services {
  Ledger& ledger;
  JobsDesk& jobs;
  ComputesDesk& computes;
  AccessDesk& access;
  WorkspacesDesk& workspaces;
  DeploymentsDesk& deployments;
  store::Store& store;
  const io::ObjectStore& objects;
  LogStore& logs;
  const Signer& signer;
  const Clock& clock;
  const ServerFacts& facts;
  LogWaiters& log_waiters;
  RunRoom* run_room = nullptr;  ///< Set by the application: how much runs may grow.
  TemplateDeployments* template_deployments =
      nullptr;                       ///< Set by the application, which carries them out.
  StorageKeeper* storage = nullptr;  ///< Null where nothing is ever swept: in some tests.
  NodeHub* nodes = nullptr;          ///< Set by the application, like the next.
  ServiceGate* gate = nullptr;
  ShownJobs* shown_jobs = nullptr;
};

/// How a handler answers that does so later: once, on the loop's thread. There is no call without
/// one, wherever it comes from.
class Respond {
 public:
  using Take = std::function<void(Result<io::Reply>)>;
  explicit Respond(Take take);
  /// A fault on the way out is the request's alone.
  void operator()(Result<io::Reply> reply) const;

 private:
  Take take_;
};

/// One request on its way through a handler.
struct Call {
  io::Request& request;
  Services& services;
  /// For a handler that answers later: it returns later() and calls this once.
  Respond respond;
  Principal principal{};
  /// The {…} of the route's pattern, percent-decoded and checked as resource names.
  std::map<std::string, std::string, std::less<>> parameters{};
  std::vector<std::pair<std::string, std::string>> query{};
  /// Of a route that takes the connection over and ends in "{path...}": what that stands for, as it
  /// was sent, with the slash before it.
  std::string rest{};
  /// The workspace of routes below W; null elsewhere.
  const model::Workspace* workspace = nullptr;
  /// Set by a handler that shows only what is on disk already: its answer does not wait for what
  /// is still on its way there, however slow the disk is.
  bool is_recorded = false;

  /// Aborts when the route has no such parameter.
  const std::string& parameter(std::string_view name) const;
  /// The first query value of that name, ignoring the name's case; empty when there is none.
  std::string query_value(std::string_view name) const;
  /// May the caller do this in the workspace? For handlers of routes that are asked Somewhere.
  bool may(std::string_view action, const model::WorkspaceId& workspace) const;
  /// Signs for the caller: what it gives out dies with what the caller has shown.
  std::string sign(Grant grant) const;
  /// "https://127.0.0.1:8470" as this client reached us, from TLS and the Host header (checked).
  std::string base_url() const;
};

/// Is this Host header one of our own names, with our port? Everything else may be a stranger's
/// page that had its name resolved to this machine.
bool is_own_host(std::string_view host_header, const ServerFacts& facts);

/// Says that the handler keeps `call.respond` and uses it itself.
io::Reply later();
bool is_later(const io::Reply& reply);

io::Reply json_reply(int status, const boost::json::value& body);
/// The body as a JSON object; an empty body is {} when `may_be_empty`.
Result<boost::json::value> json_body(const Call& call, bool may_be_empty = false);

}  // namespace berth::server
