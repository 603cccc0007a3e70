"""Many workers claim the next run of one host at the same moment, round after round: exactly one attempt each."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.labs.isolation import all_labs
from apps.runs.models import Attempt, Run
from apps.runs.services import offer_next_run
from apps.runs.states import OPEN, State
from tests.agents.conftest import FakeAgent
from tests.sampling import IS_LONG

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
CLAIMERS, ROUNDS = (50, 1000) if IS_LONG else (12, 12)


def test_of_many_who_claim_at_once_one_gets_the_attempt(
    agent: FakeAgent,
    start: Callable[..., list[Run]],
) -> None:
    host_id = agent.row.host_id
    gate = threading.Barrier(CLAIMERS)

    def claim(_: int) -> int | None:
        gate.wait(30)
        with all_labs():
            attempt = offer_next_run(host_id)
        return attempt.pk if attempt else None

    def part(_: int) -> None:
        gate.wait(30)
        connection.close()

    with ThreadPoolExecutor(CLAIMERS) as pool:
        for number in range(ROUNDS):
            if number % 100 == 0:
                start(100)
            won = [pk for pk in pool.map(claim, range(CLAIMERS)) if pk is not None]
            with all_labs():
                [attempt] = Attempt.objects.filter(state__in=OPEN)
                assert won == [attempt.pk], f"round {number}: {won}"
                assert Attempt.objects.count() == number + 1
                assert attempt.move(State.CANCELLED)
        list(pool.map(part, range(CLAIMERS)))
    with all_labs():
        assert Attempt.objects.values("run").distinct().count() == ROUNDS, "no run was attempted twice"
    print(f"\n{ROUNDS} rounds of {CLAIMERS} claimers: one attempt each")
