// SPDX-License-Identifier: Apache-2.0
#include "store/like.h"

namespace berth::store {

std::string glob_of_like(std::string_view pattern) {
  std::string glob;
  for (const char letter : pattern) {
    switch (letter) {
      case '%': glob += '*'; break;
      case '_': glob += '?'; break;
      case '*': glob += "[*]"; break;
      case '?': glob += "[?]"; break;
      case '[': glob += "[[]"; break;
      default: glob += letter;
    }
  }
  return glob;
}

}  // namespace berth::store
