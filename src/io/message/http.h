// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"

namespace berth::io {

struct BodyPipe;

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The value of the first header of that name, ignoring case; empty when there is none.
std::string_view header(const Headers& headers, std::string_view name);

/// A request line and its headers. `path` is still percent-encoded, `query` likewise.
struct RequestHead {
  std::string method{};
  std::string path{};
  std::string query{};  ///< Without the '?'.
  Headers headers{};
  bool is_tls = false;
  std::string peer{};  ///< "127.0.0.1:51234".
};

/// The values of `a=1&b=2`, percent-decoded, '+' being a space; a broken escape is an error.
Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

/// A body that was too large to hold in memory, or belongs in a file anyway: spooled, synced and
/// hashed before the handler sees it. The file vanishes with this object unless it was moved.
struct SpooledBody {
  TemporaryFile file;
  std::uint64_t size = 0;
  std::string sha256{};  ///< Raw bytes.
  std::string md5{};     ///< Raw bytes; empty unless it was asked for.
};

struct Request {
  RequestHead head{};
  std::string body{};                    ///< Bodies kept in memory.
  std::optional<SpooledBody> spooled{};  ///< Bodies of routes that asked for a file.
};

/// A part of a file as a body. The descriptor is shared: the file may be renamed or removed
/// meanwhile.
struct FileRange {
  std::shared_ptr<const Descriptor> file{};
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct Reply {
  int status = 200;
  Headers headers{};  ///< Without Content-Length and Connection; those are ours.
  std::string content_type = "application/json";
  std::string body{};
  std::vector<FileRange> files{};              ///< Instead of `body`: sent one after the other.
  std::optional<std::uint64_t> head_length{};  ///< Content-Length to claim in an answer to HEAD.
  std::shared_ptr<BodyPipe> stream{};          ///< Instead of `body`: see io/http/reply_stream.h.
};

}  // namespace berth::io
