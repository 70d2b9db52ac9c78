// SPDX-License-Identifier: Apache-2.0
// MLflow's registry and Azure ML's models, seen from each other.
#include "server/route_fixture.h"

namespace berth::server {
namespace {

using Names = std::vector<std::string>;

class RegistryTest : public RouteTest {
 protected:
  RegistryTest() {
    put_file("azureml", "ExperimentRun/dcid.run1/model/MLmodel");
    put_file("azureml-blobstore", "LocalUpload/x/model/MLmodel");
  }
  Answer mlflow(const std::string& method, const std::string& below, const std::string& body = "") {
    return send({.method = method,
                 .target = "/mlflow/v1.0" + kW + "/api/2.0/mlflow/" + below,
                 .body = body});
  }
  Answer post(const std::string& below, const std::string& body) {
    return mlflow("POST", below, body);
  }
  Answer make(const std::string& name, const std::string& source, const std::string& more = "") {
    post("registered-models/create", R"({"name":")" + name + R"("})");
    return post("model-versions/create",
                R"({"name":")" + name + R"(","source":")" + source + "\"" + more + "}");
  }
  Answer put_model(const std::string& name_and_version, const std::string& uri,
                   const std::string& more = "") {
    const auto slash = name_and_version.find('/');
    return put("W/models/" + name_and_version.substr(0, slash) + "/versions/" +
                   name_and_version.substr(slash + 1),
               R"({"properties":{"modelUri":")" + uri + "\"" + more + "}}");
  }
  std::string error_of(const Answer& answer) { return answer.at("/error/message"); }

  Answer put_file(const std::string& container, const std::string& path,
                  const std::string& content = "x") {
    return send({.method = "PUT",
                 .target = "/blob/" + workspace.text + "/" + container + "/" + path,
                 .body = content,
                 .headers = {{"x-ms-blob-type", "BlockBlob"}}});
  }
  /// The path in the artifact store that the version's files were pinned to.
  std::string pinned(const std::string& name_and_version) {
    const auto slash = name_and_version.find('/');
    const std::string uri = get("W/models/" + name_and_version.substr(0, slash) + "/versions/" +
                                name_and_version.substr(slash + 1))
                                .at("/properties/modelUri");
    const std::string start = "/datastores/workspaceartifactstore/paths/";
    const auto at = uri.find(start);
    EXPECT_NE(at, uri.npos) << uri;
    return at == uri.npos ? uri : uri.substr(at + start.size());
  }
};

const std::string kArtifact = "mlflow-artifacts:/ExperimentRun/dcid.run1/model";
const std::string kPlace = "azureml://datastores/workspaceblobstore/paths/LocalUpload/x/model";

TEST_F(RegistryTest, WhatMlflowRegistersIsAnAzureModel) {
  const Answer made =
      make("line", kArtifact, R"(,"description":"words","tags":[{"key":"a","value":"b"}])");

  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.at("/model_version/version"), "1");
  EXPECT_EQ(made.at("/model_version/run_id"), "run1");
  EXPECT_EQ(made.at("/model_version/source"), kArtifact);
  const Answer arm = get("W/models/line/versions/1");
  EXPECT_EQ(arm.status, 200);
  EXPECT_EQ(arm.at("/properties/modelType"), "mlflow_model");
  EXPECT_EQ(arm.at("/properties/jobName"), "run1");
  EXPECT_EQ(arm.at("/properties/description"), "words");
  EXPECT_EQ(arm.at("/properties/tags/a"), "b");
  EXPECT_EQ(arm.at("/properties/flavors"), "{}");
  EXPECT_TRUE(pinned("line/1").starts_with("RegisteredModels/"));
  EXPECT_TRUE(pinned("line/1").ends_with("/model"));
  EXPECT_EQ(arm.at("/properties/digest").size(), 64u);
  EXPECT_EQ(get("W/models/line").at("/properties/nextVersion"), "2");
}

TEST_F(RegistryTest, WhatAzureRegistersIsAnMlflowModel) {
  ASSERT_EQ(put_model("line/v2", kPlace, R"(,"stage":"Production","tags":{"a":"b"})").status, 201);
  ASSERT_EQ(put_model("line/4", kPlace).status, 201);

  const Answer version = mlflow("GET", "model-versions/get?name=line&version=v2");
  const Answer uri = mlflow("GET", "model-versions/get-download-uri?name=line&version=4");
  const Answer latest = mlflow("GET", "registered-models/get-latest-versions?name=line");

  EXPECT_EQ(version.at("/model_version/current_stage"), "Production");
  EXPECT_EQ(version.at("/model_version/source"),
            get("W/models/line/versions/v2").at("/properties/modelUri"));
  EXPECT_EQ(uri.at("/artifact_uri"), "mlflow-artifacts:/" + pinned("line/4"));
  EXPECT_EQ(latest.at("/model_versions/0/version"), "4");
  EXPECT_EQ(latest.at("/model_versions/1"), "");
  EXPECT_EQ(make("line", kArtifact).at("/model_version/version"), "5");
}

TEST_F(RegistryTest, AClientMayPutBackWhatItGotAndNothingElse) {
  make("line", kArtifact);
  const std::string uri = get("W/models/line/versions/1").at("/properties/modelUri");
  const std::string type = R"(,"modelType":"mlflow_model")";

  EXPECT_EQ(put_model("line/1", uri, type + R"(,"isArchived":true,"stage":"Staging")").status, 200);
  EXPECT_EQ(
      put_model("line/1",
                "azureml://datastores/workspaceartifactstore/paths/ExperimentRun/dcid.run1/model/",
                type)
          .status,
      200);
  EXPECT_EQ(put_model("line/1", kPlace, type).status, 409);
  EXPECT_EQ(put_model("line/1", uri).status, 409);
  EXPECT_EQ(put_model("line/1", uri, type + R"(,"flavors":{"x":{"data":{}}})").status, 409);
  EXPECT_EQ(get("W/models/line/versions/1").at("/properties/jobName"), "run1");
  EXPECT_EQ(mlflow("GET", "model-versions/get?name=line&version=1").at("/model_version/source"),
            kArtifact);
}

TEST_F(RegistryTest, AliasesAreLabelsAndGoWithTheirVersion) {
  make("line", kArtifact);
  make("line", kArtifact);
  const std::string alias = R"({"name":"line","alias":"champion","version":"2"})";
  EXPECT_EQ(post("registered-models/alias", alias).status, 200);

  EXPECT_EQ(get("W/models/line").at("/properties/labels/champion"), "2");
  EXPECT_EQ(mlflow("GET", "registered-models/alias?name=line&alias=champion")
                .at("/model_version/version"),
            "2");
  EXPECT_EQ(send({.method = "DELETE", .target = "W/models/line/versions/2"}).status, 204);
  EXPECT_EQ(mlflow("GET", "registered-models/alias?name=line&alias=champion").status, 404);
  EXPECT_EQ(get("W/models/line").at("/properties/labels"), "");
  EXPECT_EQ(get("W/models/line").at("/properties/latestVersion"), "1");
  EXPECT_EQ(post("registered-models/alias", alias).status, 404);
}

TEST_F(RegistryTest, ARenamedModelIsNoLongerUnderItsOldName) {
  make("old", kArtifact);
  const Answer renamed = post("registered-models/rename", R"({"name":"old","new_name":"new"})");

  EXPECT_EQ(renamed.at("/registered_model/latest_versions/0/name"), "new");
  EXPECT_EQ(get("W/models/new/versions/1").at("/id"), kW + "/models/new/versions/1");
  EXPECT_EQ(get("W/models/old/versions/1").status, 404);
  EXPECT_EQ(get("W/models/old").status, 404);
  EXPECT_EQ(make("new", kArtifact).at("/model_version/version"), "2");
}

TEST_F(RegistryTest, AVersionMadeWhileTheModelIsRenamedComesAlong) {
  make("old", kArtifact);
  std::optional<Answer> made, renamed;
  const std::string prefix = "/mlflow/v1.0" + kW + "/api/2.0/mlflow/";
  send_later({.method = "POST",
              .target = prefix + "model-versions/create",
              .body = R"({"name":"old","source":")" + kArtifact + R"("})"},
             made);
  send_later({.method = "POST",
              .target = prefix + "registered-models/rename",
              .body = R"({"name":"old","new_name":"new"})"},
             renamed);
  settle();

  EXPECT_EQ(made->status, 200);
  EXPECT_EQ(renamed->status, 200);
  EXPECT_EQ(get("W/models/new/versions/2").status, 200);
  EXPECT_EQ(get("W/models/old/versions/2").status, 404);
}

TEST_F(RegistryTest, SourcesAreFoundOrRefused) {
  make("line", kArtifact);
  const auto status_of = [&](const std::string& source) {
    return post("model-versions/create", R"({"name":"line","source":")" + source + "\"}").status;
  };
  EXPECT_EQ(status_of("models:/line/1"), 200);
  EXPECT_EQ(status_of("s3://bucket/model"), 200);
  EXPECT_EQ(status_of("mlflow-artifacts://host:1/ExperimentRun/dcid.run1/model"), 200);
  EXPECT_EQ(status_of(kPlace), 200);
  EXPECT_EQ(
      mlflow("GET", "model-versions/get-download-uri?name=line&version=3").at("/artifact_uri"),
      "s3://bucket/model");
  for (const char* wrong :
       {"/home/me", "file:///home/me", "me", "C:/me", "gopher://x", "mlflow-artifacts:/",
        "mlflow-artifacts:/a/%2e%2e/b", "azureml:line:1"}) {
    EXPECT_EQ(status_of(wrong), 400) << wrong;
  }
  for (const char* missing :
       {"models:/none/1", "models:/line/77", "models:/line@none", "models:/m-1", "runs:/none/m",
        "mlflow-artifacts:/ExperimentRun/dcid.x/m", "mlflow-artifacts:/elsewhere",
        "azureml://datastores/workspaceblobstore/paths/nowhere"}) {
    EXPECT_EQ(status_of(missing), 404) << missing;
  }
}

TEST_F(RegistryTest, AModelUriIsFoundOrRefused) {
  running("train");
  const std::string place = "azureml://jobs/train/outputs/artifacts/paths/outputs/m";
  EXPECT_NE(error_of(put_model("line/1", place)).find("it is not over"), std::string::npos);
  finish(job("train"), "log");
  const Answer empty = put_model("line/1", place);
  EXPECT_EQ(empty.status, 400);
  EXPECT_EQ(error_of(empty), "job 'train' has no artifact 'outputs/m'; it has user_logs/");
  EXPECT_EQ(empty.at("/error/target"), "properties.modelUri");
  put_file("azureml", "ExperimentRun/dcid.train/outputs/m/w.bin");
  EXPECT_EQ(put_model("line/1", place).status, 201);
  const Answer made = get("W/models/line/versions/1");
  EXPECT_EQ(made.at("/properties/jobName"), "train");
  EXPECT_TRUE(pinned("line/1").ends_with("/m"));
  EXPECT_EQ(put_model("line/1", place).status, 200);
  EXPECT_EQ(put_model("line/2", "azureml://jobs/none/outputs/o").status, 400);
  EXPECT_EQ(put_model("line/2", "azureml://jobs/train/outputs/none").status, 400);
  EXPECT_EQ(put_model("line/2", "./model").status, 400);
  EXPECT_EQ(put_model("line/2", "azureml:line:1").status, 400);
  EXPECT_EQ(put_model("line/2", kPlace, R"(,"modelType":"onnx")").status, 400);
  EXPECT_EQ(
      put_model("line/2", kPlace, R"(,"modelType":"TritonModel")").at("/properties/modelType"),
      "triton_model");
}

TEST_F(RegistryTest, AnMlflowModelHasAnMlmodelAtItsRoot) {
  put_file("azureml-blobstore", "deep/model/MLmodel");
  const std::string type = R"(,"modelType":"mlflow_model")";
  const std::string above = "azureml://datastores/workspaceblobstore/paths/deep";
  EXPECT_NE(error_of(put_model("line/1", above, type)).find("no file MLmodel"), std::string::npos);
  EXPECT_EQ(put_model("line/1", above + "/model/MLmodel", type).status, 400);
  EXPECT_EQ(make("line", above).status, 400);
  EXPECT_EQ(put_model("line/1", above + "/model", type).status, 201);
  EXPECT_EQ(put_model("line/2", above).status, 201);
}

TEST_F(RegistryTest, AVersionKeepsTheBytesItWasRegisteredWith) {
  put_file("azureml-blobstore", "m/w.bin", "good");
  put_file("azureml-blobstore", "m/deep/v.bin", "more");
  const std::string uri = "azureml://datastores/workspaceblobstore/paths/m";
  ASSERT_EQ(put_model("line/1", uri).status, 201);
  const std::string digest = get("W/models/line/versions/1").at("/properties/digest");
  put_file("azureml-blobstore", "m/w.bin", "evil");
  ASSERT_EQ(put_model("line/2", uri).status, 201);

  const std::string here = "/blob/" + workspace.text + "/azureml/";
  EXPECT_EQ(get(here + pinned("line/1") + "/w.bin").body, "good");
  EXPECT_EQ(get(here + pinned("line/2") + "/w.bin").body, "evil");
  EXPECT_NE(get("W/models/line/versions/2").at("/properties/digest"), digest);
  EXPECT_EQ(put_file("azureml", pinned("line/1") + "/w.bin", "evil").status, 409);
  EXPECT_EQ(put_file("azureml", pinned("line/1") + "/new.bin", "evil").status, 409);
  EXPECT_EQ(get(here + pinned("line/1") + "/w.bin").body, "good");

  const std::string first = pinned("line/1"), second = pinned("line/2");
  EXPECT_EQ(send({.method = "DELETE", .target = "W/models/line/versions/1"}).status, 204);
  EXPECT_EQ(get(here + first + "/w.bin").status, 404);
  EXPECT_EQ(get(here + second + "/w.bin").status, 200);
  EXPECT_EQ(send({.method = "DELETE", .target = "W/models/line"}).status, 204);
  EXPECT_EQ(get(here + second + "/deep/v.bin").status, 404);
  EXPECT_EQ(get("/blob/" + workspace.text + "/azureml-blobstore/m/w.bin").status, 200);
}

TEST_F(RegistryTest, FilesThatAreNotThoseThatWereRegisteredAreNotUsed) {
  make("line", kArtifact);
  const std::string file = pinned("line/1") + "/MLmodel";
  store::Blob blob = **rows->blob({workspace, "azureml", file});
  blob.pieces = {{std::string(64, 'a'), 1}};  // Past every door, as damage would.
  plane.ledger.write({store::PutBlob{blob}});
  settle();

  const Answer uri = mlflow("GET", "model-versions/get-download-uri?name=line&version=1");
  EXPECT_EQ(uri.status, 400);
  EXPECT_NE(uri.body.find("version '1' of model 'line'"), std::string::npos) << uri.body;
  const Answer job = put("W/jobs/use", R"({"properties":{"jobType":"Command","command":"true",
      "inputs":{"m":{"jobInputType":"mlflow_model","uri":"azureml:line:1"}}}})");
  EXPECT_NE(error_of(job).find("are not those that were registered"), std::string::npos)
      << job.body;
  EXPECT_EQ(make("copy", "models:/line/1").status, 400);
}

TEST_F(RegistryTest, SearchesGoPageByPage) {
  for (const char* name : {"a", "b", "c"}) make(name, kArtifact);
  const Answer first = mlflow("GET", "registered-models/search?max_results=2&order_by=name%20DESC");
  const std::string token = first.at("/next_page_token");
  const Answer second =
      mlflow("GET", "registered-models/search?max_results=2&order_by=name%20DESC&page_token=" +
                        percent_encode(token));

  EXPECT_EQ(first.at("/registered_models/0/name"), "c");
  EXPECT_EQ(second.at("/registered_models/0/name"), "a");
  EXPECT_EQ(second.at("/registered_models/1"), "");
  EXPECT_EQ(second.at("/next_page_token"), "");
  EXPECT_EQ(mlflow("GET", "registered-models/search?page_token=x").status, 400);
  EXPECT_EQ(mlflow("GET", "registered-models/search?order_by=name&order_by=name%20DESC").status,
            400);
  EXPECT_EQ(mlflow("GET", "registered-models/search?filter=nam%20%3D%201").status, 400);
}

}  // namespace
}  // namespace berth::server
