# SPDX-License-Identifier: Apache-2.0
"""Shell scripts as people have them, with `az` a two-line wrapper for `berth`. Each checks what it gets and ends with
an error when that is wrong."""

import pathlib
import subprocess

import pytest
from harness import BINARY

SCRIPTS = sorted((pathlib.Path(__file__).parent / "scripts").glob("*.sh"))
ran = []


@pytest.fixture(scope="module", autouse=True)
def counted():
    yield
    print(f"\naz ml scripts: {sum(ran)} of {len(ran)}")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_for_az_runs_as_it_is(berth, tmp_path, script):
    wrapper = tmp_path / "bin" / "az"
    wrapper.parent.mkdir()
    wrapper.write_text('#!/bin/sh\nexec "$BERTH_BINARY" "$@"\n')
    wrapper.chmod(0o755)
    environment = berth.environment | {"BERTH_BINARY": str(BINARY)}
    environment["PATH"] = f"{wrapper.parent}:{environment['PATH']}"
    ran.append(False)

    done = subprocess.run(["bash", "-exuo", "pipefail", script], cwd=berth.folder, env=environment, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    said = [line for line in done.stdout.decode(errors="replace").splitlines() if "token=" not in line and "Bearer" not in line]
    assert done.returncode == 0, "\n".join(said[-40:])
    ran[-1] = True
