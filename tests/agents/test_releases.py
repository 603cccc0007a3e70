"""What agents are told of a newer program and of themselves, and the files that administrators fetch."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.agents import downloads
from apps.agents.models import Agent
from apps.labs.isolation import all_labs

pytestmark = pytest.mark.django_db


def own(agent: Any, **changed: str) -> Any:
    return Client().get("/agent/v1/self/", headers={**agent.headers, **changed})


def test_the_release_is_the_program_that_is_handed_out(agent) -> None:
    told = own(agent).json()
    program = Client().get("/agent/agent.pyz").getvalue()
    assert told["release"] == {
        "version": downloads.current_version(), "sha256": hashlib.sha256(program).hexdigest(), "size": len(program)
    }  # fmt: skip
    assert (told["agent"], told["state"], told["doubt"]) == (agent.pk, "approved", "")
    assert abs(told["clock"] - agent.row.last_seen_at.timestamp()) < 3600 if agent.row.last_seen_at else True


def test_only_an_older_agent_hears_of_it_in_a_poll() -> None:
    newest = downloads.current_version()
    assert downloads.release_news("1.0")["release"]["version"] == newest
    for version in (newest, "99.1", "", "1.x", "1.", "$(id)"):
        assert downloads.release_news(version) == {}
    assert downloads.is_older("1.1.9")
    assert downloads.is_older("0.10")


def test_asking_changes_nothing_and_another_secret_hears_nothing(agent) -> None:
    before = agent.row.instance
    assert own(agent, **{"X-Spindle-Instance": "doctor"}).status_code == 200
    assert agent.row.instance == before
    strange = own(agent, **{"X-Spindle-Machine": "f" * 64})
    assert strange.json()["doubt"] == "another machine"
    assert agent.row.state == Agent.State.APPROVED
    assert own(agent, Authorization="Bearer spa_1_wrong").status_code == 401
    with all_labs():
        Agent.objects.filter(pk=agent.pk).update(state=Agent.State.REVOKED)
    assert own(agent).status_code == 401


def test_a_host_that_waits_hears_that_it_does(agent) -> None:
    with all_labs():
        Agent.objects.filter(pk=agent.pk).update(state=Agent.State.PENDING)
    assert own(agent).json()["state"] == "pending"


@pytest.mark.parametrize("name", ["probe.service", "probe.timer", "drop-caches.service", "drop-caches.path"])
def test_the_units_of_the_probe_are_handed_out(name: str) -> None:
    text = Client().get(f"/agent/{name}").content.decode()
    assert text.startswith("# Installed by `install.sh --probe` only")
    assert "{{ server }}" not in text
    if name.endswith(".service"):
        assert "PrivateNetwork=yes" in text
        assert "ExecStart=/usr/bin/env python3 -I /opt/spindle/agent.pyz probe" in text


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_has_nothing_to_say_against_any_unit(tmp_path: Path) -> None:
    names = ["agent.service", "probe.service", "probe.timer", "drop-caches.service", "drop-caches.path"]
    units = [tmp_path / f"spindle-{name}" for name in names]
    for name, unit in zip(names, units, strict=True):
        unit.write_bytes(Client().get(f"/agent/{name}").content)
    env = {**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}
    verified = subprocess.run(
        ["systemd-analyze", "verify", *map(str, units)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=env,
    )
    assert (verified.returncode, verified.stderr) == (0, "")
