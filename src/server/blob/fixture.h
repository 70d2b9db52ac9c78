// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "server/route_fixture.h"

namespace berth::server {

/// Requests about blobs of the default datastore, by the owner or by a signature.
class BlobTest : public RouteTest {
 protected:
  std::string container(const std::string& name = "azureml-blobstore") const {
    return "/blob/" + workspace.text + "/" + name;
  }
  std::string url(const std::string& path) const { return container() + "/" + path; }

  Answer put_blob(const std::string& path, const std::string& content, io::Headers headers = {}) {
    headers.emplace_back("x-ms-blob-type", "BlockBlob");
    return send(
        {.method = "PUT", .target = url(path), .body = content, .headers = std::move(headers)});
  }
  Answer head(const std::string& path) { return send({.method = "HEAD", .target = url(path)}); }
  Answer get_blob(const std::string& path, io::Headers headers = {}) {
    return send({.target = url(path), .headers = std::move(headers)});
  }
  Answer put_block(const std::string& path, const std::string& id, const std::string& content,
                   io::Headers headers = {}) {
    return send({.method = "PUT",
                 .target = url(path) + "?comp=block&blockid=" + percent_encode(to_base64(id)),
                 .body = content,
                 .headers = std::move(headers)});
  }
  Answer commit(const std::string& path, const std::vector<std::string>& ids,
                io::Headers headers = {}) {
    std::string xml = "<BlockList>";
    for (const std::string& id : ids) xml += "<Latest>" + to_base64(id) + "</Latest>";
    return send({.method = "PUT",
                 .target = url(path) + "?comp=blocklist",
                 .body = xml + "</BlockList>",
                 .headers = std::move(headers)});
  }

  /// The names and the continuation of a listing, as our own programs ask for it.
  struct Listed {
    std::vector<std::string> names{};
    std::vector<std::string> prefixes{};
    std::string next{};
  };
  Listed list(const std::string& target) {
    const Answer answer = get(target + (target.find('?') == target.npos ? "?" : "&") +
                              "restype=container&comp=list&berth-format=json");
    EXPECT_EQ(answer.status, 200) << answer.body;
    Listed listed;
    const boost::json::value body = answer.json();
    for (const auto& blob : body.at("blobs").as_array()) {
      listed.names.emplace_back(blob.at("name").as_string());
    }
    if (const auto* prefixes = body.as_object().if_contains("prefixes")) {
      for (const auto& prefix : prefixes->as_array())
        listed.prefixes.emplace_back(prefix.as_string());
    }
    listed.next = std::string(body.at("next").as_string());
    return listed;
  }

  std::string sign(const std::string& prefix, const std::string& permissions,
                   Duration lifetime = std::chrono::hours(1)) const {
    return signer.sign({.workspace = workspace,
                        .container = "azureml-blobstore",
                        .prefix = prefix,
                        .permissions = permissions,
                        .expires_at = clock.now().wall + lifetime});
  }
  /// Sent by somebody who has only a signed URL.
  Answer by_signature(const std::string& method, const std::string& target,
                      const std::string& body = "") {
    return send({.method = method, .target = target, .body = body, .by = Principal::Kind::Nobody});
  }
};

}  // namespace berth::server
