// SPDX-License-Identifier: Apache-2.0
#include "server/route_fixture.h"

namespace berth::server {
namespace {

using Names = std::vector<std::string>;

class AssetTest : public RouteTest {
 protected:
  Answer put_data(const std::string& version, const std::string& path = "x",
                  const std::string& more = "") {
    return put(
        "W/data/rows/versions/" + version,
        R"({"properties":{"dataType":"uri_file","dataUri":"azureml://datastores/workspaceblobstore/paths/)" +
            path + "\"" + more + "}}");
  }
  Names names(const Answer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    Names found;
    const boost::json::value body = answer.json();
    for (const auto& each : body.at("value").as_array())
      found.emplace_back(each.at("name").as_string());
    return found;
  }
  std::string path_of(const std::string& url) const {
    return url.substr(std::string("http://localhost:8470").size());
  }
};

TEST_F(AssetTest, AVersionMakesItsContainer) {
  EXPECT_EQ(get("W/data/rows").status, 404);
  const Answer made = put_data("1");
  const Answer container = get("W/data/rows");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/id"), kW + "/data/rows/versions/1");
  EXPECT_EQ(container.status, 200);
  EXPECT_EQ(container.at("/properties/latestVersion"), "1");
  EXPECT_EQ(container.at("/properties/nextVersion"), "2");
  EXPECT_EQ(get("W/data/rows/versions/1").at("/properties/dataType"), "uri_file");
  EXPECT_EQ(get("W/data/rows/versions/2").status, 404);
}

TEST_F(AssetTest, VersionsAreFoundByWhatIsSaidOfThem) {
  put_data("1", "x", R"(,"description":"first try","tags":{"k":"v"},"properties":{"p":"1"})");
  put_data("2", "x", R"(,"description":"second try","tags":{"k":"w"})");
  const auto found = [&](const std::string& query) {
    return names(get("W/data/rows/versions?" + query));
  };

  EXPECT_EQ(found("version=1"), Names{"1"});
  EXPECT_EQ(found("description=try"), (Names{"2", "1"}));
  EXPECT_EQ(found("description=first"), Names{"1"});
  EXPECT_EQ(found("tags=k%3Dw"), Names{"2"});
  EXPECT_EQ(found("properties=p"), Names{"1"});
  EXPECT_EQ(found("offset=1"), Names{"1"});
  EXPECT_EQ(found("$orderBy=createdtime%20asc"), (Names{"1", "2"}));
  EXPECT_EQ(found("$orderby=CreatedTime"), (Names{"1", "2"}));
  for (const char* query :
       {"offset=-1", "offset=x", "$orderBy=size", "$orderBy=createdtime%20up"}) {
    EXPECT_EQ(get(std::string("W/data/rows/versions?") + query).status, 400) << query;
  }
  EXPECT_EQ(get("W/data/rows/versions?feed=x").status, 501);
}

TEST_F(AssetTest, TheTypeOfDataIsFixed) {
  put_data("1");
  const Answer other = put("W/data/rows", R"({"properties":{"dataType":"mltable"}})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.at("/error/target"), "properties.dataType");
}

TEST_F(AssetTest, TheLatestIsTheNewestAndTheNextTheHighest) {
  put_data("7");
  put_data("3");
  put_data("beta");

  const Answer container = get("W/data/rows");

  EXPECT_EQ(container.at("/properties/latestVersion"), "beta");
  EXPECT_EQ(container.at("/properties/nextVersion"), "8");
  EXPECT_EQ(names(get("W/data/rows/versions")), (Names{"beta", "3", "7"}));
  EXPECT_EQ(names(get("W/data/rows/versions?$orderBy=createdtime%20desc&$top=1")), Names{"beta"});
}

TEST_F(AssetTest, AComponentsSpecificationSaysWhichItIs) {
  const std::string body =
      R"({"properties":{"componentSpec":{"type":"command","command":"ls","version":"9"}}})";

  const Answer made = put("W/components/list_it/versions/2", body);

  EXPECT_EQ(made.at("/properties/componentSpec/name"), "list_it");
  EXPECT_EQ(made.at("/properties/componentSpec/version"), "2");
  EXPECT_EQ(put("W/components/list_it/versions/2", body).status, 200);
}

TEST_F(AssetTest, TwoAtOnceBothCount) {
  std::optional<Answer> first, second;
  const std::string body = R"({"properties":{"image":"x"}})";
  send_later({.method = "PUT", .target = "W/environments/e/versions/1", .body = body}, first);
  send_later({.method = "PUT", .target = "W/environments/e/versions/2", .body = body}, second);
  settle();

  EXPECT_EQ(first->status, 201);
  EXPECT_EQ(second->status, 201);
  EXPECT_EQ(get("W/environments/e").at("/properties/nextVersion"), "3");
}

TEST_F(AssetTest, AVersionNeverChangesButItsLabelsMay) {
  put_data("1");

  EXPECT_EQ(put_data("1").status, 200);
  const Answer labelled =
      put_data("1", "x", R"(,"tags":{"k":"v"},"description":"d","isArchived":true)");
  EXPECT_EQ(labelled.status, 200);
  EXPECT_EQ(get("W/data/rows/versions/1").at("/properties/tags/k"), "v");
  EXPECT_EQ(get("W/data/rows/versions/1").at("/properties/isArchived"), "true");
  EXPECT_EQ(put_data("1", "other").status, 409);
}

TEST_F(AssetTest, ListsComeInPagesAndAreFiltered) {
  put_data("1", "x", R"(,"tags":{"k":"v"})");
  put_data("2", "x", R"(,"tags":{"k":"w","l":""})");
  put_data("3", "x", R"(,"isArchived":true)");

  const Answer first = get("W/data/rows/versions?$top=1");
  EXPECT_EQ(names(first), Names{"2"});
  const Answer second = get(path_of(first.at("/nextLink")));
  EXPECT_EQ(names(second), Names{"1"});
  EXPECT_EQ(second.at("/nextLink"), "");
  EXPECT_EQ(names(get("W/data/rows/versions?listViewType=All")), (Names{"3", "2", "1"}));
  EXPECT_EQ(names(get("W/data/rows/versions?$tags=k")), (Names{"2", "1"}));
  EXPECT_EQ(names(get("W/data/rows/versions?$tags=k%3Dv")), Names{"1"});
  EXPECT_EQ(names(get("W/data/rows/versions?$tags=k,l")), Names{"2"});
  EXPECT_EQ(names(get("W/data")), Names{"rows"});
}

TEST_F(AssetTest, DataMustBeSomewhereWeKnow) {
  for (const char* uri : {"", "/etc/passwd", "file:///etc/passwd", "azureml:other:1", "../x",
                          "azureml://datastores/workspaceblobstore/paths/../x"}) {
    const Answer answer =
        put("W/data/d/versions/1",
            R"({"properties":{"dataType":"uri_file","dataUri":")" + std::string(uri) + "\"}}");
    EXPECT_EQ(answer.status, 400) << uri;
    EXPECT_EQ(answer.at("/error/target"), "properties.dataUri") << uri;
  }
}

TEST_F(AssetTest, DeletingAVersionKeepsItsNumberUsed) {
  put_data("1");
  put_data("2");

  EXPECT_EQ(send({.method = "DELETE", .target = "W/data/rows/versions/2"}).status, 204);
  EXPECT_EQ(get("W/data/rows/versions/2").status, 404);
  EXPECT_EQ(get("W/data/rows").at("/properties/latestVersion"), "1");
  EXPECT_EQ(get("W/data/rows").at("/properties/nextVersion"), "3");
  EXPECT_EQ(send({.method = "DELETE", .target = "W/data/rows/versions/2"}).status, 204);
}

TEST_F(AssetTest, ContainersAreMadeLabelledAndDeleted) {
  const std::string body = R"({"properties":{"description":"d"}})";
  EXPECT_EQ(put("W/models/m", body).status, 201);
  EXPECT_EQ(put("W/models/m", R"({"properties":{"description":"e","isArchived":true}})").status,
            200);
  EXPECT_EQ(get("W/models/m").at("/properties/description"), "e");
  EXPECT_EQ(get("W/models/m").at("/properties/nextVersion"), "1");
  EXPECT_EQ(names(get("W/models")), Names{});
  EXPECT_EQ(names(get("W/models?listViewType=ArchivedOnly")), Names{"m"});

  EXPECT_EQ(send({.method = "DELETE", .target = "W/models/m"}).status, 204);
  EXPECT_EQ(get("W/models/m").status, 404);
}

// ---- Code --------------------------------------------------------------------------------------

/// The steps of a client that submits a job with a local folder.
TEST_F(AssetTest, CodeIsUploadedIntoAFolderOfItsOwn) {
  const Answer pending = send({.method = "POST",
                               .target = "W/codes/c1/versions/1/startPendingUpload",
                               .body = R"({"pendingUploadType":"TemporaryBlobReference"})"});
  ASSERT_EQ(pending.status, 200) << pending.body;
  const std::string blob_uri = pending.at("/blobReferenceForConsumption/blobUri");
  const std::string sas_uri = pending.at("/blobReferenceForConsumption/credential/sasUri");
  EXPECT_EQ(pending.at("/blobReferenceForConsumption/credential/credentialType"), "SAS");
  ASSERT_TRUE(sas_uri.starts_with(blob_uri + "?"));
  const std::string sas = sas_uri.substr(blob_uri.size());

  const auto by_signature = [&](const std::string& method, const std::string& path) {
    return send({.method = method, .target = path, .body = "x", .by = Principal::Kind::Nobody})
        .status;
  };
  EXPECT_EQ(by_signature("PUT", path_of(blob_uri) + "/src/main.py" + sas), 201);
  EXPECT_EQ(by_signature("HEAD", path_of(blob_uri) + "/src/main.py" + sas), 200);
  EXPECT_EQ(by_signature("GET", path_of(blob_uri) + sas + "&restype=container&comp=list"), 200);
  EXPECT_EQ(by_signature("PUT", path_of(blob_uri) + "x/src/main.py" + sas), 403);

  const Answer made = put(
      "W/codes/c1/versions/1",
      R"({"properties":{"codeUri":")" + blob_uri + "/src" + sas +
          R"(","isAnonymous":true,"properties":{"hash_sha256":"abc","hash_version":"202208"}}})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("/properties/codeUri"), blob_uri + "/src") << "no signature is kept";
}

TEST_F(AssetTest, CodeIsFoundByItsHashBelowAnyName) {
  send({.method = "PUT",
        .target = "/blob/" + workspace.text + "/azureml-blobstore/up/a.py",
        .body = "x"});
  const Answer made =
      put("W/codes/c1/versions/1",
          R"({"properties":{"codeUri":"azureml://datastores/workspaceblobstore/paths/up",)"
          R"("properties":{"hash_sha256":"abc"}}})");
  ASSERT_EQ(made.status, 201) << made.body;

  const Answer found = get("W/codes/made-up/versions?hash=abc&hashVersion=202208");
  const Answer none = get("W/codes/made-up/versions?hash=abd&hashVersion=202208");

  EXPECT_EQ(found.at("/value/0/id"), kW + "/codes/c1/versions/1");
  EXPECT_EQ(names(none), Names{});
}

TEST_F(AssetTest, CodeMustHaveBeenUploaded) {
  for (const std::string& uri :
       {std::string("http://localhost:8470/blob/") + workspace.text + "/azureml-blobstore/nothing",
        std::string("http://localhost:8470/blob/other/azureml-blobstore/up"),
        std::string("https://example.com/x"), std::string("/etc"),
        std::string("azureml://datastores/workspaceblobstore/paths/nothing"),
        std::string("azureml://datastores/nowhere/paths/x")}) {
    EXPECT_GE(put("W/codes/c/versions/1", R"({"properties":{"codeUri":")" + uri + "\"}}").status,
              400)
        << uri;
  }
  EXPECT_EQ(get("W/codes/c/versions/1").status, 404);
}

}  // namespace
}  // namespace berth::server
