# SPDX-License-Identifier: Apache-2.0
"""`berth run -- CMD`: a job without a file."""

import os
import signal

import pytest

from harness import DEADLINE, eventually


def test_prints_hi_and_exits_0_with_no_server_before(berth):
    assert not berth.processes()

    outcome = berth.ok("run", "--", "python3", "-c", 'print("hi")')

    assert outcome.out == "hi\n"
    assert berth.is_up()


@pytest.mark.parametrize("code", [0, 1, 2, 42, 127, 255])
def test_ends_with_the_exit_code_of_the_job(berth, code):
    assert berth.run("run", "--", "sh", "-c", f"exit {code}").code == code


def test_a_command_killed_by_a_signal_ends_as_in_a_shell(berth):
    assert berth.run("run", "--", "sh", "-c", "kill -SEGV $$").code == 128 + signal.SIGSEGV


def test_a_command_that_does_not_exist_fails_and_is_named(berth):
    outcome = berth.run("run", "--", "no-such-program-here")

    assert outcome.code == 127, outcome
    assert "no-such-program-here" in outcome.out + outcome.err


def test_words_reach_the_program_as_they_were_typed(berth):
    words = ["a b", "", "$HOME", "`id`", "it's", '"', "\\", "*", ";", "ünïcode", "$(id)", "a\nb"]

    outcome = berth.ok("run", "--", "python3", "-c", "import sys; print(sys.argv[1:])", *words)

    assert eval(outcome.out) == words


def test_the_current_folder_is_the_code(berth):
    berth.file("greet.py", "print('from a file')\n")
    berth.file("deep/er/data.txt", "deep\n")

    assert berth.ok("run", "--", "python3", "greet.py").out == "from a file\n"
    assert berth.ok("run", "--", "cat", "deep/er/data.txt").out == "deep\n"


def test_an_executable_file_stays_executable(berth):
    berth.file("tool.sh", "#!/bin/sh\necho ran\n").chmod(0o755)

    assert berth.ok("run", "--", "./tool.sh").out == "ran\n"


def test_a_job_does_not_write_into_the_current_folder(berth):
    berth.ok("run", "--", "sh", "-c", "echo x > made-by-job; mkdir -p outputs; echo y > outputs/z")

    assert not (berth.folder / "made-by-job").exists()
    assert not (berth.folder / "outputs").exists()


def test_env_sets_variables_and_name_names_the_job(berth):
    outcome = berth.ok("run", "--name", "named", "--env", "A=1=2", "--env", "B=", "--",
                       "sh", "-c", 'echo "$A|${B-unset}|$AZUREML_RUN_ID"')

    assert outcome.out == "1=2||named\n"
    assert berth.status_of("named") == "Completed"


def test_standard_error_is_part_of_the_log(berth):
    outcome = berth.ok("run", "--", "sh", "-c", "echo one; echo two >&2; echo three")

    assert outcome.out == "one\ntwo\nthree\n"


def test_ctrl_c_cancels_the_job(berth):
    process = berth.popen("run", "--name", "long", "--", "sh", "-c", "echo ready; sleep 600")
    assert process.stdout.readline() == b"ready\n"

    os.kill(process.pid, signal.SIGINT)

    process.communicate(timeout=DEADLINE)
    assert process.returncode != 0
    berth.wait("long", "Canceled")


def test_nothing_to_run_is_wrong_usage(berth):
    assert "berth run -- COMMAND" in berth.fails("run", code=2).err


def test_a_command_line_that_goes_away_leaves_the_job_running(berth):
    process = berth.popen("run", "--name", "stays", "--", "sh", "-c",
                          "echo ready; while [ ! -e go ]; do sleep 0.05; done; echo done")
    assert process.stdout.readline() == b"ready\n"
    process.kill()
    process.communicate()

    assert berth.status_of("stays") == "Running"
    work = eventually(lambda: next(iter(berth.home.rglob("stays/*/wd")), None), what="its directory")
    (work / "go").touch()
    berth.wait("stays", "Completed")
    assert berth.log("stays") == b"ready\ndone\n"


def test_libcurl_is_loaded_only_where_a_command_needs_it(berth, tmp_path):
    """Its thirty libraries take longer to load than such a command to run."""
    def loads_it(folder):
        folder.mkdir(exist_ok=True)
        said = berth.ok("run", "--", "true", cwd=folder, env={"LD_DEBUG": "files"}).err
        assert "libssl" in said
        return "libcurl" in said

    berth.ok("run", "--", "true")

    assert not loads_it(tmp_path / "empty")
    berth.file("code.txt", "to be uploaded")
    assert loads_it(berth.folder)
