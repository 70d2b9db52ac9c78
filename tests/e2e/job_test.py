# SPDX-License-Identifier: Apache-2.0
"""`berth job create -f`: code, inputs, outputs, variables, names."""

import http.server
import json
import socket
import subprocess
import threading

import pytest

from harness import EXAMPLES


def run_job(berth, command, name="j", **keys):
    """Runs the job to its end and returns its log."""
    berth.submit(command, name, **keys)
    berth.wait(name, "Completed")
    return berth.log(name).decode()


def test_relative_paths_are_relative_to_the_file_from_any_directory(berth):
    berth.file("project/src/main.py", "print(open('part.txt').read())\n")
    berth.file("project/src/part.txt", "found")
    file = berth.job_file("python3 main.py; cat ${{inputs.rows}}", "project/job.yml", code="src",
                          inputs={"rows": {"type": "uri_file", "path": "../rows.csv"}})
    berth.file("rows.csv", "1,2\n")

    for number, place in enumerate(["/", berth.folder, berth.folder / "project/src"]):
        berth.ok("job", "create", "-f", file, "--name", f"p{number}", "--stream", cwd=place)
        assert berth.log(f"p{number}") == b"found\n1,2\n"


def test_set_changes_and_adds_keys(berth):
    file = berth.job_file("echo ${{inputs.n}} $EXTRA", inputs={"n": 1})

    job = berth.ok("job", "create", "-f", file, "--name", "j", "--set", "inputs.n=2",
                   "--set", "environment_variables.EXTRA=yes", "--set", "tags.team=blue",
                   "--set", "display_name=a b", "-o", "json").json

    assert job["tags"] == {"team": "blue"} and job["display_name"] == "a b"
    berth.wait("j", "Completed")
    assert berth.log("j") == b"2 yes\n"


def test_a_job_nobody_named_gets_a_name(berth):
    job = berth.ok("job", "create", "-f", berth.job_file("true"), "-o", "json").json

    assert job["name"] and job["display_name"]
    berth.wait(job["name"], "Completed")


def test_literals_keep_their_text(berth):
    values = {"i": 5, "f": 0.5, "t": "two words", "b": True, "s": "007"}

    log = run_job(berth, "echo '${{inputs.i}}|${{inputs.f}}|${{ inputs.t }}|${{inputs.b}}|${{inputs.s}}'",
                  inputs=values)

    assert log.lower() == "5|0.5|two words|true|007\n"


def test_a_folder_input_is_there_with_all_its_files(berth):
    berth.file("data/a.txt", "A")
    berth.file("data/deep/er/b.txt", "B")

    log = run_job(berth, "cat ${{inputs.d}}/a.txt ${{inputs.d}}/deep/er/b.txt",
                  inputs={"d": {"type": "uri_folder", "path": "data"}})

    assert log == "AB"


def test_a_data_asset_as_input(berth):
    berth.file("rows.csv", "rows")
    berth.ok("data", "create", "--name", "rows", "--version", "3", "--path", "rows.csv", "--type", "uri_file")

    for number, reference in enumerate(["azureml:rows:3", "azureml:rows@latest"]):
        log = run_job(berth, "cat ${{inputs.r}}", f"j{number}",
                      inputs={"r": {"type": "uri_file", "path": reference}})
        assert log == "rows"


def test_a_datastore_path_as_input(berth):
    assert berth.blob("PUT", "in/x/one.txt", b"one", {"x-ms-blob-type": "BlockBlob"}).status == 201
    assert berth.blob("PUT", "in/x/two.txt", b"two", {"x-ms-blob-type": "BlockBlob"}).status == 201

    log = run_job(berth, "cat ${{inputs.f}} ${{inputs.d}}/two.txt", inputs={
        "f": {"type": "uri_file", "path": "azureml://datastores/workspaceblobstore/paths/in/x/one.txt"},
        "d": {"type": "uri_folder", "path": "azureml://subscriptions/00000000-0000-0000-0000-000000000000"
              "/resourcegroups/berth/workspaces/default/datastores/workspaceblobstore/paths/in/x/"}})

    assert log == "onetwo"


def test_a_web_address_as_input(berth):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"from the web {self.path}".encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        log = run_job(berth, "cat ${{inputs.w}}", inputs={
            "w": {"type": "uri_file", "path": f"http://127.0.0.1:{server.server_port}/rows.csv?x=1"}})
    finally:
        server.shutdown()

    assert log == "from the web /rows.csv?x=1"


def test_another_jobs_output_as_input(berth):
    run_job(berth, "echo made > ${{outputs.o}}/f.txt; mkdir -p outputs; echo art > outputs/a.txt", "maker",
            outputs={"o": {"type": "uri_folder"}})

    log = run_job(berth, "cat ${{inputs.o}}/f.txt ${{inputs.a}}", "taker", inputs={
        "o": {"type": "uri_folder", "path": "azureml://jobs/maker/outputs/o/paths/"},
        "a": {"type": "uri_file", "path": "azureml://jobs/maker/outputs/artifacts/paths/outputs/a.txt"}})

    assert log == "made\nart\n"


def test_direct_mode_hands_over_the_uri(berth):
    uri = "azureml://datastores/workspaceblobstore/paths/x/y.csv"

    log = run_job(berth, "echo ${{inputs.r}}", inputs={
        "r": {"type": "uri_file", "path": uri, "mode": "direct"}})

    assert log.strip().endswith("/datastores/workspaceblobstore/paths/x/y.csv")


def test_an_input_that_is_not_there_is_refused_at_submit_and_named(berth):
    file = berth.job_file("true", inputs={
        "rows": {"type": "uri_file", "path": "azureml://datastores/workspaceblobstore/paths/no/such"}})

    assert "'rows'" in berth.fails("job", "create", "-f", file).err


def test_a_web_address_that_does_not_answer_fails_the_job_and_is_named(berth):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        berth.submit("echo never", "j", inputs={
            "rows": {"type": "uri_file", "path": f"http://127.0.0.1:{nobody.getsockname()[1]}/rows.csv"}})
        job = berth.wait("j", "Failed")

    assert "rows" in job["properties"]["error"]["message"], job


@pytest.mark.parametrize("reference", ["azureml:nothing:1", "azureml:nothing@latest"])
def test_an_asset_that_is_not_there_is_refused_at_submit(berth, reference):
    file = berth.job_file("true", inputs={"r": {"type": "uri_file", "path": reference}})

    assert "nothing" in berth.fails("job", "create", "-f", file).err


def test_outputs_come_back_and_are_registered_when_named(berth):
    run_job(berth, "echo m > ${{outputs.model}}/m.bin; echo t > ${{outputs.table}}", "maker", outputs={
        "model": {"type": "uri_folder", "name": "tug-model", "version": "7"},
        "table": {"type": "uri_file", "name": "tug-table"}})

    shown = berth.ok("data", "show", "--name", "tug-model", "--version", "7", "-o", "json").json
    assert shown["type"] == "uri_folder"
    assert berth.ok("data", "show", "--name", "tug-table", "--version", "1", "-o", "json").json["version"] == "1"
    log = run_job(berth, "cat ${{inputs.m}}/m.bin ${{inputs.t}}", "taker", inputs={
        "m": {"type": "uri_folder", "path": "azureml:tug-model:7"},
        "t": {"type": "uri_file", "path": "azureml:tug-table@latest"}})
    assert log == "m\nt\n"


def test_download_brings_artifacts_and_named_outputs(berth):
    run_job(berth, "mkdir -p outputs/deep logs; echo 1 > outputs/deep/x; echo 2 > logs/y;"
                   " echo 3 > ${{outputs.o}}/z; echo said", outputs={"o": {"type": "uri_folder"}})

    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")

    got = berth.folder / "got"
    assert (got / "artifacts/outputs/deep/x").read_text() == "1\n"
    assert (got / "artifacts/logs/y").read_text() == "2\n"
    assert (got / "artifacts/user_logs/std_log.txt").read_text() == "said\n"
    assert (got / "named-outputs/o/z").read_text() == "3\n"


def test_outputs_of_a_failed_job_are_kept(berth):
    berth.submit("mkdir -p outputs; echo partial > outputs/x; exit 1", "j")
    berth.wait("j", "Failed")

    berth.ok("job", "download", "--name", "j", "--all", "--download-path", "got")

    assert (berth.folder / "got/artifacts/outputs/x").read_text() == "partial\n"


def test_the_injected_variables(berth):
    log = run_job(berth, "env", "named", experiment_name="harbour", inputs={"rate": 0.5},
                  outputs={"o": {"type": "uri_folder"}}, environment_variables={"MINE": "yes"})

    seen = dict(line.split("=", 1) for line in log.splitlines() if "=" in line)
    workspace = berth.get("").json
    assert seen["MINE"] == "yes"
    assert seen["AZUREML_RUN_ID"] == seen["MLFLOW_RUN_ID"] == "named"
    assert seen["AZUREML_ARM_SUBSCRIPTION"] == "00000000-0000-0000-0000-000000000000"
    assert seen["AZUREML_ARM_RESOURCEGROUP"] == "berth"
    assert seen["AZUREML_ARM_WORKSPACE_NAME"] == "default"
    assert seen["AZUREML_ARM_PROJECT_NAME"] == seen["MLFLOW_EXPERIMENT_NAME"] == "harbour"
    assert seen["AZUREML_EXPERIMENT_ID"] == seen["MLFLOW_EXPERIMENT_ID"] != ""
    assert seen["MLFLOW_TRACKING_URI"].endswith(f"/mlflow/v1.0{workspace['id']}")
    assert seen["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert seen["AZUREML_WORKSPACE_ID"] == workspace["properties"]["workspaceId"]
    assert seen["AZUREML_RUN_TOKEN"] and seen["AZUREML_RUN_TOKEN"] != berth.token()
    assert seen["AZUREML_RUN_TOKEN_EXPIRY"].isdigit()
    assert seen["MLFLOW_TRACKING_TOKEN"] == seen["AZUREML_RUN_TOKEN"]
    assert seen["AZURE_ML_INPUT_rate"] == "0.5"
    assert seen["AZURE_ML_OUTPUT_o"].startswith("/")
    assert seen["AZUREML_CR_NODE_RANK"] == "0"
    for name in ("AZUREML_SERVICE_ENDPOINT", "AZUREML_DISCOVERY_SERVICE_ENDPOINT", "MLFLOW_TRACKING_URI"):
        assert "127.0.0.1" in seen[name] or "localhost" in seen[name], name


def test_reserved_variables_win_over_the_jobs_own(berth):
    log = run_job(berth, "echo $AZUREML_RUN_ID", environment_variables={"AZUREML_RUN_ID": "forged"})

    assert log == "j\n"


def test_secrets_of_the_server_are_not_in_the_jobs_environment(berth):
    log = run_job(berth, "env; cat /proc/self/cmdline")

    assert berth.token() not in log


def test_ignored_files_stay_behind(berth):
    berth.file("src/keep.txt", "")
    berth.file("src/drop.log", "")
    berth.file("src/big/x.bin", "")
    berth.file("src/.gitignore", "keep.txt\n")
    berth.file("src/.amlignore", "*.log\nbig/\n")

    log = run_job(berth, "find . -type f | sort", code="src")

    assert "./keep.txt" in log and "drop.log" not in log and "big" not in log


def test_gitignore_counts_when_there_is_no_amlignore(berth):
    berth.file("src/keep.txt", "")
    berth.file("src/drop.log", "")
    berth.file("src/.gitignore", "*.log\n")

    log = run_job(berth, "ls", code="src")

    assert "keep.txt" in log and "drop.log" not in log


def test_one_file_as_code(berth):
    berth.file("only.py", "print('only')\n")

    assert run_job(berth, "ls *.*; python3 only.py", code="only.py") == "only.py\nonly\n"


def test_links_out_of_the_code_are_not_followed(berth):
    secret = berth.file("secret.txt", "secret")
    berth.file("src/inside.txt", "inside")
    (berth.folder / "src/out").symlink_to(secret)
    (berth.folder / "src/up").symlink_to("..")
    (berth.folder / "src/in").symlink_to("inside.txt")
    (berth.folder / "src/loop").symlink_to(".")

    log = run_job(berth, "cat in; cat out up/secret.txt 2>/dev/null; true", code="src")

    assert log == "inside"


def test_the_same_name_and_body_is_the_same_job(berth):
    first = berth.submit("echo once", "j")
    again = berth.submit("echo once", "j")

    assert first["name"] == again["name"]
    assert first["creation_context"]["created_at"] == again["creation_context"]["created_at"]
    berth.wait("j", "Completed")
    assert berth.log("j") == b"once\n"
    assert len([job for job in berth.ok("job", "list", "-o", "json").json if job["name"] == "j"]) == 1


def test_the_same_name_and_another_body_is_a_conflict(berth):
    berth.submit("echo one", "j")
    file = berth.job_file("echo two")

    outcome = berth.fails("job", "create", "-f", file, "--name", "j")

    assert "'j'" in outcome.err
    body = {"properties": {"jobType": "Command", "command": "echo three", "environmentId": "x"}}
    answer = berth.put("/jobs/j", body)
    assert answer.status == 409, answer
    assert answer.json["error"]["code"] and answer.json["error"]["message"]
    berth.wait("j", "Completed")
    assert berth.log("j") == b"one\n"


def test_update_archive_and_restore(berth):
    run_job(berth, "true")

    berth.ok("job", "update", "--name", "j", "--set", "display_name=renamed", "--set", "tags.a=b")
    shown = berth.show("j")
    assert shown["display_name"] == "renamed" and shown["tags"] == {"a": "b"}

    def listed(*flags):
        return [job["name"] for job in berth.ok("job", "list", "-o", "json", *flags).json]

    berth.ok("job", "archive", "--name", "j")
    assert listed() == [] and listed("--archived-only") == ["j"] and listed("--include-archived") == ["j"]
    berth.ok("job", "restore", "--name", "j")
    assert listed() == ["j"] and listed("--archived-only") == []


def test_git_facts_are_properties(berth):
    where = berth.folder / "repo"
    berth.file("repo/main.py", "print(1)\n")
    git = ["git", "-C", str(where), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "trunk"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)

    run_job(berth, "true", code="repo")

    properties = berth.show("j")["properties"]
    assert properties["mlflow.source.git.commit"] == commit.stdout.strip()
    assert properties["mlflow.source.git.branch"] == "trunk"
    assert properties["azureml.git.dirty"].lower() in ("true", "false")


@pytest.mark.parametrize("command, word", [
    ("echo ${{inputs.nobody}}", "nobody"),
    ("echo ${{outputs.nobody}}", "nobody"),
    ("echo ${{search_space.x}}", "search_space"),
])
def test_an_undefined_expression_is_refused_at_submit(berth, command, word):
    outcome = berth.fails("job", "create", "-f", berth.job_file(command))

    assert word in outcome.err


def test_an_unknown_compute_lists_the_ones_there_are(berth):
    outcome = berth.fails("job", "create", "-f", berth.job_file("true", compute="azureml:moon"))

    assert "moon" in outcome.err and "local" in outcome.err


def test_every_example_runs_as_it_is(berth):
    berth.ok("job", "create", "-f", EXAMPLES / "hello/job.yml", "--name", "hello", "--stream", cwd="/")
    assert berth.log("hello") == b"Hello, harbour. This is job hello.\n"
    berth.ok("job", "create", "-f", EXAMPLES / "train/job.yml", "--name", "train", "--stream", cwd="/")
    berth.ok("job", "download", "--name", "train", "--all", "--download-path", "train")
    metrics = json.loads((berth.folder / "train/artifacts/outputs/metrics.json").read_text())
    assert metrics["accuracy"] > 0.7
    assert (berth.folder / "train/named-outputs/model/model.json").exists()
    berth.ok("data", "create", "-f", EXAMPLES / "two-steps/ships.yml", cwd="/")
    berth.ok("job", "create", "-f", EXAMPLES / "two-steps/1-clean.yml", "--stream", cwd="/")
    outcome = berth.ok("job", "create", "-f", EXAMPLES / "two-steps/2-report.yml", "--name", "report",
                       "--stream", cwd="/")
    assert "171" in berth.log("report").decode(), outcome
