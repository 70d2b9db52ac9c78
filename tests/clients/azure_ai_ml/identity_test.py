# SPDX-License-Identifier: Apache-2.0
"""`berth env` and the credential that comes of it."""

import base64
import json
import os
import ssl
import subprocess

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.identity import DefaultAzureCredential, ManagedIdentityCredential

from harness import BINARY, DEADLINE, eventually
from pointing import make_client, shell_environment


def claims_of(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def base_of(berth):
    return f"https://127.0.0.1:{berth.port()}"


def test_the_credential_gets_a_token_for_this_server(pointed):
    token = DefaultAzureCredential().get_token(base_of(pointed) + "/.default")
    claims = claims_of(token.token)
    assert claims["aud"] == base_of(pointed) and claims["exp"] == token.expires_on and claims["tid"]
    assert pointed.token() not in token.token
    for scope in ("https://management.azure.com/.default", "https://ml.azure.com/.default"):
        assert claims_of(DefaultAzureCredential().get_token(scope).token)["aud"] in scope
    with pytest.raises(ClientAuthenticationError):
        DefaultAzureCredential().get_token("https://vault.azure.net/.default")


def test_a_wrong_secret_gets_nothing(pointed, monkeypatch):
    monkeypatch.setenv("IDENTITY_HEADER", "f" * 64)
    with pytest.raises(ClientAuthenticationError):
        ManagedIdentityCredential().get_token(base_of(pointed) + "/.default")
    answer = pointed.request("GET", f"/msi/token?resource={base_of(pointed)}", token=False)
    assert answer.status == 401
    # In the header it is not for, even the right one is none.
    assert pointed.request("GET", f"/msi/token?resource={base_of(pointed)}").status == 401


def test_a_users_identity_is_theirs_and_ends_with_their_token(pointed, monkeypatch):
    pointed.ok("user", "create", "ana")
    pointed.ok("role", "assign", "--user", "ana", "--role", "Reader")
    token = pointed.ok("token", "create", "--user", "ana", "--query", "token", "-o", "tsv").out.strip()
    for name, value in shell_environment(pointed, env={"BERTH_TOKEN": token}).items():
        monkeypatch.setenv(name, value)
    assert os.environ["IDENTITY_HEADER"] == token
    hers = make_client()
    assert list(hers.jobs.list()) == []
    from azure.ai.ml.entities import Environment
    with pytest.raises(HttpResponseError) as caught:
        hers.environments.create_or_update(Environment(name="e", version="1", image="debian:12"))
    assert caught.value.status_code == 403
    pointed.ok("token", "revoke", token.split(".")[1])
    with pytest.raises(ClientAuthenticationError):  # With the token it got before.
        list(hers.jobs.list())
    with pytest.raises(ClientAuthenticationError):
        list(make_client().jobs.list())


def test_other_https_goes_on_working(berth):
    """The file of authorities holds those of the system, and those somebody chose before."""
    before = {name: "" for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")}
    plain = shell_environment(berth, env=before)
    ours = ssl.create_default_context(cafile=plain["REQUESTS_CA_BUNDLE"])
    system = ssl.create_default_context(cafile="/etc/ssl/certs/ca-certificates.crt")
    subjects = {str(each["subject"]) for each in ours.get_ca_certs()}
    assert {str(each["subject"]) for each in system.get_ca_certs()} < subjects

    corporate = berth.folder / "corporate.pem"
    corporate.write_text(berth.authority().read_text())  # Any certificate will do.
    chosen = shell_environment(berth, env=before | {"REQUESTS_CA_BUNDLE": str(corporate)})
    assert (berth.home / "clients/ca-bundle.pem").read_text().count("BEGIN CERTIFICATE") == 1
    assert chosen["SSL_CERT_FILE"] == chosen["REQUESTS_CA_BUNDLE"]


def test_values_survive_every_shell(berth, tmp_path):
    """Names with spaces and quotes come back as they are, also when they are evaluated twice."""
    odd = tmp_path / "it's a $(home) \"dir\""
    odd.mkdir()
    berth.environment["BERTH_HOME"] = str(odd / "state")
    berth.home = odd / "state"
    once = shell_environment(berth)
    assert once["REQUESTS_CA_BUNDLE"] == str(odd / "state/clients/ca-bundle.pem")
    twice = shell_environment(berth, env=once)
    content = (odd / "state/clients/ca-bundle.pem").read_text()
    assert twice.get("REQUESTS_CA_BUNDLE", once["REQUESTS_CA_BUNDLE"]) == once["REQUESTS_CA_BUNDLE"]
    assert content.count(berth.authority().read_text().strip()) == 1
    printed = berth.ok("env", "-o", "json").json
    assert printed["IDENTITY_HEADER"] == berth.token() and printed["BERTH_HOME"] == str(odd / "state")
    assert berth.ok("env", "--shell", "fish").out.startswith("set -gx ARM_CLOUD_METADATA_URL '")
    assert berth.ok("env", "--shell", "powershell").out.startswith("$env:ARM_CLOUD_METADATA_URL = '")
    assert "BERTH_WORKSPACE=\"default\"\n" in berth.ok("env", "--shell", "dotenv").out
    assert "fish" in berth.fails("env", "--shell", "csh", code=2).err
    assert "nowhere" in berth.fails("env", "-w", "nowhere", code=3).err


def test_a_job_does_not_inherit_what_the_shell_was_told(berth):
    told = shell_environment(berth)
    berth.ok("server", "stop")
    outcome = subprocess.run([str(BINARY), "run", "--", "env"], env=berth.environment | told, cwd=berth.folder,
                             capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert "PATH=" in outcome.stdout
    for name in ("IDENTITY_HEADER", "MLFLOW_TRACKING_TOKEN"):
        assert told[name] not in outcome.stdout
    eventually(lambda: not any(berth.server_status()["jobs"].values()))


def test_a_service_principal_in_the_shell_is_warned_of(berth):
    assert "AZURE_CLIENT_SECRET" in berth.ok("env", env={"AZURE_CLIENT_SECRET": "x"}).err
    assert berth.ok("env").err == ""
