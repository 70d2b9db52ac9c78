// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/address.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::wire::blob {

Container container_from(std::string_view signed_url) {
  const std::size_t query = signed_url.find('?');
  Container container{.url = std::string(signed_url.substr(0, query))};
  if (query != std::string_view::npos) container.signature = signed_url.substr(query + 1);
  while (container.url.ends_with('/')) container.url.pop_back();
  return container;
}

std::string blob_url(const Container& container, std::string_view name) {
  const std::string url = container.url + "/" + percent_encode(name, true);
  return container.signature.empty() ? url : url + "?" + container.signature;
}

std::string with_query(const std::string& url, std::string_view parameters) {
  return fmt::format("{}{}{}", url, url.find('?') == std::string::npos ? '?' : '&', parameters);
}

std::string list_url(const Container& container, std::string_view prefix, std::string_view marker) {
  std::string url = fmt::format("{}?restype=container&comp=list&berth-format=json&prefix={}",
                                container.url, percent_encode(prefix));
  if (!marker.empty()) url += "&marker=" + percent_encode(marker);
  return container.signature.empty() ? url : url + "&" + container.signature;
}

}  // namespace berth::wire::blob
