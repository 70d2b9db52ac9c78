// SPDX-License-Identifier: Apache-2.0
#include "io/http/libcurl.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace berth::io {
namespace {

tl::unexpected<Error> cannot_load(const char* file) {
  const char* const why = ::dlerror();
  return fail(Code::Internal,
              fmt::format("cannot load {}, which Debian has in the package libcurl4: {}", file,
                          why != nullptr ? why : "it is not libcurl"));
}

template <typename Function>
bool find(void* library, const char* name, Function*& found) {
  found = reinterpret_cast<Function*>(::dlsym(library, name));
  return found != nullptr;
}

Result<Libcurl> load_and_begin() {
  const Libcurl curl = TRY(load_libcurl("libcurl.so.4"));
  if (curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) return curl;
  return fail(Code::Internal, "cannot start libcurl");
}

}  // namespace

Result<Libcurl> load_libcurl(const char* file) {
  void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return cannot_load(file);
  Libcurl curl;
  const bool has_all = find(library, "curl_global_init", curl.global_init) &&
                       find(library, "curl_version_info", curl.version_info) &&
                       find(library, "curl_easy_init", curl.easy_init) &&
                       find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                       find(library, "curl_easy_reset", curl.easy_reset) &&
                       find(library, "curl_easy_setopt", curl.easy_setopt) &&
                       find(library, "curl_easy_perform", curl.easy_perform) &&
                       find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                       find(library, "curl_easy_strerror", curl.easy_strerror) &&
                       find(library, "curl_slist_append", curl.slist_append) &&
                       find(library, "curl_slist_free_all", curl.slist_free_all);
  if (!has_all) return cannot_load(file);
  return curl;
}

const Result<Libcurl>& libcurl() {
  static const Result<Libcurl> loaded = load_and_begin();
  return loaded;
}

}  // namespace berth::io
