# SPDX-License-Identifier: Apache-2.0
"""A data scientist's day: upload, cluster, train with local code, stream, register, download."""

from azure.ai.ml import Input, Output, command
from azure.ai.ml.entities import AmlCompute, Data, Environment, Model

TRAIN = """
import argparse, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--rows"); parser.add_argument("--rate", type=float); parser.add_argument("--model")
given = parser.parse_args()
rows = [float(line) for line in (pathlib.Path(given.rows) / "rows.csv").read_text().split()]
print("rows:", len(rows), flush=True)
mean = sum(rows) / len(rows)
pathlib.Path(given.model).mkdir(parents=True, exist_ok=True)
(pathlib.Path(given.model) / "weights.txt").write_text(str(mean * given.rate))
pathlib.Path("outputs").mkdir(exist_ok=True)
pathlib.Path("outputs/note.txt").write_text("done")
print("mean:", mean)
"""


def test_a_day(ml, folder, tmp_path, capsys):
    data = ml.data.create_or_update(Data(name="rows", path=folder("rows", {"rows.csv": "1\n2\n6\n"}), type="uri_folder"))
    assert (data.name, data.version, data.type) == ("rows", "1", "uri_folder")

    ml.compute.begin_create_or_update(AmlCompute(name="pool", size="Standard_DS1_v2", min_instances=0, max_instances=1,
                                                 idle_time_before_scale_down=60)).result()

    job = command(code=folder("src", {"train.py": TRAIN}),
                  command="python3 train.py --rows ${{inputs.rows}} --rate ${{inputs.rate}} --model ${{outputs.model}}",
                  inputs={"rows": Input(type="uri_folder", path="rows@latest"), "rate": 0.5},
                  outputs={"model": Output(type="custom_model")},
                  environment=Environment(image="debian:12"), compute="pool", experiment_name="means",
                  display_name="the mean", tags={"team": "a"})
    submitted = ml.jobs.create_or_update(job)
    assert submitted.id.endswith(f"/jobs/{submitted.name}") and submitted.experiment_name == "means"

    ml.jobs.stream(submitted.name)
    streamed = capsys.readouterr().out
    assert "rows: 3" in streamed and "mean: 3.0" in streamed and "Execution Summary" in streamed

    done = ml.jobs.get(submitted.name)
    assert done.status == "Completed" and done.tags == {"team": "a"} and done.display_name == "the mean"
    assert done.creation_context.created_at and done.compute == "pool"

    ml.jobs.download(submitted.name, download_path=tmp_path / "all", all=True)
    assert (tmp_path / "all/artifacts/outputs/note.txt").read_text() == "done"
    assert "mean: 3.0" in (tmp_path / "all/artifacts/user_logs/std_log.txt").read_text()
    assert (tmp_path / "all/named-outputs/model/weights.txt").read_text() == "1.5"

    model = ml.models.create_or_update(Model(name="mean", path=f"azureml://jobs/{submitted.name}/outputs/model",
                                             type="custom_model"))
    assert model.version == "1"
    ml.models.download("mean", "1", download_path=tmp_path / "model")
    assert [file.read_text() for file in (tmp_path / "model").rglob("weights.txt")] == ["1.5"]
