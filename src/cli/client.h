// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/discovery.h"
#include "cli/output/console.h"
#include "io/http/http_client.h"
#include "model/workspace.h"

namespace berth::cli {

namespace json = boost::json;

/// Tells where the server is. `again` says that the last answer did not hold: look closer, and
/// start a server if need be.
using Locate = std::function<Result<Endpoint>(bool again)>;

/// The path of a link that the server built from the address we reached it by.
std::string path_of_link(std::string_view link);

/// Talks to the server's routes as the owner, below one workspace. A server that went away is
/// looked for again, which may start it: every request of ours may be repeated. One thread.
class Client {
 public:
  Client(Locate locate, model::Workspace workspace, const Console& console);

  /// `request.url` is a path of the server; any HTTP status is a response.
  Result<io::ClientResponse> send(io::ClientRequest request);
  /// The same without a second try, for requests whose answer is used piece by piece.
  Result<io::ClientResponse> send_once(const io::ClientRequest& request);
  /// Looks for the server again, and starts it if need be.
  Status find_again();

  // Statuses of 400 and more are errors here.
  Result<json::object> get(const std::string& path);
  Result<json::object> put(const std::string& path, const json::object& body);
  Result<json::object> post(const std::string& path, const json::object& body = {});
  Status remove(const std::string& path);

  /// The elements of a paged list, up to `most`.
  Result<json::array> list(const std::string& path, std::size_t most);

  /// Subscription, group and name as given; its id is not known here.
  const model::Workspace& workspace() const { return workspace_; }
  /// "/subscriptions/…/workspaces/<name>".
  std::string workspace_path(const std::string& below = {}) const;
  /// Our own routes for something below the workspace: "/berth/v1/subscriptions/…".
  std::string berth_path(const std::string& below) const;

  const Locate& locate() const { return locate_; }
  Result<Endpoint> endpoint();

 private:
  Result<json::object> call(io::ClientRequest request);

  Locate locate_;
  model::Workspace workspace_;
  const Console& console_;
  std::optional<Endpoint> endpoint_{};
  io::HttpClient http_{};
};

}  // namespace berth::cli
