// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

const EnvironmentMap kShell = {{"HOME", "/home/ana"},
                               {"USER", "ana"},
                               {"LANG", "C.UTF-8"},
                               {"LC_TIME", "de_DE.UTF-8"},
                               {"PATH", "/home/ana/venv/bin:/opt/slurm/bin:/usr/bin"},
                               {"VIRTUAL_ENV", "/home/ana/venv"},
                               {"HF_TOKEN", "hf_hers"},
                               {"AWS_SECRET_ACCESS_KEY", "hers"},
                               {"PYTHONPATH", "/home/ana/lib"},
                               {"TMPDIR", "/tmp/ana"},
                               {"CUDA_VISIBLE_DEVICES", "1"},
                               {"LD_LIBRARY_PATH", "/opt/lib"},
                               {"LD_PRELOAD", "/home/ana/spy.so"},
                               {"https_proxy", "http://proxy:3128"},
                               {"HTTP_PROXY", "http://ana:pw@proxy:3128"},
                               {"BERTH_HOME", "/home/ana/.berth"},
                               {"BERTH_TOKEN", "berth-user.x.y"},
                               {"MLFLOW_TRACKING_TOKEN", "t"},
                               {"SLURM_CONF", "/etc/slurm.conf"},
                               {"SLURM_JOB_ID", "7"}};

TEST(Environment, AJobFindsNothingOfWhoStartedTheServer) {
  EnvironmentMap node = kShell;
  node.erase("SLURM_JOB_ID");
  EXPECT_EQ(job_base_environment(node), (EnvironmentMap{{"HOME", "/home/ana"},
                                                        {"USER", "ana"},
                                                        {"LANG", "C.UTF-8"},
                                                        {"LC_TIME", "de_DE.UTF-8"},
                                                        {"PATH", kPlainPath},
                                                        {"CUDA_VISIBLE_DEVICES", "1"},
                                                        {"https_proxy", "http://proxy:3128"}}));
}

TEST(Environment, AnAgentGetsWhatItNeedsAndNoAllocationOfItsStarter) {
  const EnvironmentMap kept = service_environment(kShell);
  for (const char* const gone :
       {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "VIRTUAL_ENV", "PYTHONPATH", "BERTH_HOME",
        "BERTH_TOKEN", "MLFLOW_TRACKING_TOKEN", "SLURM_JOB_ID"}) {
    EXPECT_FALSE(kept.contains(gone)) << gone;
  }
  EXPECT_EQ(kept.at("PATH"), "/opt/slurm/bin:/usr/bin");
  for (const char* const there : {"HOME", "TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "SLURM_CONF",
                                  "HTTP_PROXY", "CUDA_VISIBLE_DEVICES"}) {
    EXPECT_TRUE(kept.contains(there)) << there;
  }
}

TEST(Environment, AServerStartedOnTheWayReadsItsOwnVariablesAndNoToken) {
  const EnvironmentMap kept = first_server_environment(kShell);
  EXPECT_EQ(kept.at("BERTH_HOME"), "/home/ana/.berth");
  for (const char* const gone :
       {"BERTH_TOKEN", "HF_TOKEN", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD", "VIRTUAL_ENV"}) {
    EXPECT_FALSE(kept.contains(gone)) << gone;
  }
}

TEST(Environment, AnAllocationOfSlurmsIsTheSites) {
  const EnvironmentMap kept = job_base_environment({{"SLURM_JOB_ID", "7"},
                                                    {"SLURM_CPUS_ON_NODE", "4"},
                                                    {"MODULEPATH", "/apps/modules"},
                                                    {"SCRATCH", "/scratch/ana"},
                                                    {"PATH", "/opt/slurm/bin:/usr/bin"},
                                                    {"BERTH_TOKEN", "x"}});
  EXPECT_EQ(kept.size(), 5u);
  EXPECT_EQ(kept.at("PATH"), "/opt/slurm/bin:/usr/bin");
  EXPECT_FALSE(kept.contains("BERTH_TOKEN"));
}

TEST(Environment, APathKeepsWhatIsNoEnvironment) {
  EXPECT_EQ(path_outside_environments({}), kPlainPath);
  EXPECT_EQ(path_outside_environments({{"PATH", "/v/bin"}, {"VIRTUAL_ENV", "/v/"}}), kPlainPath);
  EXPECT_EQ(path_outside_environments(
                {{"PATH", "/c/bin:/c/condabin:/cc/bin:/bin"}, {"CONDA_PREFIX", "/c"}}),
            "/cc/bin:/bin");
  // A system's own Python may call /usr its environment.
  EXPECT_EQ(path_outside_environments({{"PATH", "/usr/bin:/bin"}, {"CONDA_PREFIX", "/usr"}}),
            "/usr/bin:/bin");
}

TEST(Environment, NamesOfSecretsAreKnownByTheirWords) {
  for (const char* const secret : {"HF_TOKEN", "WANDB_API_KEY", "DB_PASSWORD", "client_secret",
                                   "AWS_SECRET_ACCESS_KEY", "GITHUB_PAT", "KEY"}) {
    EXPECT_TRUE(looks_secret(secret)) << secret;
  }
  for (const char* const plain : {"PATH", "SEED", "KEYBOARD", "MONKEY", "PATIENCE", "LR"}) {
    EXPECT_FALSE(looks_secret(plain)) << plain;
  }
}

}  // namespace
}  // namespace berth
