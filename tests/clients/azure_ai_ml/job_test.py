# SPDX-License-Identifier: Apache-2.0
"""Jobs as the client submits, follows, changes and ends them."""

import pytest
from azure.ai.ml import Input, Output, command, dsl, load_job, spark
from azure.ai.ml.constants import ListViewType
from azure.ai.ml.entities import CronTrigger, Environment, JobSchedule
from azure.ai.ml.exceptions import JobException
from azure.ai.ml.sweep import Choice
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from harness import WORKSPACE, eventually

ENDED = {"Completed", "Failed", "Canceled"}
WAIT = "until [ -e go ]; do sleep 0.05; done"


def a_job(line="true", **keys):
    keys = {"environment": Environment(image="debian:12"), "compute": "serverless"} | keys
    return command(command=line, **keys)


def ended(ml, name):
    eventually(lambda: ml.jobs.get(name).status in ENDED, what=f"the end of {name}")
    return ml.jobs.get(name)


@pytest.fixture
def submit(ml):
    """Submits jobs; what still runs at the end of the test is stopped."""
    names = []

    def send(*words, **keys):
        job = ml.jobs.create_or_update(a_job(*words, **keys))
        names.append(job.name)
        return job

    yield send
    for name in names:
        if ml.jobs.get(name).status not in ENDED:
            ml.jobs.begin_cancel(name).result()
            ended(ml, name)


def test_what_was_submitted_is_what_comes_back(ml, submit, folder):
    job = submit("cat $AZURE_ML_INPUT_rows/a.csv; echo ${{inputs.text}} ${{inputs.flag}} ${{inputs.number}}",
                 code=folder("src", {"main.py": ""}), name="the-first", display_name="First", description="words",
                 inputs={"rows": Input(type="uri_folder", path=folder("rows", {"a.csv": "1"})), "text": "a b",
                         "flag": True, "number": 3},
                 outputs={"made": Output(type="uri_folder", mode="rw_mount")}, tags={"k": "v"}, properties={"p": "q"},
                 environment_variables={"COLOR": "blue"}, experiment_name="trials", instance_count=1)
    assert type(job).__name__ == "Command" and job.name == "the-first" and job.id == f"{WORKSPACE}/jobs/the-first"
    got = ended(ml, "the-first")
    assert got.status == "Completed" and got.display_name == "First" and got.description == "words"
    assert got.tags == {"k": "v"} and got.properties["p"] == "q" and got.experiment_name == "trials"
    assert got.environment_variables == {"COLOR": "blue"} and got.resources.instance_count == 1
    assert got.inputs["text"]._data == "a b" and str(got.inputs["number"]._data) == "3"
    assert got.inputs["rows"]._data.path.startswith("azureml://")
    assert got.outputs["made"]._data.type == "uri_folder" and got.environment
    assert got.creation_context.created_by == "owner" and got.studio_url.startswith("https://127.0.0.1:")
    assert got.services["Tracking"].endpoint


def test_the_same_code_is_uploaded_once(ml, submit, folder):
    code = folder("src", {"main.py": "print(1)"})
    first, second = submit("python3 main.py", code=code), submit("python3 main.py", code=code)
    assert first.component.code == second.component.code if first.component else first.code == second.code
    assert ended(ml, first.name).status == ended(ml, second.name).status == "Completed"


def test_named_environments(ml, submit):
    ml.environments.create_or_update(Environment(name="tools", version="1", image="debian:12"))
    for environment in ("tools:1", "azureml:tools:1", "tools@latest"):
        job = submit(environment=environment)
        assert ml.jobs.get(job.name).environment.split(":")[-1] == "1"
        assert ended(ml, job.name).status == "Completed"


def test_the_log_is_streamed_and_a_failure_is_raised(ml, submit, capsys):
    job = submit("echo to be seen; exit 3")  # Over before anybody looks, most likely.
    with pytest.raises(JobException, match="3"):
        ml.jobs.stream(job.name)
    assert "to be seen" in capsys.readouterr().out
    assert ended(ml, job.name).status == "Failed"
    ml_job = submit("for i in 1 2 3; do echo line $i; sleep 1; done")
    ml.jobs.stream(ml_job.name)
    printed = capsys.readouterr().out
    assert "line 1\nline 2\nline 3" in printed and f"RunId: {ml_job.name}" in printed


def test_one_output_is_downloaded(ml, submit, tmp_path):
    job = submit("echo 7 > ${{outputs.made}}/x.txt; echo 8 > ${{outputs.other}}/y.txt",
                 outputs={"made": Output(type="uri_folder"), "other": Output(type="uri_folder")})
    ended(ml, job.name)
    ml.jobs.download(job.name, download_path=tmp_path, output_name="made")
    assert (tmp_path / "named-outputs/made/x.txt").read_text() == "7\n"
    assert not (tmp_path / "named-outputs/other").exists() and not (tmp_path / "artifacts").exists()
    ml.jobs.download(job.name, download_path=tmp_path / "logs")
    assert (tmp_path / "logs/artifacts/user_logs/std_log.txt").exists()


def test_an_output_of_one_job_is_the_input_of_the_next(ml, submit):
    first = submit("echo 7 > ${{outputs.made}}/x.txt", outputs={"made": Output(type="uri_folder")})
    assert ended(ml, first.name).status == "Completed"
    for path in (f"azureml://jobs/{first.name}/outputs/made",
                 f"azureml://datastores/workspaceblobstore/paths/azureml/{first.name}/made/"):
        second = submit("grep -q 7 ${{inputs.rows}}/x.txt", inputs={"rows": Input(type="uri_folder", path=path)})
        assert ended(ml, second.name).status == "Completed"


def test_an_output_is_registered_by_its_job(ml, submit):
    job = submit("echo 7 > ${{outputs.made}}/x.txt",
                 outputs={"made": Output(type="uri_folder", name="numbers", version="4")})
    assert ended(ml, job.name).status == "Completed"
    assert ml.data.get("numbers", version="4").type == "uri_folder"


def test_jobs_are_listed_newest_first_page_by_page(ml, submit):
    names = [submit(experiment_name="many", tags={"odd": str(number % 2)}).name for number in range(3)]
    assert [job.name for job in ml.jobs.list()] == names[::-1]
    assert [job.name for job in ml.jobs.list(max_results=2)][:2] == names[:0:-1]
    assert [job.name for job in ml.jobs.list(tag="odd=1")] == [names[1]]
    for name in names:
        ended(ml, name)
    assert list(ml.jobs.list(parent_job_name=names[0])) == []


def test_a_job_is_canceled(ml, submit):
    job = submit(WAIT)
    eventually(lambda: ml.jobs.get(job.name).status == "Running")
    ml.jobs.begin_cancel(job.name).result()
    assert ended(ml, job.name).status == "Canceled"
    ml.jobs.begin_cancel(job.name).result()  # As often as you like.
    with pytest.raises(ResourceNotFoundError, match="nothing"):
        ml.jobs.begin_cancel("nothing").result()


def test_jobs_are_archived_and_restored(ml, submit):
    done, runs = submit(name="done"), submit(WAIT, name="runs")
    ended(ml, "done")
    for name in ("done", "runs"):
        ml.jobs.archive(name)
    assert list(ml.jobs.list()) == []
    assert {job.name for job in ml.jobs.list(list_view_type=ListViewType.ARCHIVED_ONLY)} == {"done", "runs"}
    ml.jobs.restore("done")
    assert [job.name for job in ml.jobs.list()] == ["done"]
    assert ml.jobs.get("runs").status != "Canceled"
    assert done.command == ml.jobs.get("done").command and runs.name


def test_labels_change_and_work_does_not(ml, submit, folder):
    submit("cat ${{inputs.rows}}/a.csv ${{inputs.rate}}; true", name="mine", tags={"a": "1"}, code=folder("src", {"x.py": ""}),
           inputs={"rows": Input(type="uri_folder", path=folder("rows", {"a.csv": "1"}), mode="download"), "rate": 0.1},
           outputs={"made": Output(type="uri_folder")}, environment_variables={"A": "b"}, experiment_name="trials",
           timeout=300, instance_count=1, properties={"p": "q"})
    ended(ml, "mine")
    job = ml.jobs.get("mine")
    job.tags["b"], job.display_name, job.description = "2", "Renamed", "for the paper"
    changed = ml.jobs.create_or_update(job)
    assert changed.tags == {"a": "1", "b": "2"} and changed.display_name == "Renamed"
    assert ml.jobs.get("mine").description == "for the paper"
    with pytest.raises(HttpResponseError) as caught:
        ml.jobs.create_or_update(a_job("echo something else", name="mine"))
    assert caught.value.status_code == 409 and "mine" in str(caught.value)


def test_update_and_delete_of_newer_clients(ml, submit):
    if not hasattr(ml.jobs, "update"):
        assert not hasattr(ml.jobs, "begin_delete")  # 1.20 has neither.
        return
    submit(name="mine", tags={"a": "1"})
    ended(ml, "mine")
    assert ml.jobs.update("mine", tags={"b": "2"}, display_name="New").tags == {"a": "1", "b": "2"}
    assert ml.jobs.get("mine").display_name == "New"
    ml.jobs.begin_delete("mine").result()
    with pytest.raises(ResourceNotFoundError):
        ml.jobs.get("mine")
    submit(name="mine", tags={})


def test_services_of_a_job(ml, submit):
    job = submit()
    assert ml.jobs.show_services(job.name) is None
    with pytest.raises(HttpResponseError):
        ml.jobs.show_services("nothing")
    ended(ml, job.name)


def test_a_job_file_is_loaded(ml, pointed, folder):
    folder("src", {"main.py": "import sys; print(open(sys.argv[1]).read())"})
    folder("rows", {"a.csv": "from a file"})
    file = pointed.file("job.yml", """
$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
command: python3 main.py ${{inputs.rows}}
code: src
inputs:
  rows: {type: uri_file, path: rows/a.csv}
environment: {image: "debian:12"}
compute: local
limits: {timeout: 60}
""")
    job = ml.jobs.create_or_update(load_job(str(file)))
    assert ended(ml, job.name).status == "Completed"
    assert ml.jobs.get(job.name).limits.timeout == 60


def test_what_a_job_asks_for_must_be_there(ml, submit, pointed):
    for keys, word in [
            ({"inputs": {"rows": Input(type="uri_folder", path="azureml:nothing:1")}}, "nothing"),
            ({"compute": "nowhere"}, "nowhere"),
            ({"line": "echo ${{inputs.undefined}}"}, "undefined")]:
        line = keys.pop("line", "true")
        with pytest.raises(Exception, match=word):
            submit(line, name="refused", **keys)
    with pytest.raises(ResourceNotFoundError):
        ml.jobs.get("refused")
    assert list(ml.jobs.list()) == []


def sweep_job():
    step = a_job("echo ${{inputs.rate}}", inputs={"rate": 0.1}, compute="pool")
    sweep = step(rate=Choice([0.1, 0.2])).sweep(sampling_algorithm="random", primary_metric="loss", goal="minimize")
    sweep.set_limits(max_total_trials=2)
    return sweep


def pipeline_job():
    step = a_job("echo ${{inputs.rate}}", inputs={"rate": 0.1}, compute="pool", name="step")

    @dsl.pipeline(compute="pool")
    def flow():
        step()

    return flow()


def spark_job():
    return spark(code=".", entry={"file": "main.py"}, driver_cores=1, driver_memory="1g", executor_cores=1,
                 executor_memory="1g", executor_instances=1, compute="pool")


def automl_job():
    from azure.ai.ml import automl
    return automl.classification(compute="pool", training_data=Input(type="mltable", path="azureml://datastores/"
                                 "workspaceblobstore/paths/t/"), target_column_name="y", primary_metric="accuracy")


@pytest.mark.parametrize("make", [sweep_job, pipeline_job, spark_job, automl_job])
def test_kinds_of_jobs_that_do_not_run_yet_are_refused_and_leave_nothing(ml, pointed, make):
    from azure.ai.ml.entities import AmlCompute
    pointed.file("main.py", "")
    ml.compute.begin_create_or_update(AmlCompute(name="pool", size="Standard_DS1_v2", max_instances=1)).result()
    job = make()
    job.name = "refused"
    with pytest.raises(HttpResponseError) as caught:
        ml.jobs.create_or_update(job)
    assert caught.value.status_code == 501 and "not supported yet" in str(caught.value), caught.value
    assert list(ml.jobs.list(list_view_type=ListViewType.ALL)) == []


def test_schedules_are_refused(ml):
    schedule = JobSchedule(name="nightly", trigger=CronTrigger(expression="0 2 * * *"),
                           create_job=f"{WORKSPACE}/jobs/some-pipeline")
    with pytest.raises(HttpResponseError) as caught:
        ml.schedules.begin_create_or_update(schedule).result()
    assert caught.value.status_code == 501 and "schedule" in str(caught.value)
    assert list(ml.schedules.list()) == []
