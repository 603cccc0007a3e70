"""The order of a host's queue, and who may change it: priorities, moves, cancelling many, giving up."""

import random
from collections.abc import Sequence

import pytest
from django.db import connection
from django.urls import reverse

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent
from apps.runs.models import Attempt, Run
from apps.runs.queue import abandon_host, abandon_run, cancel_runs, move_run, set_priority
from apps.runs.services import cancel_run, offer_next_run, start_runs
from apps.runs.states import Priority, State
from apps.runs.workload import WorkloadError
from tests.comparison.factories import MIB, target
from tests.sampling import for_each

SPEC = {"tool": "fio", "jobs": [{"rw": "write", "block_size": MIB, "file_size": 7 * MIB}]}
HIGH, NORMAL, LOW = Priority


@pytest.fixture
def place(lab):
    return target(lab)


def start(place, number: int = 1, **options) -> list[int]:
    runs = start_runs(lab=place.lab, target=place, spec=SPEC, repetitions=number, who="engineer", **options)
    return [run.pk for run in runs]


def order(place) -> list[int]:
    queued = Run.objects.filter(host=place.host, state=State.QUEUED)
    return list(queued.in_dispatch_order().values_list("pk", flat=True))


def taken(place, number: int) -> list[int]:
    """Let the host take so many runs, each of which ends at once."""
    runs = []
    for _ in range(number):
        attempt = offer_next_run(place.host_id)
        assert attempt
        runs.append(attempt.run_id)
        assert attempt.move(State.FAILED, reason="no")
    return runs


def get(pk: int) -> Run:
    return Run.objects.select_related("host").get(pk=pk)


def move(pk: int, to: str) -> bool:
    return move_run(get(pk), to, "engineer")


def test_priority_goes_before_age(place) -> None:
    low, normal, high = start(place, 2, priority=LOW), start(place, 2), start(place, 1, priority=HIGH)
    assert order(place) == [*high, *normal, *low]
    assert taken(place, 5) == [*high, *normal, *low]


def test_changed_priorities_change_the_order_of_dispatch(place) -> None:
    a, b, c, d = start(place, 4)
    assert set_priority(place.lab, [c, d], HIGH, "engineer") == [c, d]
    assert set_priority(place.lab, [a], LOW, "engineer") == [a]
    assert taken(place, 4) == [c, d, b, a]


def test_a_priority_that_a_run_has_or_one_that_is_offered_is_left_alone(place) -> None:
    a, b = start(place, 2)
    offer_next_run(place.host_id)
    assert set_priority(place.lab, [a, b, 10**9], NORMAL, "engineer") == []
    assert set_priority(place.lab, [a, b], LOW, "engineer") == [b]
    [event] = AuditEvent.objects.filter(act="runs' priority changed")
    assert (event.who, event.detail) == ("engineer", {"runs": [b], "priority": "low"})


def test_a_run_is_moved_up_down_and_to_the_front(place) -> None:
    a, b, c, d = start(place, 4)
    assert move(c, "up")
    assert order(place) == [a, c, b, d]
    assert move(a, "down")
    assert order(place) == [c, a, b, d]
    assert move(d, "front")
    assert order(place) == [d, c, a, b]
    e = start(place)[0]
    assert order(place) == [d, c, a, b, e]
    assert taken(place, 5) == [d, c, a, b, e]


def test_at_the_ends_nothing_moves_and_nothing_is_written_down(place) -> None:
    a, b = start(place, 2)
    assert not move(a, "up")
    assert not move(a, "front")
    assert not move(b, "down")
    assert order(place) == [a, b]
    assert not AuditEvent.objects.filter(act="run moved in the queue").exists()
    with pytest.raises(WorkloadError, match="one of: front, up, down"):
        move(a, "sideways")


def test_a_run_that_passes_one_of_another_priority_takes_it_over(place) -> None:
    [high], [a, b], [low] = start(place, priority=HIGH), start(place, 2), start(place, priority=LOW)
    assert move(a, "up")
    assert order(place) == [a, high, b, low]
    assert get(a).priority == HIGH
    assert move(b, "down")
    assert order(place) == [a, high, low, b]
    assert get(b).priority == LOW
    assert move(low, "front")
    assert (order(place), get(low).priority) == ([low, a, high, b], HIGH)


def test_a_run_that_is_offered_or_over_cannot_be_moved(place) -> None:
    a, b = start(place, 2)
    offer_next_run(place.host_id)
    assert not move(a, "down")
    cancel_run(get(b), "engineer")
    assert not move(b, "front")


@for_each("seed", range(8), number=3, taken_back=True)
def test_any_moves_keep_every_run_once_and_in_the_order_of_a_plain_list(place, seed) -> None:
    """The same moves on a list of (priority, run) give the same order."""
    chance = random.Random(seed)
    expected: list[tuple[int, int]] = []
    for _ in range(9):
        priority = chance.choice([HIGH, NORMAL, LOW])
        expected.append((priority, start(place, priority=priority)[0]))
    expected.sort()
    for _ in range(25):
        index, to = chance.randrange(len(expected)), chance.choice(["front", "up", "down"])
        wanted = {"front": 0, "up": index - 1, "down": index + 1}[to]
        may = wanted != index and 0 <= wanted < len(expected)
        assert move(expected[index][1], to) == may
        if may:
            neighbour = expected[wanted][0]
            expected.insert(wanted, (neighbour, expected.pop(index)[1]))
        assert order(place) == [run for _, run in expected]
    assert taken(place, 9) == [run for _, run in expected]


def test_another_hosts_queue_stays_as_it_is(lab, place) -> None:
    other = target(lab, host="beta")
    mine, theirs = start(place, 3), start(other, 3)
    move(mine[2], "front")
    set_priority(lab, mine, HIGH, "engineer")
    assert order(other) == theirs


def test_another_labs_runs_are_out_of_reach(cast, place) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = start(target(cast.other_lab, host="gamma"))
    with lab_scope(cast.lab.pk):
        assert set_priority(cast.lab, theirs, HIGH, "engineer") == []


def test_many_are_cancelled_each_with_its_audit_event(place) -> None:
    a, b, c = start(place, 3)
    offer_next_run(place.host_id)
    runs: Sequence[Run] = [get(pk) for pk in (c, a, b)]
    assert cancel_runs(runs, "engineer") == [a, b, c]
    assert cancel_runs(runs, "engineer") == []
    assert AuditEvent.objects.filter(act="run cancelled").count() == 3
    assert order(place) == []


def lose(place) -> Attempt:
    """Let the host begin its next run and go quiet."""
    attempt = offer_next_run(place.host_id)
    assert attempt
    attempt.accept()
    attempt.move(State.RUNNING)
    assert attempt.lose()
    return attempt


def test_only_a_run_whose_host_is_quiet_is_given_up_and_only_with_a_reason(place) -> None:
    [queued] = start(place)
    assert not abandon_run(get(queued), "why not", "engineer")
    lost = lose(place)
    for reason in ("", "   ", None, 7, "x" * 1001):
        with pytest.raises(WorkloadError, match="reason: found"):
            abandon_run(get(queued), reason, "engineer")  # type: ignore[arg-type]
    assert abandon_run(get(queued), "  its board is broken ", "engineer")
    assert not abandon_run(get(queued), "again", "engineer")
    run = get(queued)
    assert (run.state, run.finished_at, run.is_late) == (State.INTERRUPTED, None, False)
    assert run.problem == "Given up by engineer, because its host had gone quiet: its board is broken"
    [event] = AuditEvent.objects.filter(act="run abandoned")
    assert event.detail == {"reason": "its board is broken", "host": "alpha"}
    lost.refresh_from_db()
    assert (lost.state, lost.ended_at, lost.abandoned_by) == (State.INTERRUPTED, None, "engineer")


def test_a_whole_host_is_given_up_with_or_without_its_queue(place) -> None:
    first, second, third = start(place, 3)
    lose(place)
    assert abandon_host(place.host, "burnt", "engineer") == ([first], [])
    assert order(place) == [second, third]
    assert abandon_host(place.host, "burnt", "engineer", with_waiting=True) == ([], [second, third])
    with pytest.raises(WorkloadError):
        abandon_host(place.host, "", "engineer")


def test_a_given_up_host_takes_nothing_before_it_has_answered(place) -> None:
    first, second = start(place, 2)
    attempt = lose(place)
    assert abandon_run(get(first), "burnt", "engineer")
    assert offer_next_run(place.host_id) is None
    Attempt.objects.settle_abandoned(place.host_id)
    offered = offer_next_run(place.host_id)
    assert offered
    assert (offered.run_id, offered.token > attempt.token) == (second, True)


def test_the_queue_is_read_by_its_index(place) -> None:
    """The index has the order, so that nothing is sorted."""
    start(place, 3)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        queued = Run.objects.filter(host=place.host_id, state=State.QUEUED).in_dispatch_order()[:1]
        plan = queued.explain()
    assert "run_queue" in plan, plan
    assert "Sort" not in plan, plan


def test_pages_of_the_queue_are_there() -> None:
    assert reverse("queue") == "/queue/"
