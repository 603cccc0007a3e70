"""D4: all samples as CSV and NDJSON, streamed, beside PostgreSQL's COPY of the same columns."""

import http.client
import time
from typing import Any

import psutil
import psycopg
import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from tests.benchmarks.figures import pairs, report
from tests.benchmarks.many_samples import fill, targets
from tests.conftest import Cast
from tests.faults.stack import Stack, database_url

pytestmark = [pytest.mark.benchmark]
SAMPLES = pairs(100_000, 1_000_000)
BUDGET = 20_000  # samples a second
COPY = """COPY (SELECT sample.id, run.id, operation, metric, value, printed, quality, missing_reason, low, high, file_size, block_size,
    threads, iodepth, repetition, provenance.cpu, source_line, section, run.state, provenance.note, host.name, target.name, tool, tool_version,
    run.facts, run.labels
  FROM runs_sample sample JOIN runs_run run ON run.id = run_id JOIN runs_measure measure ON measure.id = measure_id
  JOIN runs_point point ON point.id = point_id LEFT JOIN runs_provenance provenance ON provenance.sample_id = sample.id
  LEFT JOIN inventory_host host ON host.id = run.host_id LEFT JOIN inventory_target target ON target.id = run.target_id
  ORDER BY sample.id) TO STDOUT CSV"""


def test_d4_streamed_exports(stack: Stack, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        secret = Token.objects.issue(cast.lab, "read", "benchmark")[1]
        held = fill(cast.lab, targets(cast.lab, 8), SAMPLES)
    web = psutil.Process(stack.processes["web"].pid)
    with psycopg.connect(database_url(), autocommit=True) as bare:
        try:
            _export(stack, secret, "text/csv")  # the first request of a server loads what it needs
            for form, media_type in (("CSV", "text/csv"), ("NDJSON", "application/x-ndjson")):
                before = web.memory_info().rss
                rates = []
                for _ in range(pairs(2, 3)):
                    seconds, lines = _export(stack, secret, media_type)
                    assert lines == held + (form == "CSV")
                    print(
                        f"\nD4 {form}: {held / seconds:,.0f} samples/s, COPY {held / _copy(bare, held):,.0f}",
                        flush=True,
                    )
                    rates.append(held / seconds)
                grown = (web.memory_info().rss - before) / 2**20
                middle = report("D4", f"{held:,} samples as {form}", rates, f"≥ {BUDGET:,}", "samples/s")
                report("D4", f"memory that the web process grew by, {form}", [grown], "flat", "MiB")
                assert middle > BUDGET / 5
                assert grown < 100
        finally:
            bare.execute("TRUNCATE runs_sample, runs_run CASCADE")


def _copy(bare: psycopg.Connection[tuple[Any, ...]], held: int) -> float:
    begin = time.perf_counter()
    with bare.cursor().copy(COPY) as copy:
        lines = sum(bytes(piece).count(b"\n") for piece in copy)
    assert lines == held
    return time.perf_counter() - begin


def _export(stack: Stack, secret: str, media_type: str) -> tuple[float, int]:
    """Seconds and lines."""
    connection = http.client.HTTPConnection("127.0.0.1", stack.port)
    begin = time.perf_counter()
    connection.request("GET", "/api/v1/samples/", headers={"Accept": media_type, "Authorization": f"Bearer {secret}"})
    answer = connection.getresponse()
    assert answer.status == 200
    lines = 0
    while piece := answer.read(1 << 20):
        lines += piece.count(b"\n")
    return time.perf_counter() - begin, lines
