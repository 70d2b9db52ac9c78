// SPDX-License-Identifier: Apache-2.0
// The addresses of blobs, as clients of the blob protocol make them.
#pragma once

#include <string>
#include <string_view>

namespace berth::wire::blob {

/// A container's address and the signature that opens it.
struct Container {
  std::string url{};
  std::string signature{};  ///< A query string, without '?'. A secret: never shown.
};

/// Splits a signed URL.
Container container_from(std::string_view signed_url);

/// "http://host/blob/ws/c" with the signature "sig", and "a b.txt" ->
/// "http://host/blob/ws/c/a%20b.txt?sig".
std::string blob_url(const Container& container, std::string_view name);

/// The address with more query parameters ("comp=block&blockid=…").
std::string with_query(const std::string& url, std::string_view parameters);

/// Where one page of the container's blobs is had, in the form that listing_from_json() reads. An
/// empty marker asks for the first page.
std::string list_url(const Container& container, std::string_view prefix, std::string_view marker);

}  // namespace berth::wire::blob
