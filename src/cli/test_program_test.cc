// SPDX-License-Identifier: Apache-2.0
// The test program stands in for the executable: a command under test that starts a server starts
// this.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace berth::cli {
namespace {

/// Started as a server it would run all tests again, which start servers again, without end.
struct RefuseToServe {
  RefuseToServe() {
    std::ifstream words("/proc/self/cmdline", std::ios::binary);
    std::string program;
    std::string first;
    std::getline(words, program, '\0');
    std::getline(words, first, '\0');
    if (first != "server") return;
    std::cerr << "the test program is no server: a test's command wanted one\n";
    std::_Exit(1);
  }
};

const RefuseToServe refuse_to_serve;

}  // namespace
}  // namespace berth::cli
