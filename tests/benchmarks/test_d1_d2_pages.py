"""D1: every page is quick in front of ten million samples, a hundred thousand runs and a thousand hosts. D2: and stays so as they grow."""

import math
import statistics

import psycopg
import pytest
from django.test import Client

from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.benchmarks.figures import LONG, pairs, quantile, report
from tests.benchmarks.many_samples import MEASURES, fill, targets
from tests.benchmarks.servers import Page, alternate
from tests.conftest import Cast
from tests.faults.stack import Stack, database_url
from tests.statements import statements

pytestmark = [pytest.mark.benchmark]
SIZES = (100_000, 1_000_000, 10_000_000) if LONG else (100_000, 500_000)
CONFIGURATIONS = 4_000 if LONG else 100  # on a quarter as many hosts
PAGES = (
    "/",
    "/runs/",
    "/hosts/",
    "/targets/",
    "/compare/",
    "/compare/free/",
    "/trends/",
    "/uploads/",
    "/studies/",
    "/search/?q=node001",
)
PACE = "/security/"  # reads nothing: how quick this machine is meanwhile
LIMIT_MS, COMPARISON_MS, EXPONENT = 300, 100, 0.1
LOOSE_MS = 30_000  # a shared machine may be at something else


def test_d1_d2_pages_among_millions_of_samples(stack: Stack, cast: Cast) -> None:
    with psycopg.connect(database_url(), autocommit=True) as bare:
        try:
            _measure(stack, cast)
        finally:  # deleted one by one, as after other tests, ten million rows would take a quarter of an hour
            bare.execute("TRUNCATE runs_sample, runs_run CASCADE")


def _measure(stack: Stack, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        places = targets(cast.lab, CONFIGURATIONS)
    cells = "/compare/side-by-side/?" + "&".join(f"target={place.pk}" for place in places[:8])
    page, client = Page(stack, cast), Client()
    client.force_login(cast.viewer)
    growth, asked, held = [], [], 0
    for size in SIZES:
        with lab_scope(cast.lab.pk):
            held += fill(cast.lab, places, size - held)
            run = Run.objects.order_by("id").first()
        assert run
        paths = [PACE, *PAGES, run.get_absolute_url(), places[0].get_absolute_url(), cells]
        page.connection.close()  # the server has, meanwhile
        found = alternate(pairs(10, 40), *(lambda path=path: page.ms(path) for path in paths))  # type: ignore[misc]
        middle = [statistics.median(times) for times in found]
        growth.append([median / middle[0] for median in middle])
        asked.append([len(statements(lambda path=path: client.get(path))) for path in paths])  # type: ignore[misc]
    for place, (path, times) in enumerate(zip(paths, found, strict=True)):
        name = path.partition("?")[0] + (f" of 8 × {MEASURES} cells" if path is cells else "")
        limit = COMPARISON_MS if path is cells else LIMIT_MS
        what = f"p95 of {name}, {held:,} samples, n = {len(times)}"
        assert report("D1", what, [quantile(times, 0.95)], f"≤ {limit}", "ms") < LOOSE_MS
        if path is PACE:
            continue
        counts = [row[place] for row in asked]
        exponent = math.log(growth[-1][place] / growth[0][place]) / math.log(SIZES[-1] / SIZES[0])
        what = f"{name} ÷ {PACE}: exponent from {SIZES[0]:,} samples, {counts[-1]} statements"
        report("D2", what, [exponent], f"≤ {EXPONENT}", "")
        assert max(counts) == min(counts), (name, counts)
        assert exponent < (0.3 if LONG else 1), "it grows with what is there"
