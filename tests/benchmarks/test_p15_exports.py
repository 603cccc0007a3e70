"""P15: all samples as CSV and NDJSON, streamed, against PostgreSQL's COPY of the same columns."""

import http.client
import time
from typing import Any

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
COPY = """COPY (SELECT sample.id, run.id, operation, metric, value, printed, quality, missing_reason, low, high, file_size, block_size,
    threads, iodepth, repetition, provenance.cpu, source_line, section, run.state, note, host.name, target.name, tool, tool_version,
    run.facts, run.labels
  FROM runs_sample sample JOIN runs_run run ON run.id = run_id JOIN runs_measure measure ON measure.id = measure_id
  JOIN runs_point point ON point.id = point_id LEFT JOIN runs_provenance provenance ON provenance.sample_id = sample.id
  LEFT JOIN inventory_host host ON host.id = run.host_id LEFT JOIN inventory_target target ON target.id = run.target_id
  ORDER BY sample.id) TO STDOUT CSV"""


def test_p15_streamed_exports(stack: Stack, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        secret = Token.objects.issue(cast.lab, "read", "benchmark")[1]
        held = fill(cast.lab, targets(cast.lab, 8), SAMPLES)
    with psycopg.connect(database_url(), autocommit=True) as bare:
        try:
            for form, media_type in (("CSV", "text/csv"), ("NDJSON", "application/x-ndjson")):
                _measure(bare, stack, secret, form, media_type, held)
        finally:
            bare.execute("TRUNCATE runs_sample, runs_run CASCADE")


def _measure(
    bare: psycopg.Connection[tuple[Any, ...]], stack: Stack, secret: str, form: str, media_type: str, held: int
) -> None:
    ratios = []
    for _ in range(pairs(2, 5)):
        least = _copied(bare, held)
        ours = _exported(stack, secret, media_type, held + (form == "CSV"))
        print(f"\nP15 {form}: ours {held / ours:,.0f} samples/s, COPY {held / least:,.0f}", flush=True)
        ratios.append(least / ours)
    assert report("P15", f"{held:,} samples as {form} ÷ COPY", ratios, "≥ 0.3") > 0.03


def _copied(bare: psycopg.Connection[tuple[Any, ...]], held: int) -> float:
    begin = time.perf_counter()
    with bare.cursor().copy(COPY) as copy:
        lines = sum(bytes(piece).count(b"\n") for piece in copy)
    assert lines == held
    return time.perf_counter() - begin


def _exported(stack: Stack, secret: str, media_type: str, lines: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", stack.port)
    begin = time.perf_counter()
    connection.request("GET", "/api/v1/samples/", headers={"Accept": media_type, "Authorization": f"Bearer {secret}"})
    answer = connection.getresponse()
    assert answer.status == 200
    found = 0
    while piece := answer.read(1 << 20):
        found += piece.count(b"\n")
    assert found == lines
    return time.perf_counter() - begin
