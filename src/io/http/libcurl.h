// SPDX-License-Identifier: Apache-2.0
// Heavy: include from .cc files only.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace berth::io {

/// What we call of libcurl. It is not linked: it brings thirty libraries with it, and to load them
/// takes longer than most commands do.
struct Libcurl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_version_info) version_info = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

/// Of that file. It stays loaded.
Result<Libcurl> load_libcurl(const char* file);

/// This process's own, ready to be used; loaded by the first call. Any thread.
const Result<Libcurl>& libcurl();

}  // namespace berth::io
