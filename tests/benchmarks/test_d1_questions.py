"""D1: the questions of a lab of 100,000 runs, 240 configurations at four points and four measures: 3,840 groups.

What counts is processor time, of this process and of its PostgreSQL backend (without parallel workers), because the
machine may be at something else; the time by the clock stands beside it.
"""

import statistics
import time
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client

from apps.labs.models import Lab
from tests.benchmarks.figures import cpu_ns, pairs, quantile, report
from tests.benchmarks.many_configurations import configurations, fill
from tests.statements import statements

pytestmark = [pytest.mark.benchmark]
RUNS = (10_000, 100_000)
ADDRESSES = ("/compare/", "/compare/questions/raid_level/", "/compare/questions/host/", "/api/v1/questions/")
LIMIT_MS = 300
LOOSE_MS = 30_000  # a shared machine may be at something else


@pytest.mark.usefixtures("transactional_db")
def test_d1_the_questions_of_a_hundred_thousand_runs(lab: Lab, sign_in: Callable[[str], Client]) -> None:
    client, places = sign_in("viewer"), configurations(lab)
    counts, before = [], 0
    try:
        for number in RUNS:
            fill(lab, places, range(before, number))
            before = number
            counts.append([len(statements(lambda path=path: client.get(path))) for path in ADDRESSES])  # type: ignore[misc]
        for address, count in zip(ADDRESSES, counts[-1], strict=True):
            _measure(client, address, count)
        assert counts[0] == counts[-1], "statements are constant"
    finally:  # deleted one by one, as after other tests, they would take minutes
        with connection.cursor() as cursor:
            cursor.execute("RESET max_parallel_workers_per_gather; TRUNCATE runs_sample, runs_run CASCADE")


def _measure(client: Client, address: str, count: int) -> None:
    """Print processor and clock time of one address."""
    with connection.cursor() as cursor:
        cursor.execute("SET max_parallel_workers_per_gather = 0")
    backend = connection.connection.info.backend_pid
    own, database, clock = [], [], []
    for _ in range(pairs(7, 30)):
        began = time.perf_counter(), time.process_time(), cpu_ns(backend)
        assert client.get(address).status_code == 200
        own.append(1000 * (time.process_time() - began[1]))
        database.append((cpu_ns(backend) - began[2]) / 1e6)
        clock.append(1000 * (time.perf_counter() - began[0]))
    report("D1", f"{address} of {RUNS[-1]:,} runs, {count} statements: Python", own, "none; for the sum", "ms of CPU")
    report("D1", "the same: PostgreSQL", database, "none; for the sum", "ms of CPU")
    whole = [a + b for a, b in zip(own, database, strict=True)]
    report("D1", "the same: both", whole, f"≤ {LIMIT_MS}", "ms of CPU")
    report("D1", "the same: p95 by the clock", [quantile(clock, 0.95)], f"≤ {LIMIT_MS}", "ms")
    assert statistics.median(clock) < LOOSE_MS
