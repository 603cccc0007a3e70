"""The first run of `bin/up`: its files fit into what this host's agent allows."""

from typing import Any

import pytest

from apps.agents.models import Agent
from apps.dashboard.first_run import status
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.runs.workload import MIB
from bin._lib.console import Console, Step
from bin._lib.demo import Demo
from tests.dashboard import world

pytestmark = pytest.mark.django_db


def agent_that_allows(lab: Lab, policy: dict[str, Any]) -> Agent:
    agent = world.agent_on(world.raid_host(lab, "storage1"))
    Agent.objects.filter(pk=agent.pk).update(policy=policy)
    return agent


@pytest.mark.parametrize(
    ("policy", "size", "note"),
    [
        ({}, 500, ""),
        ({"quota_bytes": 1500 * MIB}, 500, ""),
        ({"quota_bytes": 1499 * MIB}, 100, "files of 100 MiB in place of 500 MiB: this host's agent allows 1499 MiB of files"),
        ({"quota_bytes": 300 * MIB}, 100, "files of 100 MiB in place of 500 MiB: this host's agent allows 300 MiB of files"),
    ],
)  # fmt: skip
def test_the_files_are_as_large_as_the_host_allows(lab: Lab, policy: dict[str, Any], size: int, note: str) -> None:
    agent = agent_that_allows(lab, policy)
    found = status(lab, agent.pk, start=True)
    run = Run.objects.get(pk=found["run"])
    assert [job["file_size"] for job in run.workload.jobs] == [size * MIB] * 3
    assert found["note"].replace("\u202f", "").replace("\xa0", " ") == note
    assert status(lab, agent.pk, start=False)["note"] == ""


def test_too_little_room_is_said_and_nothing_is_started(lab: Lab) -> None:
    agent = agent_that_allows(lab, {"quota_bytes": 299 * MIB})
    found = status(lab, agent.pk, start=True)
    assert found["run"] is None
    said = found["note"].replace("\xa0", " ")
    assert said == "not started: this host's agent allows 299 MiB of files, and the first run needs 300 MiB"


class Answers(Demo):
    """`manage.py demo` answered from a list."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)

    def status(self, *arguments: str) -> dict[str, Any]:
        return self.answers.pop(0)


NONE = {"run": None, "run_state": None, "problem": ""}
QUEUED, FINISHED = ({"run": 7, "run_state": state, "problem": ""} for state in ("queued", "finished"))


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        ([{**NONE, "note": "not started: no room"}], "not started: no room"),
        ([{**NONE, "note": ""}], "could not be started"),
        ([{**QUEUED, "note": "small files"}, {**FINISHED, "read_in": True}], "run 7 finished; small files"),
    ],
)
def test_the_step_says_what_became_of_it(monkeypatch: pytest.MonkeyPatch, answers: list[Any], note: str) -> None:
    demo = Answers(*answers)
    monkeypatch.setattr(demo, "supervisor", Patient(), raising=False)
    step = Step(Console(1))
    demo.run(dict(NONE), step)
    assert (step.note, demo.answers) == (note, [])


class Patient:
    def wait(self, seconds: float) -> None:
        pass
