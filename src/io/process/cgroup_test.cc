// SPDX-License-Identifier: Apache-2.0
#include "io/process/cgroup.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/random.h"
#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::io {
namespace {

using Kind = CgroupHierarchy::Kind;

std::map<Kind, std::string> parsed(std::string_view mounts, std::string_view groups) {
  std::map<Kind, std::string> found;
  for (const CgroupHierarchy& each : parse_hierarchies(mounts, groups)) {
    found[each.kind] = each.own_directory;
  }
  return found;
}

TEST(Cgroup, FindsTheUnifiedHierarchy) {
  EXPECT_EQ(
      parsed("30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n",
             "0::/user.slice/session-2.scope\n"),
      (std::map<Kind, std::string>{{Kind::Unified, "/sys/fs/cgroup/user.slice/session-2.scope"}}));
}

TEST(Cgroup, FindsTheUsefulControllersOfVersionOne) {
  EXPECT_EQ(parsed("31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                   "32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                   "33 30 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
                   "4:memory:/a/b\n3:cpu,cpuacct:/\n2:pids:/\n1:name=systemd:/x\n"),
            (std::map<Kind, std::string>{{Kind::Memory, "/sys/fs/cgroup/memory/a/b"},
                                         {Kind::Pids, "/sys/fs/cgroup/pids"},
                                         {Kind::Cpu, "/sys/fs/cgroup/cpu,cpuacct"}}));
}

TEST(Cgroup, FindsBothOnAHybridMachine) {
  EXPECT_EQ(parsed("32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                   "35 30 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                   "4:memory:/m\n0::/\n"),
            (std::map<Kind, std::string>{{Kind::Unified, "/sys/fs/cgroup/unified"},
                                         {Kind::Memory, "/sys/fs/cgroup/memory/m"}}));
}

TEST(Cgroup, UnderstandsAMountOfPartOfTheTree) {
  EXPECT_EQ(parsed("32 30 0:28 /docker/c1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                   "4:memory:/docker/c1/job\n"),
            (std::map<Kind, std::string>{{Kind::Memory, "/sys/fs/cgroup/memory/job"}}));
  EXPECT_TRUE(parsed("32 30 0:28 /docker/c1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                     "4:memory:/docker/c2\n")
                  .empty());
  EXPECT_TRUE(
      parsed("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/../other\n").empty());
}

TEST(Cgroup, HoldsAProcessAndItsChildrenUntilTheyAreKilled) {
  const auto group = Cgroup::make("test-" + random_hex(8), std::nullopt);
  if (!group) GTEST_SKIP() << group.error().message;
  EXPECT_TRUE(group->is_empty());
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);

  const pid_t child = ::fork();
  if (child == 0) {
    group->enter();
    if (::fork() == 0) {
      ::setsid();
      ::write(ready[1], "x", 1);
    }
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);

  EXPECT_EQ(group->members().size(), 2u);
  group->kill();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  while (!group->is_empty()) ::usleep(1000);
  group->remove();
  for (const std::string& directory : group->directories()) {
    EXPECT_NE(::access(directory.c_str(), F_OK), 0) << directory;
  }
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(Cgroup, HoldsItsMembersToSoManyCores) {
  const std::string name = "test-" + random_hex(8);
  auto group = Cgroup::make(name, std::nullopt);
  if (!group) GTEST_SKIP() << group.error().message;

  group->limit_cpu(name, 1.5);

  std::string said;
  for (const std::string& directory : group->directories()) {
    said += read_file(directory + "/cpu.cfs_quota_us", 4096).value_or("");
    said += read_file(directory + "/cpu.max", 4096).value_or("");
  }
  group->remove();
  if (said.empty()) GTEST_SKIP() << "this process may not limit the use of cores";
  EXPECT_TRUE(said.starts_with("150000")) << said;
}

TEST(Cgroup, HoldsItsMembersToSoManyProcesses) {
  const auto group = Cgroup::make("test-" + random_hex(8), std::nullopt);
  if (!group) GTEST_SKIP() << group.error().message;
  const bool is_limited = group->limit_processes(3);
  int refused[2];
  ASSERT_EQ(::pipe(refused), 0);

  const pid_t child = is_limited ? ::fork() : -1;
  if (child == 0) {
    group->enter();
    for (int i = 0; i < 5; ++i) {
      const pid_t grandchild = ::fork();
      if (grandchild == 0) ::pause();
      if (grandchild < 0) ::write(refused[1], "x", 1);
    }
    ::write(refused[1], "end", 3);
    ::pause();
  }
  std::string said;
  for (char byte = 0; is_limited && !said.ends_with("end") && ::read(refused[0], &byte, 1) == 1;) {
    said += byte;
  }
  group->kill();
  if (is_limited) ::waitpid(child, nullptr, 0);
  while (!group->is_empty()) ::usleep(1000);
  group->remove();
  ::close(refused[0]);
  ::close(refused[1]);
  if (!is_limited) GTEST_SKIP() << "this process may not limit the number of processes";
#ifdef __SANITIZE_THREAD__  // A thread of TSan counts as well, in each process.
  EXPECT_TRUE(said.starts_with("xxx")) << said;
#else
  EXPECT_EQ(said, "xxxend");
#endif
}

}  // namespace
}  // namespace berth::io
