"""Nothing to run in: whoever wants to start a run is told whether a host is there, and why it takes none."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.agents.models import Agent
from apps.agents.obstacles import find_obstacle, with_targets
from apps.inventory.models import Target
from apps.inventory.target_identity import Place, offer_directories
from apps.labs.isolation import lab_scope

pytestmark = pytest.mark.django_db
EXT4 = Place(path="/data/spindle", type="ext4", source="/dev/sdb1", uuid="1-2", mount_point="/data")
NOT_MOUNTED = Place(path="/data/spindle", type="xfs", source="/dev/sda1", uuid="3-4", mount_point="/")
NOT_THERE = Place(path="/data/spindle", problem="No such file or directory")


@pytest.fixture
def form(agent: Any, sign_in: Callable[[str], Client]) -> Callable[[], str]:
    """The page where a run is started, of a lab with one host."""
    with lab_scope(agent.lab.pk):
        Target.objects.all().delete()
        Agent.objects.update(boot_id="b", fio_version="fio-3.33")

    def shown() -> str:
        return sign_in("owner").get("/runs/new/").content.decode()

    return shown


def _offer(agent: Any, *places: Place) -> str:
    with lab_scope(agent.lab.pk):
        for place in places:
            offer_directories(agent.row.host, [place])
            Agent.objects.update(directories=[place.as_json])
        (found,) = with_targets(Agent.objects.all())
        return find_obstacle(found)


def test_a_sound_directory(agent, form) -> None:
    assert _offer(agent, EXT4) == ""
    assert "usable test directory" not in form()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (NOT_THERE, "/data/spindle, cannot be used, and no run can start there: No such file or directory"),
        (NOT_MOUNTED, "takes no runs: /data is not mounted"),
    ],
)
def test_a_host_is_there_whose_directory_is_gone(agent, form, place, said) -> None:
    assert said in _offer(agent, EXT4, place)
    page = form()
    assert "No host has a usable test directory now" in page
    assert said in page
    assert "Add a host" not in page
    assert _offer(agent, EXT4) == ""


def test_a_refused_directory_is_told_with_its_form(agent, form) -> None:
    with lab_scope(agent.lab.pk):
        Agent.objects.update(policy={"directory_refused": "other accounts can write in /data/spindle (mode 777)"})
    assert "other accounts can write in /data/spindle" in _offer(agent, EXT4)
    assert form().count("other accounts can write in /data/spindle") == 1


def test_a_host_that_has_said_nothing_of_its_directory(agent, form) -> None:
    assert "has not reported yet what its directory" in form()
    with lab_scope(agent.lab.pk):
        Agent.objects.update(boot_id="")
    assert "has not reported yet; its directory is offered here when it has" in form()


@pytest.mark.parametrize("state", [Agent.State.PENDING, Agent.State.QUARANTINED])
def test_a_host_that_waits_for_approval(agent, form, state) -> None:
    with lab_scope(agent.lab.pk):
        Agent.objects.update(state=state)
    page = form()
    assert "A host waits for" in page
    assert "Add a host</a> first" not in page


def test_of_many_hosts_a_few_notes_are_open_and_all_are_there(agent, form, monkeypatch) -> None:
    """A lab of hundreds of hosts gets its form, and not a screen of notes above it."""
    notes = [{"host": f"node{number}", "sentence": "fio was not found."} for number in range(9)]
    monkeypatch.setattr("apps.agents.obstacles.start_notes", lambda agents: notes)
    _offer(agent, EXT4)
    page = form()
    assert page.count('<div class="note note-warning wide"><p><strong>node') == 4
    assert "More notes about hosts (5)" in page
    assert page.count("fio was not found.") == 9
