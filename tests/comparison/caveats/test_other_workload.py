"""A report of fio that is about another job than its host was asked for."""

from typing import Any

import pytest

from apps.comparison.caveats.other_workload import check
from apps.comparison.readings import Evidence, Reading
from tests.comparison.caveats.machines import plain

JOB = {"rw": "write", "block_size": 4096, "file_size": 1 << 20, "iodepth": 1, "numjobs": 1}


def said(job: dict[str, Any], jobs: int = 1, origin: str = "dispatched", **found: Any) -> str:
    evidence = Evidence(asked={"tool": "fio", "jobs": [job] * jobs})
    told: dict[str, Any] = {"block_size": 4096, "iodepth": 1, "threads": 1, **found}
    return plain(check(Reading(1, 1, "write", "bandwidth", 1.0, origin=origin, evidence=evidence, **told)))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, ""),
        ({"block_size": None, "iodepth": None, "threads": None}, ""),
        ({"block_size": 65536}, "fio's report: block size 64 KiB, asked for 4 KiB"),
        ({"iodepth": 8, "threads": 2}, "fio's report: I/O depth 8, asked for 1; threads 2, asked for 1"),
    ],
)
def test_what_differs_is_named(found: dict[str, Any], words: str) -> None:
    assert said(JOB, **found) == words


def test_nothing_is_said_where_it_is_not_certain() -> None:
    assert not said(JOB, jobs=2, block_size=65536)
    assert not said(JOB, origin="uploaded", block_size=65536)
    assert not said({**JOB, "bssplit": [[[4096, 50], [65536, 50]]]}, block_size=65536)
