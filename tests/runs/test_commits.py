"""Acts on runs with a database that commits: each is a transaction of its own, whole or not at all."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Attempt, Run
from apps.runs.queue import abandon_host, abandon_run, move_run, set_priority
from apps.runs.services import cancel_run, describe_run, offer_next_run, start_on_targets, start_runs
from apps.runs.states import Priority, State
from tests.comparison.factories import MIB, target
from tests.conftest import Cast

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
SPEC = {"tool": "fio", "jobs": [{"rw": "write", "block_size": MIB, "file_size": 7 * MIB}]}
ME = "engineer"


@pytest.fixture
def place(cast: Cast) -> Iterator[Target]:
    with lab_scope(cast.lab.pk):
        yield target(cast.lab)


def queue_of(place: Target, number: int = 3) -> list[Run]:
    started = start_runs(lab=place.lab, target=place, spec=SPEC, repetitions=number, who=ME)
    return list(Run.objects.filter(pk__in=[run.pk for run in started]).select_related("host").order_by("pk"))


def quiet(place: Target) -> Run:
    """A run whose host has gone quiet."""
    run = queue_of(place, 1)[0]
    attempt = offer_next_run(place.host_id)
    assert attempt
    assert attempt.move(State.ACCEPTED)
    assert attempt.lose()
    run.refresh_from_db()
    assert run.state == State.UNKNOWN
    return run


def acts(place: Target, runs: list[Run]) -> dict[str, Callable[[], Any]]:
    lab: Lab = place.lab
    return {
        "start": lambda: start_runs(lab=lab, target=place, spec=SPEC, repetitions=2, who=ME),
        "start on targets": lambda: start_on_targets([place, place], lab=lab, spec=SPEC, who=ME),
        "describe": lambda: describe_run(runs[0], ME, labels={"cable": "old"}, note="after the move"),
        "cancel": lambda: cancel_run(runs[0], ME),
        "priority": lambda: set_priority(lab, [run.pk for run in runs], Priority.HIGH, ME),
        "to the front": lambda: move_run(runs[2], "front", ME),
        "down": lambda: move_run(runs[0], "down", ME),
    }


NAMES = ("start", "start on targets", "describe", "cancel", "priority", "to the front", "down")


def everything() -> tuple[list[Any], ...]:
    runs = Run.objects.order_by("pk").values_list("pk", "state", "priority", "position", "labels", "note", "facts")
    attempts = Attempt.objects.order_by("pk").values_list("pk", "state", "cancel_wanted_at", "abandoned_at")
    return list(runs), list(attempts), list(AuditEvent.objects.order_by("pk").values_list("act", "who"))


def fail(*_: object, **__: object) -> None:
    raise ConnectionError("the database went away")


@pytest.mark.parametrize("act", NAMES)
def test_an_act_commits_and_one_that_fails_at_its_end_has_changed_nothing(
    place: Target, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = queue_of(place)
    before = everything()
    with monkeypatch.context() as broken:
        broken.setattr(type(AuditEvent.objects), "record", fail)
        with pytest.raises(ConnectionError):
            acts(place, runs)[act]()
    assert everything() == before
    assert acts(place, runs)[act]()
    assert everything()[0] != before[0]
    assert AuditEvent.objects.count() > len(before[2])


@pytest.mark.parametrize("is_host", [True, False])
def test_giving_up_commits_and_is_whole(place: Target, is_host: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = quiet(place)
    waiting = queue_of(place, 2)
    before = everything()

    def give_up() -> Any:
        if is_host:
            return abandon_host(place.host, "It burnt.", ME, with_waiting=True)
        return abandon_run(lost, "It burnt.", ME)

    with monkeypatch.context() as broken:
        broken.setattr(type(AuditEvent.objects), "record", fail)
        with pytest.raises(ConnectionError):
            give_up()
    assert everything() == before
    assert give_up() == (([lost.pk], [run.pk for run in waiting]) if is_host else True)
    lost.refresh_from_db()
    assert lost.state == State.INTERRUPTED
    event = AuditEvent.objects.filter(act="run abandoned").get()
    assert (event.subject, event.who, event.detail) == (str(lost), ME, {"reason": "It burnt.", "host": str(place.host)})
    states = set(Run.objects.filter(pk__in=[run.pk for run in waiting]).values_list("state", flat=True))
    assert states == {State.CANCELLED if is_host else State.QUEUED}


@pytest.mark.parametrize(("reported", "state"), [(State.RUNNING, State.RUNNING), (State.ACCEPTED, State.ACCEPTED)])
def test_an_abandoned_attempt_that_its_host_still_has_is_open_again(place: Target, reported: str, state: str) -> None:
    lost = quiet(place)
    assert abandon_run(lost, "It burnt.", ME)
    attempt = Attempt.objects.get(run=lost)
    assert attempt.resume(reported)
    stored = Attempt.objects.get(run=lost)
    names = ("state", "answered_at", "reason", "lease_until", "cancel_wanted_at")
    assert {name: getattr(attempt, name) for name in names} == {name: getattr(stored, name) for name in names}
    assert (stored.state, stored.reason) == (state, "")
    assert (stored.cancel_wanted_at is not None) == (reported == State.ACCEPTED), "what was given up does not begin"
    lost.refresh_from_db()
    assert (lost.state, lost.problem) == (state, "")
    assert not attempt.resume(reported), "once"
