# SPDX-License-Identifier: Apache-2.0
"""MLflow as somebody has it who has told their shell where Berth is."""

import mlflow
import pytest

from harness import WORKSPACE


@pytest.fixture
def tracking(berth, monkeypatch):
    """A server of the test's own, and MLflow pointed at it by nothing but its environment variables."""
    berth.ensure_server()
    uri = f"https://127.0.0.1:{berth.port()}/mlflow/v1.0{WORKSPACE}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", berth.token())
    monkeypatch.setenv("MLFLOW_TRACKING_SERVER_CERT_PATH", str(berth.authority()))
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    mlflow.set_tracking_uri(None)
    mlflow.set_experiment("Default")  # MLflow remembers the experiment of the test before.
    yield mlflow.MlflowClient()
    while mlflow.active_run():
        mlflow.end_run()


@pytest.fixture
def other_user(berth, tracking, monkeypatch):
    """Makes MLflow somebody else, with a role in the workspace."""

    def become(name, role):
        berth.ok("user", "create", name)
        berth.ok("role", "assign", "--user", name, "--role", role)
        token = berth.ok("token", "create", "--user", name, "--query", "token", "-o", "tsv").out.strip()
        monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", token)

    return become
