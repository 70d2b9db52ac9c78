// SPDX-License-Identifier: Apache-2.0
// Against commands that only pretend to be Slurm's, so that they can misbehave. tests/contract runs
// the provider against a real one.
#include "target/slurm/slurm_provider.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.h"
#include "io/files/file.h"
#include "io/files/temporary_directory.h"

namespace berth::target::slurm {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCertificate =
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

class SlurmProviderTest : public testing::Test {
 protected:
  SlurmProviderTest() {
    // A queue that is a file, one job a line.
    script("sbatch", "printf '%s\\n' \"$@\" > args; env > env; cat > script; touch queue\n" +
                         take_job() + "echo $id\n");
    script("squeue", "printf '%s\\n' \"$@\" >> asked; touch queue; cat queue\n");
    script("scancel", "printf '%s\\n' \"$@\" > cancelled; rm queue\n");
    EXPECT_TRUE(io::write_file(directory / "ca.pem", kCertificate));
    spec.ca_file = directory / "ca.pem";
    settings.bin_directory = directory.path();
  }

  static std::string take_job() {
    return "id=$(($(wc -l < queue) + 1))\n"
           "echo \"$id|PENDING|$(sed -n s/^--job-name=//p args)|Priority\" >> queue\n";
  }

  void script(const std::string& name, const std::string& body) {
    const std::string text = fmt::format("#!/bin/sh\ncd {}\n{}", directory.path(), body);
    EXPECT_TRUE(io::write_file(directory / name, text, 0700));
  }

  SlurmProvider provider(Duration limit = 20s) const {
    return {settings, {"i1", "lab"}, "/opt/it's berth", limit};
  }

  std::string file(const std::string& name) const {
    return io::read_file(directory / name).value_or("");
  }
  bool was_given(const std::string& word) const {
    const std::string text = file("args");
    const auto words = split(text, '\n');
    return std::ranges::find(words, word) != words.end();
  }

  io::TemporaryDirectory directory;
  model::SlurmSettings settings{};
  NodeSpec spec{.id = {"n1"}, .token = "s3cret", .slots = 2, .server_url = "https://head.lab:8470"};
};

TEST_F(SlurmProviderTest, SubmitsAPilotThatBecomesTheAgent) {
  settings.work_directory = "/scratch";

  ASSERT_TRUE(provider().start(spec));

  EXPECT_EQ(file("script"),
            "#!/bin/sh\n"
            "# A node of Berth. It ends by itself when nobody needs it.\n"
            "umask 077\n"
            "berth='/opt/it'\\''s berth'\n"
            "[ -x \"$berth\" ] || berth=berth\n"
            "exec \"$berth\" node --name 'n1' --server 'https://head.lab:8470' --slots 2 "
            "--work-directory '/scratch' --token-file /dev/fd/3 --ca /dev/fd/4 "
            "3<<'BERTH_TOKEN' 4<<'BERTH_AUTHORITY'\n"
            "s3cret\n"
            "BERTH_TOKEN\n" +
                std::string(kCertificate) + "BERTH_AUTHORITY\n");
}

TEST_F(SlurmProviderTest, AsksForWhatTheSiteAndTheNodeSay) {
  settings.partition = "main";
  settings.account = "team";
  settings.qos = "high";
  settings.time_limit = 90min;
  settings.options = {"--constraint=a b"};
  spec.cores = 4;
  spec.memory_mib = 14336;
  spec.gpus = 2;

  ASSERT_TRUE(provider().start(spec));

  for (const char* word :
       {"--partition=main", "--account=team", "--qos=high", "--time=90", "--constraint=a b",
        "--cpus-per-task=4", "--mem=14336M", "--gpus-per-node=2", "--job-name=berth:i1:lab:n1",
        "--dependency=singleton", "--no-requeue", "--nodes=1", "--ntasks=1"}) {
    EXPECT_TRUE(was_given(word)) << word << " is not in\n" << file("args");
  }
}

TEST_F(SlurmProviderTest, TheTokenIsNeitherAnArgumentNorAVariable) {
  ::setenv("BERTH_TOKEN", "mine", 1);
  ::setenv("SBATCH_ARRAY_INX", "1-9", 1);
  ASSERT_TRUE(provider().start(spec));
  ::unsetenv("BERTH_TOKEN");
  ::unsetenv("SBATCH_ARRAY_INX");

  EXPECT_EQ(file("args").find("s3cret"), std::string::npos);
  EXPECT_EQ(file("env").find("s3cret"), std::string::npos);
  EXPECT_EQ(file("env").find("BERTH_"), std::string::npos);
  EXPECT_EQ(file("env").find("SBATCH_"), std::string::npos);
}

TEST_F(SlurmProviderTest, ATokenOrCertificateThatWouldEndItsTextIsRefused) {
  spec.token = "a\nBERTH_TOKEN\nrm -rf /";
  EXPECT_EQ(provider().start(spec).error().code, Code::InvalidArgument);
  spec.token = "fine";
  ASSERT_TRUE(
      io::write_file(directory / "ca.pem", std::string(kCertificate) + "BERTH_AUTHORITY\n"));
  EXPECT_EQ(provider().start(spec).error().code, Code::InvalidArgument);

  EXPECT_EQ(file("args"), "");
}

TEST_F(SlurmProviderTest, AsksOnlyForItsOwnUsersJobsAndTellsSlurmsReason) {
  ASSERT_TRUE(provider().start(spec));

  const auto seen = provider().observe();

  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_EQ(seen->size(), 1u);
  EXPECT_EQ(seen->front().liveness, Liveness::Pending);
  EXPECT_EQ(seen->front().note, "Priority");
  EXPECT_NE(file("asked").find(fmt::format("--user={}\n", ::geteuid())), std::string::npos);
}

TEST_F(SlurmProviderTest, StopCancelsByTheNodesTag) {
  ASSERT_TRUE(provider().start(spec));
  ASSERT_TRUE(provider().stop({"n1"}));

  EXPECT_NE(file("cancelled").find("--name=berth:i1:lab:n1\n"), std::string::npos);
  EXPECT_TRUE(provider().observe()->empty());
}

TEST_F(SlurmProviderTest, ASubmitThatActedAndThenFailedIsNotRepeated) {
  script("sbatch", "printf '%s\\n' \"$@\" > args; touch queue\n" + take_job() +
                       "echo 'sbatch: error: Socket timed out' >&2; exit 1\n");
  EXPECT_EQ(provider().start(spec).error().code, Code::Unavailable);

  EXPECT_TRUE(provider().start(spec));

  EXPECT_EQ(std::ranges::count(file("queue"), '\n'), 1);
}

TEST_F(SlurmProviderTest, ASubmitThatActedAndThenHangsIsNotRepeated) {
  script("sbatch", "printf '%s\\n' \"$@\" > args; touch queue\n" + take_job() + "sleep 600\n");
  const Status hung = provider(500ms).start(spec);
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().code, Code::Unavailable);
  EXPECT_NE(hung.error().message.find("sbatch"), std::string::npos);

  EXPECT_TRUE(provider().start(spec));

  EXPECT_EQ(std::ranges::count(file("queue"), '\n'), 1);
}

TEST_F(SlurmProviderTest, WhatSlurmRefusesIsSaidInItsOwnWords) {
  script("sbatch",
         "echo 'sbatch: error: invalid partition specified: nope' >&2\n"
         "echo 'sbatch: error: Batch job submission failed' >&2; exit 1\n");

  const Status refused = provider().start(spec);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  EXPECT_EQ(refused.error().message,
            "'sbatch' refused: sbatch: error: invalid partition specified: nope");
}

TEST_F(SlurmProviderTest, RubbishFromSbatchIsAnErrorAndTheNextStartLooksFirst) {
  script("sbatch", "printf '%s\\n' \"$@\" > args; touch queue\n" + take_job() +
                       "printf 'Welcome to \\377 the cluster\\n'\n");

  const Status confused = provider().start(spec);

  ASSERT_FALSE(confused);
  EXPECT_NE(confused.error().message.find("printed no job id"), std::string::npos);
  EXPECT_TRUE(is_valid_utf8(confused.error().message));
  EXPECT_TRUE(provider().start(spec));
}

TEST_F(SlurmProviderTest, WhatSqueueCannotTellIsUnknownAndStartsNothing) {
  for (const char* body : {"exit 1\n",
                           "echo slurm_load_jobs error: Unable to contact slurm "
                           "controller >&2; exit 1\n",
                           "echo what; exit 0\n", "kill -9 $$\n"}) {
    script("squeue", body);

    const auto seen = provider().observe();

    ASSERT_FALSE(seen) << body;
    EXPECT_EQ(seen.error().code, Code::Unavailable);
    EXPECT_FALSE(provider().start(spec));
    EXPECT_EQ(file("args"), "") << "submitted without knowing whether it is there";
  }
}

TEST_F(SlurmProviderTest, ASqueueThatHangsOrNeverStopsPrintingIsUnknown) {
  script("squeue", "sleep 600\n");
  EXPECT_EQ(provider(300ms).observe().error().code, Code::Unavailable);
  script("squeue", "yes '1|RUNNING|x|None'\n");
  EXPECT_EQ(provider().observe().error().code, Code::Unavailable);
}

TEST_F(SlurmProviderTest, MissingCommandsAreNamed) {
  settings.bin_directory = directory / "nowhere";

  const Status missing = provider().start(spec);

  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::NotFound);
  EXPECT_EQ(missing.error().message, "there is no 'squeue' in " + directory.path() +
                                         "/nowhere: Slurm's commands must be on the server's "
                                         "machine");
  ASSERT_EQ(::unlink((directory / "sbatch").c_str()), 0);
  settings.bin_directory = directory.path();
  EXPECT_NE(provider().start(spec).error().message.find("'sbatch'"), std::string::npos);
}

TEST_F(SlurmProviderTest, ACancelThatFailsBecauseTheJobHasEndedHasSucceeded) {
  script("scancel", "echo 'scancel: error: Kill job error: Invalid job id' >&2; exit 1\n");
  EXPECT_TRUE(provider().stop({"n1"}));

  ASSERT_TRUE(provider().start(spec));
  const Status failed = provider().stop({"n1"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::Unavailable);
}

}  // namespace
}  // namespace berth::target::slurm
