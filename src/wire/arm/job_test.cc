// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/record.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {
namespace {

using model::DataMode;
using model::DataType;
using model::Job;

const Addresses kAddresses{.base_url = "https://127.0.0.1:8470"};

model::Workspace workspace() { return {.id = {"guid"}, .name = "default"}; }

Job full_job() {
  Job job{.key = {.workspace = {"guid"}, .name = "train-7"}};
  command_of(job.spec.edit()).command = "python fit.py --lr ${{inputs.lr}}";
  command_of(job.spec.edit()).code_id = "/subscriptions/s/x/codes/c/versions/1";
  command_of(job.spec.edit()).environment_id = "azureml:env:1";
  job.spec.edit().compute = "pool-a";
  job.spec.edit().experiment_name = "unit";
  command_of(job.spec.edit()).environment_variables = {{"A", "1"}, {"B", ""}};
  job.spec.edit().inputs["lr"] = {.type = DataType::Literal, .value = "0.05"};
  job.spec.edit().inputs["empty"] = {.type = DataType::Literal};
  job.spec.edit().inputs["rows"] = {.type = DataType::UriFile,
                                    .uri = "azureml:rows@latest",
                                    .mode = DataMode::Download,
                                    .description = "the rows"};
  job.spec.edit().outputs["fitted"] = {.type = DataType::CustomModel,
                                       .mode = DataMode::Upload,
                                       .asset_name = "fitted-model",
                                       .asset_version = "2"};
  job.spec.edit().outputs["plain"] = {};
  job.spec.edit().timeout = std::chrono::seconds(5400);
  command_of(job.spec.edit()).resources = {.instance_count = 2,
                                           .instance_type = "node.small",
                                           .shm_size = "1g",
                                           .docker_args = "--gpus all",
                                           .properties = {{"bag", {{"k", 1}}}}};
  job.spec.edit().priority = 3;
  job.spec.edit().job_tier = "Spot";
  command_of(job.spec.edit()).distribution = {{"distributionType", "PyTorch"},
                                              {"processCountPerInstance", 2}};
  job.spec.edit().identity = {{"identityType", "UserIdentity"}};
  job.spec.edit().notification = {{"emailOn", {"JobCompleted"}}};
  job.spec.edit().services = {{"lab", {{"jobServiceType", "JupyterLab"}}}};
  job.spec.edit().component_id = "azureml:comp:1";
  job.spec.edit().parent_job_name = "parent";
  job.display_name = "a fit";
  job.description = "fits";
  job.tags = {{"team", "blue"}};
  job.properties = {{"mlflow.source.git.commit", "abc"}};
  return job;
}

/// A body with one field of "properties" replaced.
json::value body_with(std::string_view key, const json::value& value) {
  json::object properties = {{"jobType", "Command"}, {"command", "true"}};
  properties[key] = value;
  return json::object{{"properties", properties}};
}

Error refusal_of(const json::value& body) {
  const Result<Job> job = job_from_json(body);
  if (!job) return job.error();
  ADD_FAILURE() << "accepted " << json::serialize(body);
  return {};
}

TEST(JobJson, WhatAClientReadsAndSendsBackIsTheSameJob) {
  const Job job = full_job();

  const Result<Job> again = job_from_json(to_json(job, workspace(), kAddresses));
  const Result<Job> body = job_from_json(job_body(job));

  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->spec, job.spec);
  EXPECT_EQ(again->display_name, job.display_name);
  EXPECT_EQ(again->description, job.description);
  EXPECT_EQ(again->tags, job.tags);
  EXPECT_EQ(again->properties, job.properties);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->spec, job.spec);
}

TEST(JobJson, AJobWithNothingButACommandComesBackAsItWas) {
  Job job;
  command_of(job.spec.edit()).command = "true";

  const Result<Job> again = job_from_json(to_json(job, workspace(), kAddresses));

  ASSERT_TRUE(again);
  EXPECT_EQ(again->spec, job.spec);
}

TEST(JobJson, HasWhatClientsDereferenceAndNotWhatMisleadsThem) {
  const json::object resource = to_json(full_job(), workspace(), kAddresses);
  const json::object& properties = resource.at("properties").as_object();

  EXPECT_EQ(resource.at("id").as_string(), model::arm_id(workspace()) + "/jobs/train-7");
  EXPECT_EQ(resource.at("name").as_string(), "train-7");
  EXPECT_EQ(resource.at("type").as_string(), "Microsoft.MachineLearningServices/workspaces/jobs");
  EXPECT_TRUE(properties.at("services").at("Studio").at("endpoint").is_string());
  EXPECT_EQ(properties.at("services").at("Tracking").at("endpoint").as_string(),
            "https://127.0.0.1:8470" + model::mlflow_path(workspace()));
  EXPECT_FALSE(properties.at("services").as_object().contains("Local"));
  EXPECT_FALSE(properties.at("outputs").as_object().contains("default"));
  EXPECT_EQ(properties.at("limits").at("timeout").as_string(), "PT1H30M");
  EXPECT_EQ(properties.at("limits").at("jobLimitsType").as_string(), "Command");
  EXPECT_EQ(properties.at("computeId").as_string(),
            model::arm_id(workspace()) + "/computes/pool-a");
  EXPECT_EQ(properties.at("inputs").at("rows").at("mode").as_string(), "Download");
  EXPECT_EQ(resource.at("systemData").at("createdByType").as_string(), "User");
}

TEST(JobJson, ANewJobStillHasItsServicesAndItsPropertiesMap) {
  const json::object resource = to_json(Job{}, workspace(), kAddresses);

  EXPECT_TRUE(resource.at("properties").at("properties").is_object());
  EXPECT_TRUE(resource.at("properties").at("services").as_object().contains("Studio"));
  EXPECT_FALSE(resource.at("properties").as_object().contains("queueSettings"));
}

TEST(JobJson, ProgressIsReadByOurClientsAndIgnoredInABody) {
  Job job = full_job();
  job.status = model::JobStatus::Failed;
  job.attempt = 2;
  job.holding = model::Members{{{.node = {"node-1"}}}};
  job.cancel_requested = true;
  job.error = model::JobError{.code = "UserError", .message = "exit status 3"};
  job.outcome = model::Outcome{.exit_code = 3, .message = "three"};
  job.warnings = {"careful"};
  job.created_by = "owner";
  job.created_at = WallTime(Duration(1'700'000'000'123));
  job.modified_at = job.created_at + Duration(5);
  job.started_at = job.created_at + Duration(1);
  job.ended_at = job.created_at + Duration(2);
  const json::object resource = to_json(job, workspace(), kAddresses);

  const Result<Job> read = job_from_resource(resource);
  const Result<Job> body = job_from_json(resource);

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->key.name, "train-7");
  EXPECT_EQ(read->spec, job.spec);
  EXPECT_EQ(read->status, model::JobStatus::Failed);
  EXPECT_EQ(read->attempt, 2);
  EXPECT_EQ(model::head_node(*read).text, "node-1");
  EXPECT_TRUE(read->cancel_requested);
  EXPECT_EQ(read->error->message, "exit status 3");
  EXPECT_EQ(read->outcome, job.outcome);
  EXPECT_EQ(read->warnings, job.warnings);
  EXPECT_EQ(read->created_by, "owner");
  EXPECT_EQ(read->created_at, job.created_at);
  EXPECT_EQ(read->modified_at, job.modified_at);
  EXPECT_EQ(read->started_at, job.started_at);
  EXPECT_EQ(read->ended_at, job.ended_at);
  EXPECT_EQ(read->properties, job.properties);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->properties, job.properties);
  EXPECT_EQ(body->status, model::JobStatus::NotStarted);
  EXPECT_EQ(body->attempt, 0);
  EXPECT_FALSE(body->error);
}

TEST(JobJson, AnArrayIsAPipelineWithAProperty) {
  Job job = full_job();
  job.spec.edit().work = model::ArrayWork{
      .each = std::move(command_of(job.spec)), .first = 2, .last = 9, .at_once = 3};

  const json::object body = job_body(job);
  const json::object& properties = body.at("properties").as_object();
  EXPECT_EQ(properties.at("jobType"), "Pipeline");
  EXPECT_TRUE(properties.at("jobs").as_object().empty());
  EXPECT_EQ(properties.at("properties").at("berth.array"), "2-9%3");
  const Job again = job_from_json(body).value();
  EXPECT_EQ(again.spec, job.spec);
  EXPECT_EQ(again.properties, job.properties);
}

TEST(JobJson, ACommandJobWithThePropertyIsAnArray) {
  const Job job = job_from_json(body_with("properties", {{"berth.array", "1-4"}})).value();
  const auto& array = std::get<model::ArrayWork>(job.spec->work);
  EXPECT_EQ(array.last, 4);
  EXPECT_EQ(array.each.command, "true");
  EXPECT_TRUE(job.properties.empty());
}

TEST(JobJson, OtherPipelinesAndWrongRangesAreRefused) {
  EXPECT_EQ(refusal_of(body_with("jobType", "Pipeline")).code, Code::NotSupported);
  EXPECT_EQ(refusal_of(body_with("properties", {{"berth.array", "x"}})).target,
            "properties.berth.array");
}

TEST(JobJson, EnumValuesAreReadInAnyCaseAndBothSpellings) {
  const auto input_of = [](const char* type, const char* mode) {
    const Result<Job> job = job_from_json(body_with(
        "inputs", {{"x", {{"jobInputType", type}, {"uri", "azureml:a:1"}, {"mode", mode}}}}));
    return job ? job->spec->inputs.at("x") : model::JobInput{.type = DataType::Literal};
  };

  EXPECT_EQ(input_of("uri_folder", "ro_mount").type, DataType::UriFolder);
  EXPECT_EQ(input_of("UriFolder", "readonlymount").mode, DataMode::ReadOnlyMount);
  EXPECT_EQ(input_of("URI_FILE", "eval_mount").mode, DataMode::EvalMount);
  EXPECT_TRUE(
      job_from_json(json::object{{"properties", {{"jobType", "command"}, {"command", "x"}}}})
          .has_value());
}

TEST(JobJson, TheComputeMayBeWrittenInEveryWay) {
  const auto compute_of = [](const json::value& id) {
    return job_from_json(body_with("computeId", id))->spec->compute;
  };

  EXPECT_EQ(compute_of("local"), "local");
  EXPECT_EQ(compute_of("pool-a"), "pool-a");
  EXPECT_EQ(compute_of(json::value(model::arm_id(workspace()) + "/computes/pool-a")), "pool-a");
  EXPECT_EQ(compute_of("serverless"), "");
  EXPECT_EQ(compute_of(nullptr), "");
}

TEST(JobJson, NumbersAndTruthValuesInMapsOfTextAreTakenAsTheyAreWritten) {
  const Result<model::Job> job =
      job_from_json(body_with("tags", {{"a", 1}, {"b", true}, {"c", nullptr}, {"d", "x"}}));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->tags, (std::map<std::string, std::string>{{"a", "1"}, {"b", "true"}, {"d", "x"}}));
}

TEST(JobJson, TruthValuesMayComeAsText) {
  EXPECT_TRUE(job_from_json(body_with("isArchived", "True"))->is_archived);
  EXPECT_FALSE(job_from_json(body_with("isArchived", "false"))->is_archived);
  EXPECT_EQ(refusal_of(body_with("isArchived", "yes")).target, "properties.isArchived");
  EXPECT_EQ(refusal_of(body_with("isArchived", 1)).target, "properties.isArchived");
}

TEST(JobJson, WhatThePythonClientAddsToLocalJobsIsNoPartOfThem) {
  json::value body =
      body_with("resources", {{"instanceCount", 1}, {"properties", {{"IsLocal", json::object()}}}});
  body.at("properties").as_object()["environmentVariables"] = {
      {"AZUREML_COMPUTE_USE_COMMON_RUNTIME", "true"}, {"MINE", "1"}};
  const Result<model::Job> job = job_from_json(body);
  ASSERT_TRUE(job);
  EXPECT_TRUE(command_of(job->spec).resources.properties.empty());
  EXPECT_EQ(command_of(job->spec).environment_variables,
            (std::map<std::string, std::string>{{"MINE", "1"}}));
}

TEST(JobJson, AFieldOfTheWrongTypeIsNamed) {
  EXPECT_EQ(refusal_of(json::value("x")).code, Code::InvalidArgument);
  EXPECT_EQ(refusal_of(json::object()).target, "properties");
  EXPECT_EQ(refusal_of(body_with("command", 5)).target, "properties.command");
  EXPECT_EQ(refusal_of(body_with("command", "")).target, "properties.command");
  EXPECT_EQ(refusal_of(body_with("tags", "x")).target, "properties.tags");
  EXPECT_EQ(refusal_of(body_with("tags", {{"a", json::array{1}}})).target, "properties.tags.a");
  EXPECT_EQ(refusal_of(body_with("limits", {{"timeout", "soon"}})).target,
            "properties.limits.timeout");
  EXPECT_EQ(refusal_of(body_with("limits", {{"timeout", "PT0S"}})).target,
            "properties.limits.timeout");
  EXPECT_EQ(refusal_of(body_with("inputs", {{"x", 1}})).target, "properties.inputs.x");
  EXPECT_EQ(refusal_of(body_with("inputs", {{"x", {{"jobInputType", "uri_file"}}}})).target,
            "properties.inputs.x.uri");
  EXPECT_EQ(
      refusal_of(body_with("inputs", {{"x", {{"jobInputType", "zip"}, {"uri", "u"}}}})).target,
      "properties.inputs.x.jobInputType");
  EXPECT_EQ(
      refusal_of(
          body_with("outputs", {{"y", {{"jobOutputType", "uri_file"}, {"mode", "ReadOnlyMount"}}}}))
          .target,
      "properties.outputs.y.mode");
  EXPECT_EQ(refusal_of(body_with("resources", {{"instanceCount", 0}})).target,
            "properties.resources.instanceCount");
  EXPECT_EQ(refusal_of(body_with("resources", {{"instanceCount", 1.5}})).target,
            "properties.resources.instanceCount");
  EXPECT_EQ(refusal_of(body_with("queueSettings", {{"priority", 4}})).target,
            "properties.queueSettings.priority");
  EXPECT_EQ(refusal_of(body_with("queueSettings", {{"jobTier", "gold"}})).target,
            "properties.queueSettings.jobTier");
  EXPECT_EQ(refusal_of(body_with("computeId", "../x")).target, "properties.computeId");
  EXPECT_EQ(refusal_of(body_with("distribution", "PyTorch")).target, "properties.distribution");
  EXPECT_EQ(refusal_of(body_with("services", {{"a", 1}})).target, "properties.services.a");
  EXPECT_EQ(refusal_of(body_with("isArchived", "yes")).target, "properties.isArchived");
}

TEST(JobJson, OtherJobTypesOfAzureAreUnsupportedAndUnknownOnesWrong) {
  for (const char* type : {"Sweep", "pipeline", "AutoML", "Spark"}) {
    EXPECT_EQ(refusal_of(body_with("jobType", type)).code, Code::NotSupported) << type;
  }
  EXPECT_EQ(refusal_of(body_with("jobType", "Sweep")).message, "sweep jobs are not supported yet");
  const Error unknown = refusal_of(body_with("jobType", "Batch"));
  EXPECT_EQ(unknown.code, Code::InvalidArgument);
  EXPECT_NE(unknown.message.find("Command, Sweep"), std::string::npos) << unknown.message;
}

TEST(JobJson, NullsAndUnknownFieldsAreSkipped) {
  const Result<Job> job = job_from_json(*record::parse(R"({"properties": {"jobType": "Command",
      "command": "true", "tags": null, "inputs": null, "limits": {"timeout": null},
      "resources": null, "experimentName": null, "queueSettings": {"jobTier": null},
      "distribution": null, "nonsense": [1, 2], "status": "Completed"}})"));

  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->spec->experiment_name, "Default");
  EXPECT_EQ(job->status, model::JobStatus::NotStarted);
}

TEST(Spelling, AWrongWordDrawsTheNearestRightOne) {
  EXPECT_NE(data_type_from("uri_fil").error().message.find("did you mean 'uri_file'"),
            std::string::npos);
  EXPECT_NE(data_mode_from("ro_mout").error().message.find("did you mean 'ro_mount'"),
            std::string::npos);
  EXPECT_EQ(*data_mode_from("mount"), DataMode::ReadWriteMount);
  EXPECT_EQ(to_yaml(DataMode::EvalDownload), "eval_download");
}

}  // namespace
}  // namespace berth::wire::arm
