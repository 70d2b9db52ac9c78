// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/job.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "wire/arm/resource.h"
#include "wire/yaml/asset.h"
#include "wire/yaml/folder_fixture.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;
using model::DataMode;
using model::DataType;

class JobYaml : public InFolder {
 protected:
  Result<JobFile> read(std::string_view text) const {
    Result<Node> root = parse(text, "job.yml");
    if (!root) return fail(root.error());
    return job_from_yaml(*root, directory_.string());
  }

  JobFile accept(std::string_view text) const {
    Result<JobFile> file = read(text);
    if (file) return std::move(*file);
    ADD_FAILURE() << file.error().message;
    return {};
  }

  /// The same, with "command: x" in front on line 1.
  JobFile accept_with(const std::string& rest) const { return accept("command: x\n" + rest); }

  Error refuse(std::string_view text) const {
    const Result<JobFile> file = read(text);
    if (!file) return file.error();
    ADD_FAILURE() << "accepted: " << text;
    return {};
  }
  std::string refuse_with(const std::string& rest) const {
    return refuse("command: x\n" + rest).message;
  }
};

constexpr std::string_view kFullJob = R"(
$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
type: command
name: train-7
experiment_name: unit
display_name: a fit
description: fits
code: ./src
command: python fit.py --lr ${{inputs.lr}} --data ${{inputs.rows}} --out ${{ outputs.fitted }}
environment: {image: "registry.local/py:3.12"}
environment_variables: {A: 1, B: true, C: text}
compute: azureml:pool-a
inputs:
  lr: 0.05
  rows: {type: uri_file, path: azureml:rows@latest, mode: download}
outputs:
  fitted: {type: custom_model, mode: upload, name: fitted-model}
resources: {instance_count: 2, shm_size: 1g}
distribution: {type: pytorch, process_count_per_instance: 2}
limits: {timeout: 900}
queue_settings: {job_tier: spot, priority: high}
tags: {team: blue, n: 7}
properties: {origin: test}
)";

TEST_F(JobYaml, AFullJobIsReadWhole) {
  const JobFile file = accept(kFullJob);
  const model::JobSpec& spec = file.job.spec;

  EXPECT_EQ(file.job.key.name, "train-7");
  EXPECT_EQ(file.job.display_name, "a fit");
  EXPECT_EQ(spec.experiment_name, "unit");
  EXPECT_EQ(file.code_path->path, path("src"));
  EXPECT_EQ(file.environment.inline_->body.at("image").as_string(), "registry.local/py:3.12");
  EXPECT_TRUE(file.environment.inline_->is_anonymous);
  EXPECT_EQ(command_of(spec).environment_variables,
            (std::map<std::string, std::string>{{"A", "1"}, {"B", "true"}, {"C", "text"}}));
  EXPECT_EQ(spec.compute, "pool-a");
  EXPECT_EQ(spec.inputs.at("lr"), (model::JobInput{.type = DataType::Literal, .value = "0.05"}));
  EXPECT_EQ(spec.inputs.at("rows"), (model::JobInput{.type = DataType::UriFile,
                                                     .uri = "azureml:rows@latest",
                                                     .mode = DataMode::Download}));
  EXPECT_EQ(spec.outputs.at("fitted").asset_name, "fitted-model");
  EXPECT_EQ(spec.outputs.at("fitted").mode, DataMode::Upload);
  EXPECT_EQ(command_of(spec).resources.instance_count, 2);
  EXPECT_EQ(command_of(spec).resources.shm_size, "1g");
  EXPECT_EQ(command_of(spec).distribution,
            (json::value{{"distributionType", "PyTorch"}, {"processCountPerInstance", 2}}));
  EXPECT_EQ(spec.timeout, std::chrono::seconds(900));
  EXPECT_EQ(spec.job_tier, "Spot");
  EXPECT_EQ(spec.priority, 3);
  EXPECT_EQ(file.job.tags.at("n"), "7");
  EXPECT_EQ(file.job.properties.at("origin"), "test");
}

TEST_F(JobYaml, WhatIsReadSurvivesTheWayToTheServer) {
  const model::Job job = accept(kFullJob).job;

  const Result<model::Job> arrived = wire::arm::job_from_json(wire::arm::job_body(job));

  ASSERT_TRUE(arrived) << arrived.error().message;
  EXPECT_EQ(arrived->spec, job.spec);
}

TEST_F(JobYaml, ACommandIsAllAJobNeeds) {
  const JobFile file = accept("command: echo hi\n");

  EXPECT_EQ(command_of(file.job.spec).command, "echo hi");
  EXPECT_EQ(file.job.spec->compute, "");
  EXPECT_FALSE(file.code_path);
  EXPECT_TRUE(file.environment.reference.empty());
  EXPECT_FALSE(file.environment.inline_);
}

TEST_F(JobYaml, AMisspeltKeyDrawsTheRightOne) {
  EXPECT_EQ(refuse("# a job\n\ncomand: x\n").message,
            "job.yml:3:1: 'comand' is not a key of a command job; did you mean 'command'?");
  EXPECT_NE(refuse_with("inputs: {a: {tpye: uri_file, path: x}}").find("did you mean 'type'"),
            std::string::npos);
  EXPECT_NE(refuse_with("resources: {instances: 2}").find("job.yml:2:13"), std::string::npos);
  EXPECT_NE(refuse_with("limits: {time_out: 2}").find("did you mean 'timeout'"), std::string::npos);
  EXPECT_NE(refuse_with("outputs: {a: {pth: x}}").find("did you mean 'path'"), std::string::npos);
  EXPECT_NE(refuse_with("environment: {imag: x}").find("did you mean 'image'"), std::string::npos);
}

TEST_F(JobYaml, OtherJobTypesAreUnsupportedAndUnknownOnesWrong) {
  const Error sweep = refuse("type: sweep\ntrial: {}\n");
  EXPECT_EQ(sweep.code, Code::NotSupported);
  EXPECT_EQ(sweep.message, "job.yml:1:7: 'sweep' jobs are not supported yet");
  EXPECT_EQ(refuse("type: Pipeline\n").code, Code::NotSupported);
  const Error unknown = refuse("type: comand\n");
  EXPECT_EQ(unknown.code, Code::InvalidArgument);
  EXPECT_EQ(unknown.message, "job.yml:1:7: 'comand' is not a job type; did you mean 'command'?");
}

TEST_F(JobYaml, AFileThatIsNoJobIsRefused) {
  EXPECT_NE(refuse("").message.find("empty"), std::string::npos);
  EXPECT_NE(refuse("- a\n- b\n").message.find("must be a mapping"), std::string::npos);
  EXPECT_NE(refuse("just text").message.find("must be a mapping"), std::string::npos);
  EXPECT_NE(refuse("name: x\n").message.find("needs a 'command'"), std::string::npos);
  EXPECT_NE(refuse("command: ' '\n").message.find("is empty"), std::string::npos);
  EXPECT_NE(refuse("command: [a]\n").message.find("must be text"), std::string::npos);
  EXPECT_NE(refuse_with("name: ../../etc\n").find("job.yml:2:7"), std::string::npos);
}

TEST_F(JobYaml, LiteralsKeepTheirTextAsWritten) {
  const JobFile file = accept_with(
      "inputs: {a: 0.050, b: true, c: 1e3, d: 'x y', e: {value: 010}, f: https://x/y, g: '',"
      " h: {type: number, value: 2}}");
  const auto value_of = [&](const char* name) { return file.job.spec->inputs.at(name).value; };

  EXPECT_EQ(value_of("a"), "0.050");
  EXPECT_EQ(value_of("b"), "true");
  EXPECT_EQ(value_of("c"), "1e3");
  EXPECT_EQ(value_of("d"), "x y");
  EXPECT_EQ(value_of("e"), "010");
  EXPECT_EQ(value_of("f"), "https://x/y");
  EXPECT_EQ(value_of("g"), "");
  EXPECT_EQ(value_of("h"), "2");
  for (const auto& [name, input] : file.job.spec->inputs) {
    EXPECT_EQ(input.type, DataType::Literal) << name;
  }
}

TEST_F(JobYaml, AnInputMayBeAnAddress) {
  const JobFile file = accept_with(
      "inputs:\n  a: azureml:rows:1\n  b: {path: https://example.org/x.csv, type: uri_file}\n"
      "  c: {path: 'azureml://jobs/j/outputs/o/paths/p'}\n  d: {path: '${{parent.inputs.x}}'}\n");

  EXPECT_EQ(file.job.spec->inputs.at("a").type, DataType::UriFolder);
  EXPECT_EQ(file.job.spec->inputs.at("a").uri, "azureml:rows:1");
  EXPECT_EQ(file.job.spec->inputs.at("b").uri, "https://example.org/x.csv");
  EXPECT_EQ(file.job.spec->inputs.at("d").uri, "${{parent.inputs.x}}");
  EXPECT_TRUE(file.input_paths.empty());
}

TEST_F(JobYaml, ALocalInputIsToBeUploaded) {
  const JobFile file = accept_with(
      "inputs:\n  a: {type: uri_file, path: rows.csv}\n  b: {path: ./src/}\n"
      "  c: {type: uri_file, path: 'file://" +
      path("rows.csv") + "'}\n");

  EXPECT_EQ(file.input_paths.at("a").path, path("rows.csv"));
  EXPECT_EQ(file.input_paths.at("b").path, path("src"));
  EXPECT_EQ(file.input_paths.at("c").path, path("rows.csv"));
  EXPECT_EQ(file.job.spec->inputs.at("a").uri, "");
}

TEST_F(JobYaml, ALocalPathThatIsNotThereIsNamedAndResolved) {
  EXPECT_EQ(refuse_with("code: ./scr\n"),
            "job.yml:2:7: 'code' is './scr', but there is no '" + path("scr") + "'");
  EXPECT_NE(refuse_with("inputs: {a: {path: nowhere}}").find(path("nowhere")), std::string::npos);
  EXPECT_NE(refuse_with("inputs: {a: {path: rows.csv}}").find("is a file"), std::string::npos);
  EXPECT_NE(refuse_with("inputs: {a: {type: uri_file, path: src}}").find("is a folder"),
            std::string::npos);
  EXPECT_NE(refuse_with("code: \"a\\0b\"\n").find("an escape in this text"), std::string::npos);
}

TEST_F(JobYaml, WrongInputsAndOutputsAreRefused) {
  for (const char* wrong : {"inputs: {a: }",
                            "inputs: {a: [1]}",
                            "inputs: {a: {}}",
                            "inputs: {a: {value: [1]}}",
                            "inputs: {a: {value: 1, path: x}}",
                            "inputs: {'a b': 1}",
                            "inputs: {1a: 1}",
                            "inputs: {a: {type: zip, path: src}}",
                            "inputs: {a: {path: src, mode: upload}}",
                            "inputs: {a: 'azureml://datastores/d/paths/../x'}",
                            "inputs: {a: 'azureml:..:1'}",
                            "inputs: {a: {type: number}}",
                            "inputs: [1]",
                            "inputs: x",
                            "outputs: {a: {mode: ro_mount}}",
                            "outputs: {a: {path: ./here}}",
                            "outputs: {a: {path: 'azureml:x:1'}}",
                            "outputs: {a: {version: 1}}",
                            "outputs: {a: {name: ../x}}",
                            "outputs: {a: {type: literal}}",
                            "outputs: {a: [1]}",
                            "outputs: {a: {path: 'azureml://datastores/d/paths/%2e%2e/x'}}"}) {
    const std::string message = refuse_with(wrong);
    EXPECT_TRUE(message.starts_with("job.yml:2:")) << wrong << " -> " << message;
  }
  EXPECT_EQ(refuse("command: x\ninputs: {a: {path: 'wasbs://c@a/x'}}").code, Code::NotSupported);
}

TEST_F(JobYaml, OutputsMayBeLeftEmpty) {
  const JobFile file = accept_with(
      "outputs:\n  a:\n  b: {}\n  c: azureml://datastores/workspaceblobstore/paths/x/\n"
      "  d: {path: 'azureml://datastores/${{default_datastore}}/paths/${{name}}', mode: mount}\n");

  EXPECT_EQ(file.job.spec->outputs.at("a"), model::JobOutput{});
  EXPECT_EQ(file.job.spec->outputs.at("b"), model::JobOutput{});
  EXPECT_EQ(file.job.spec->outputs.at("c").uri, "azureml://datastores/workspaceblobstore/paths/x/");
  EXPECT_EQ(file.job.spec->outputs.at("d").mode, DataMode::ReadWriteMount);
}

TEST_F(JobYaml, CodeMayBeAReferenceButNotARepository) {
  EXPECT_EQ(command_of(accept_with("code: azureml:snapshot:1\n").job.spec).code_id,
            "azureml:snapshot:1");
  EXPECT_EQ(refuse("command: x\ncode: git+https://example.org/r\n").code, Code::NotSupported);
  EXPECT_EQ(refuse("command: x\ncode: https://example.org/r\n").code, Code::NotSupported);
  EXPECT_FALSE(accept_with("code:\n").code_path);
}

TEST_F(JobYaml, AnEnvironmentIsAReferenceOrADefinition) {
  write("env/conda.yml", "dependencies: [python=3.12]\n");
  write("env/env.yml", "name: e\nversion: 3\nimage: python\nconda_file: conda.yml\n");
  const auto environment = [&](const std::string& text) {
    return accept_with("environment: " + text + "\n").environment;
  };

  EXPECT_EQ(environment("azureml:env:1").reference, "azureml:env:1");
  EXPECT_EQ(environment("azureml:env@latest").reference, "azureml:env@latest");
  EXPECT_EQ(environment("azureml://registries/r/environments/e/versions/1").reference,
            "azureml://registries/r/environments/e/versions/1");
  EXPECT_EQ(environment("file:env/env.yml").inline_->body.at("condaFile").as_string(),
            "dependencies: [python=3.12]\n");
  EXPECT_EQ(environment("{image: a, conda_file: {channels: [x], python: 3.10}}")
                .inline_->body.at("condaFile")
                .as_string(),
            "channels:\n- x\npython: 3.10\n");
  EXPECT_EQ(environment("{build: {path: src}}").build_context->path, path("src"));
  EXPECT_EQ(command_of(accept_with("environment: azureml:env:1\n").job.spec).environment_id,
            "azureml:env:1");
}

TEST_F(JobYaml, EqualInlineEnvironmentsAreOneAsset) {
  const auto inlined = [&](const std::string& text) {
    return *accept_with("environment: " + text + "\n").environment.inline_;
  };

  EXPECT_EQ(inlined("{image: a}").name, "CliV2AnonymousEnvironment");
  EXPECT_EQ(inlined("{image: a}").version, inlined("{name: other, image: a}").version);
  EXPECT_NE(inlined("{image: a}").version, inlined("{image: b}").version);
}

TEST_F(JobYaml, AWrongEnvironmentIsRefused) {
  for (const char* wrong : {"python:3.12", "{conda_file: {a: b}}", "{}", "[a]",
                            "{image: a, build: {path: src}}", "{image: a, conda_file: nowhere.yml}",
                            "{build: {}}", "{image: a, os_type: beos}", "file:nowhere.yml"}) {
    const std::string message = refuse_with(std::string("environment: ") + wrong);
    EXPECT_TRUE(message.starts_with("job.yml:2:")) << wrong << " -> " << message;
  }
}

TEST_F(JobYaml, SettingsAreChecked) {
  for (const char* wrong : {"limits: {timeout: 0}",
                            "limits: {timeout: -1}",
                            "limits: {timeout: soon}",
                            "limits: 5",
                            "resources: {instance_count: 0}",
                            "resources: {shm_size: 0g}",
                            "resources: {shm_size: lots}",
                            "queue_settings: {priority: urgent}",
                            "queue_settings: {job_tier: gold}",
                            "distribution: {type: horovod}",
                            "distribution: {}",
                            "distribution: pytorch",
                            "distribution: {type: [mpi]}",
                            "distribution: {type: pytorch, process_count_per_instance: 0}",
                            "distribution: {type: tensorflow, worker_count: 0}",
                            "distribution: {type: tensorflow, parameter_server_count: -1}",
                            "distribution: {type: pytorch, worker_count: 1}",
                            "distribution: {type: mpi, process_count_per_instance: many}",
                            "identity: {}",
                            "identity: {type: me}",
                            "services: [a]",
                            "services: {a: {typ: ssh}}",
                            "tags: [a]",
                            "tags: {a: [1]}",
                            "compute: ../x",
                            "environment_variables: {'A=B': 1}",
                            "environment_variables: {A: [1]}",
                            "notification_setting: {emails: x}"}) {
    const std::string message = refuse_with(wrong);
    EXPECT_TRUE(message.starts_with("job.yml:2:")) << wrong << " -> " << message;
  }
}

TEST_F(JobYaml, ADistributionTakesArmsShape) {
  EXPECT_EQ(command_of(accept_with("distribution: {type: PyTorch}").job.spec).distribution,
            (json::value{{"distributionType", "PyTorch"}}));
  const auto tensorflow = accept_with(
      "distribution:\n  type: tensorflow\n  worker_count: 3\n  parameter_server_count: 0");
  EXPECT_EQ(
      command_of(tensorflow.job.spec).distribution,
      (json::value{
          {"distributionType", "TensorFlow"}, {"workerCount", 3}, {"parameterServerCount", 0}}));
}

TEST_F(JobYaml, RayIsRefusedAsWhatItIs) {
  const std::string message = refuse_with("distribution: {type: ray}");
  EXPECT_TRUE(message.starts_with("job.yml:2:")) << message;
  EXPECT_NE(message.find("not supported"), std::string::npos) << message;
}

TEST_F(JobYaml, SettingsTakeArmsShape) {
  const model::JobSpec spec =
      accept_with(
          "identity: {type: managed_identity, client_id: c}\n"
          "services: {lab: {type: jupyter_lab, nodes: all}, sh: {type: ssh, ssh_public_keys: k}}\n"
          "notification_setting: {email_on: [job_completed], emails: [a@b]}\n"
          "resources: {docker_args: [--gpus, all], properties: {bag: {n: 1}}}\n")
          .job.spec;

  EXPECT_EQ(spec.identity, (json::value{{"identityType", "Managed"}, {"clientId", "c"}}));
  EXPECT_EQ(spec.services.at("lab"), (json::value{{"jobServiceType", "JupyterLab"},
                                                  {"nodes", {{"nodesValueType", "All"}}}}));
  EXPECT_EQ(spec.services.at("sh").at("properties").at("sshPublicKeys").as_string(), "k");
  EXPECT_EQ(spec.notification, (json::value{{"emailOn", {"JobCompleted"}}, {"emails", {"a@b"}}}));
  EXPECT_EQ(command_of(spec).resources.docker_args, "--gpus all");
  EXPECT_EQ(command_of(spec).resources.properties.at("bag").at("n").as_int64(), 1);
}

TEST_F(JobYaml, WhatMeansNothingHereIsLeftOutWithAWarning) {
  const JobFile file = accept_with("resources: {locations: [a], max_instance_count: 3}\n");
  EXPECT_EQ(file.job.warnings.size(), 2U);
}

TEST_F(JobYaml, WhatIsShownCanBeSubmittedAgain) {
  model::Job job = accept(kFullJob).job;
  job.status = model::JobStatus::Failed;
  job.error = model::JobError{.code = "UserError", .message = "exit status 1"};
  job.started_at = WallTime(Duration(1'700'000'000'000));
  job.warnings = {"careful"};
  const model::Workspace workspace{.name = "default"};
  const json::object resource = wire::arm::to_json(job, workspace, {.base_url = "https://h:1"});

  const json::object view = job_view(job, workspace, resource);
  const model::Job again = accept(to_yaml_text(view)).job;

  EXPECT_EQ(command_of(again.spec).command, command_of(job.spec).command);
  EXPECT_EQ(again.spec->inputs, job.spec->inputs);
  EXPECT_EQ(again.spec->compute, job.spec->compute);
  EXPECT_EQ(command_of(again.spec).distribution, command_of(job.spec).distribution);
  EXPECT_EQ(again.spec->priority, job.spec->priority);
  EXPECT_EQ(again.spec->timeout, job.spec->timeout);
  EXPECT_EQ(again.properties, job.properties);
  EXPECT_TRUE(again.spec->services.empty());
}

TEST_F(JobYaml, TheViewIsWhatAzPrints) {
  model::Job job = accept(kFullJob).job;
  const model::Workspace workspace{.name = "default"};
  command_of(job.spec.edit()).code_id = model::arm_id(workspace) + "/codes/c/versions/1";
  command_of(job.spec.edit()).environment_id =
      model::arm_id(workspace) + "/environments/e/versions/2";
  const json::object resource = wire::arm::to_json(job, workspace, {.base_url = "https://h:1"});

  const json::object view = job_view(job, workspace, resource);

  std::vector<std::string> keys;
  for (const auto& member : view) keys.emplace_back(member.key());
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_EQ(view.at("code").as_string(), "azureml:" + command_of(job.spec).code_id);
  EXPECT_EQ(view.at("environment").as_string(), "azureml:e:2");
  EXPECT_EQ(view.at("compute").as_string(), "azureml:pool-a");
  EXPECT_EQ(view.at("inputs").at("lr").as_string(), "0.05");
  EXPECT_EQ(view.at("inputs").at("rows").at("mode").as_string(), "download");
  EXPECT_EQ(view.at("limits").at("timeout").as_int64(), 900);
  EXPECT_EQ(view.at("distribution").at("type").as_string(), "pytorch");
  EXPECT_EQ(view.at("services").at("Studio").at("type").as_string(), "Studio");
  EXPECT_EQ(view.at("status").as_string(), "NotStarted");
  EXPECT_EQ(view.at("resourceGroup").as_string(), "berth");
  EXPECT_EQ(view.at("type").as_string(), "command");
  EXPECT_EQ(view.at("creation_context").at("created_by_type").as_string(), "User");
  EXPECT_FALSE(view.contains("error"));
}

}  // namespace
}  // namespace berth::wire::yaml
