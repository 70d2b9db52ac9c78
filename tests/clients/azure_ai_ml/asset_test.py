# SPDX-License-Identifier: Apache-2.0
"""Data, environments, components, models, code: versions, labels, latest, lists, archive, download."""

import pytest
from azure.ai.ml import __version__ as VERSION
from azure.ai.ml import Input, load_component
from azure.ai.ml.constants import ListViewType
from azure.ai.ml.entities import Data, Environment, Model
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from harness import WORKSPACE


def names(listed):
    return [each.name for each in listed]


def versions(listed):
    return [each.version for each in listed]


def test_versions_of_data(ml, folder):
    rows = folder("rows", {"a.csv": "1", "deep/b.csv": "2"})
    first = ml.data.create_or_update(Data(name="rows", path=rows, type="uri_folder", description="one", tags={"a": "b"}))
    second = ml.data.create_or_update(Data(name="rows", path=f"{rows}/deep", type="uri_folder", version="7"))
    third = ml.data.create_or_update(Data(name="rows", path=rows, type="uri_folder"))
    assert (first.version, second.version, third.version) == ("1", "7", "8")
    assert first.id == f"{WORKSPACE}/data/rows/versions/1" and first.path.startswith("azureml://")
    assert (first.description, first.tags) == ("one", {"a": "b"}) and first.creation_context.created_at

    assert ml.data.get("rows", version="7").version == "7"
    assert ml.data.get("rows", label="latest").version == "8"
    assert versions(ml.data.list("rows")) == ["8", "7", "1"]
    assert names(ml.data.list()) == ["rows"] and next(iter(ml.data.list())).latest_version == "8"
    for missing in ({"name": "rows", "version": "9"}, {"name": "none", "version": "1"}):
        with pytest.raises(ResourceNotFoundError):
            ml.data.get(**missing)


def test_a_file_is_one_file(ml, folder):
    made = ml.data.create_or_update(Data(name="one", path=folder("rows", {"a.csv": "1"}) + "/a.csv", type="uri_file"))
    assert made.type == "uri_file" and made.path.endswith("/a.csv")


def test_the_same_folder_is_not_sent_twice(ml, folder):
    rows = folder("rows", {"a.csv": "1"})
    first = ml.data.create_or_update(Data(name="a", path=rows, type="uri_folder"))
    second = ml.data.create_or_update(Data(name="b", path=rows, type="uri_folder"))
    assert first.path == second.path


def test_archived_versions_and_assets_leave_the_lists(ml, folder):
    rows = folder("rows", {"a.csv": "1"})
    for _ in range(2):
        ml.data.create_or_update(Data(name="rows", path=rows, type="uri_folder"))
    ml.data.create_or_update(Data(name="other", path=rows, type="uri_folder"))
    ml.data.archive("rows", version="1")
    assert versions(ml.data.list("rows")) == ["2"]
    assert versions(ml.data.list("rows", list_view_type=ListViewType.ARCHIVED_ONLY)) == ["1"]
    assert versions(ml.data.list("rows", list_view_type=ListViewType.ALL)) == ["2", "1"]
    assert ml.data.get("rows", version="1").version == "1"
    ml.data.restore("rows", version="1")
    assert versions(ml.data.list("rows")) == ["2", "1"]
    ml.data.archive("rows")
    assert names(ml.data.list()) == ["other"]
    assert names(ml.data.list(list_view_type=ListViewType.ARCHIVED_ONLY)) == ["rows"]
    ml.data.restore("rows")
    assert sorted(names(ml.data.list())) == ["other", "rows"]


def test_a_version_never_changes(ml, folder):
    ml.data.create_or_update(Data(name="rows", version="1", path=folder("rows", {"a.csv": "1"}), type="uri_folder"))
    with pytest.raises(Exception, match="exist") as caught:  # The client has words of its own for a 409.
        ml.data.create_or_update(Data(name="rows", version="1", path=folder("rows2", {"a.csv": "2"}), type="uri_folder"))
    assert "other content" in str(caught.value) or "already exist" in str(caught.value).lower()
    again = ml.data.get("rows", version="1")
    again.tags = {"checked": "yes"}
    assert ml.data.create_or_update(again).tags == {"checked": "yes"}


def test_data_at_addresses(ml):
    web = ml.data.create_or_update(Data(name="web", path="https://example.invalid/a.csv", type="uri_file"))
    assert web.path == "https://example.invalid/a.csv"
    stored = ml.data.create_or_update(Data(name="store", path="azureml://datastores/workspaceblobstore/paths/x/", type="uri_folder"))
    assert stored.path.endswith("/paths/x/")


def test_environments(ml):
    conda = {"name": "e", "dependencies": ["python=3.11", {"pip": ["numpy"]}]}
    first = ml.environments.create_or_update(Environment(name="tools", image="debian:12", conda_file=conda,
                                                         description="what we use", tags={"a": "b"}))
    second = ml.environments.create_or_update(Environment(name="tools", image="debian:12"))
    assert (first.version, second.version) == ("1", "2")
    got = ml.environments.get("tools", version="1")
    assert (got.image, got.conda_file["dependencies"][0], got.tags) == ("debian:12", "python=3.11", {"a": "b"})
    assert got.id == f"{WORKSPACE}/environments/tools/versions/1" and got.os_type.lower() == "linux"
    assert ml.environments.get("tools", label="latest").version == "2"
    assert versions(ml.environments.list("tools")) == ["2", "1"] and names(ml.environments.list()) == ["tools"]
    ml.environments.archive("tools", version="2")
    assert versions(ml.environments.list("tools")) == ["1"]
    ml.environments.restore("tools", version="2")
    ml.environments.archive("tools")
    assert names(ml.environments.list()) == []
    ml.environments.restore("tools")
    assert names(ml.environments.list()) == ["tools"]


COMPONENT = """
$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
name: mean
version: {version}
type: command
display_name: Mean
inputs:
  rows: {{type: uri_folder}}
  rate: {{type: number, default: 0.5}}
outputs:
  model: {{type: uri_folder}}
command: python3 mean.py ${{{{inputs.rows}}}} ${{{{inputs.rate}}}} ${{{{outputs.model}}}}
code: ./code
environment: azureml:tools:1
"""


def test_components(ml, pointed, folder):
    folder("code", {"mean.py": "print(1)"})
    ml.environments.create_or_update(Environment(name="tools", version="1", image="debian:12"))
    for version in ("1", "2"):
        file = pointed.file(f"mean{version}.yml", COMPONENT.format(version=version))
        made = ml.components.create_or_update(load_component(str(file)))
        assert (made.name, made.version, made.type) == ("mean", version, "command")
    got = ml.components.get("mean", version="1")
    assert got.display_name == "Mean" and float(got.inputs["rate"].default) == 0.5
    assert got.command.startswith("python3 mean.py") and got.id == f"{WORKSPACE}/components/mean/versions/1"
    assert ml.components.get("mean").version == "2" and ml.components.get("mean", label="latest").version == "2"
    assert versions(ml.components.list("mean")) == ["2", "1"] and names(ml.components.list()) == ["mean"]
    ml.components.archive("mean", version="1")
    assert versions(ml.components.list("mean")) == ["2"]
    ml.components.restore("mean", version="1")
    ml.components.archive("mean")
    assert names(ml.components.list()) == []
    ml.components.restore("mean")
    job = got(rows=Input(type="uri_folder", path=folder("rows", {"a.csv": "1"})))
    job.compute = "local"
    assert job.component.name == "mean"


def test_models(ml, folder, tmp_path):
    weights = folder("weights", {"w.bin": b"\0\1\2", "deep/config.json": "{}"})
    first = ml.models.create_or_update(Model(name="net", path=weights, type="custom_model", description="d", tags={"a": "b"}))
    second = ml.models.create_or_update(Model(name="net", path=f"{weights}/w.bin", type="custom_model"))
    assert (first.version, second.version) == ("1", "2") and first.id == f"{WORKSPACE}/models/net/versions/1"
    got = ml.models.get("net", version="1")
    assert (got.type, got.description, got.tags) == ("custom_model", "d", {"a": "b"}) and got.flavors in (None, {})
    assert ml.models.get("net", label="latest").version == "2"
    assert versions(ml.models.list("net")) == ["2", "1"] and names(ml.models.list()) == ["net"]

    ml.models.download("net", "1", download_path=tmp_path)
    assert (tmp_path / "net/weights/w.bin").read_bytes() == b"\0\1\2"
    assert (tmp_path / "net/weights/deep/config.json").read_text() == "{}"

    ml.models.archive("net", version="1")
    assert versions(ml.models.list("net")) == ["2"]
    ml.models.restore("net", version="1")
    ml.models.archive("net")
    assert names(ml.models.list()) == []
    ml.models.restore("net")
    assert names(ml.models.list()) == ["net"]
    with pytest.raises(ResourceNotFoundError):
        ml.models.get("net", version="9")


def test_datastores(ml):
    listed = {each.name: each for each in ml.datastores.list()}
    assert set(listed) == {"workspaceblobstore", "workspaceartifactstore"}
    default = ml.datastores.get_default()
    assert default.name == "workspaceblobstore" and default.type == "AzureBlob" and default.container_name
    assert ml.datastores.get("workspaceartifactstore").id == f"{WORKSPACE}/datastores/workspaceartifactstore"
    with_secret = ml.datastores.get("workspaceblobstore", include_secrets=True)
    secret = getattr(with_secret.credentials, "sas_token", None)  # 1.20 drops what it was told.
    assert VERSION == "1.20.0" or "sig=" in secret and "se=" in secret
    with pytest.raises(ResourceNotFoundError, match="nothing"):
        ml.datastores.get("nothing")


def test_a_datastore_elsewhere_is_refused_in_words(ml):
    from azure.ai.ml.entities import AzureBlobDatastore
    with pytest.raises(HttpResponseError) as caught:
        ml.datastores.create_or_update(AzureBlobDatastore(name="mine", account_name="a", container_name="c"))
    assert caught.value.status_code == 501 and "workspaceblobstore" in str(caught.value)
    with pytest.raises(HttpResponseError) as caught:
        ml.datastores.delete("workspaceblobstore")
    assert caught.value.status_code == 501
    assert len(list(ml.datastores.list())) == 2


def test_lists_have_pages(ml):
    rows = "azureml://datastores/workspaceblobstore/paths/x/"
    for number in range(1, 36):
        ml.data.create_or_update(Data(name="many", version=str(number), path=rows, type="uri_folder"))
    assert versions(ml.data.list("many")) == [str(number) for number in range(35, 0, -1)]
