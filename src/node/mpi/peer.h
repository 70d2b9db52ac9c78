// SPDX-License-Identifier: Apache-2.0
// How the members of an MPI job find each other, and how one proves to another that it is one.
//
// mpirun on the head starts a daemon on every other member by a remote shell. Ours is a pair of
// commands, `berth mpi-rsh` beside mpirun and `berth mpi-host` on the members, with no need for an
// sshd. Both know the attempt's token from their environment; it never leaves them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"

namespace berth::node {

inline constexpr const char* kMpiHostsVariable = "BERTH_MPI_HOSTS";  ///< "10.0.0.1:7000,…" by rank.
inline constexpr const char* kMpiSecretVariable = "AZUREML_RUN_TOKEN";
inline constexpr const char* kNodeRankVariable = "AZUREML_CR_NODE_RANK";

struct MpiPeer {
  std::string address{};
  int port = 0;

  friend bool operator==(const MpiPeer&, const MpiPeer&) = default;
};

/// Reads "10.0.0.1:7000,[fe80::1]:7001".
Result<std::vector<MpiPeer>> parse_mpi_hosts(std::string_view text);

/// Whether two of them have the same address, and so the same machine.
bool share_a_machine(const std::vector<MpiPeer>& peers);
bool is_loopback(std::string_view address);

/// The name by which mpirun knows a member: an address reserved for documentation (RFC 5737). A
/// name would be asked of the DNS, and the member's own address may be that of this machine, where
/// mpirun would start its processes by itself.
std::string mpi_host_name(std::size_t rank);
Result<std::size_t> rank_of_mpi_host(std::string_view name);

/// Each side proves to know the secret, for this connection only and in its own role, so that no
/// answer of one can be used as the other's. Blocking; on an error the connection is of no use.
Status prove_as_host(int socket, std::string_view secret);
Status prove_as_caller(int socket, std::string_view secret);

Result<io::Descriptor> listen_at(const MpiPeer& place);
/// Unavailable while nobody listens there.
Result<io::Descriptor> connect_to(const MpiPeer& place);

}  // namespace berth::node
