"""Samples in the database are those that were parsed, however they came."""

from collections.abc import Sequence
from typing import Any

import pytest

from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample, ParsedTable
from apps.runs.artefacts.store import keep
from apps.runs.models import Point, Provenance, Run, Sample
from apps.runs.samples import point_ids, save_all_samples, save_samples

pytestmark = pytest.mark.django_db
PLAIN = ParsedSample("read", "bandwidth", 1.5, 0, None, 4096, 2, 16, "1.5 B/s", 7)
SAID = ParsedSample(
    "read", "iops", 2.5, 1, line=9, quality="rounded", low=1.0, high=3.0, cpu=0.5, note="both", alternatives=(2.0,)
)
MISSING = ParsedSample("write", "iops", None, 1, missing_reason="failed: error 28")
WITHOUT_LINE = ParsedSample("write", "bandwidth", 3.0, 1, printed="3 µB/s")
LONG = ParsedSample("trim", "bandwidth", 4.0, -1, printed="ж" * 90, line=2**31 - 1)
ALL = (PLAIN, SAID, MISSING, WITHOUT_LINE, LONG)
TABLE = ParsedTable(
    ("write", "read"), "bandwidth", "kB/s", 1024.0, [1.0, 2.0, 3.0, 4.0], ["1", "2", "3", "4"], [65536, 131072], [4096, 8192], [7, 8],
)  # fmt: skip


def new_run(lab: Lab) -> Run:
    run: Run = Run.objects.create(lab=lab, tool="fio", origin="uploaded")
    return run


def stored(run: Run) -> list[ParsedSample]:
    point = ("point__file_size", "point__block_size", "point__threads", "point__iodepth")
    names = ("measure__operation", "measure__metric", "value", "section", *point, "printed", "source_line")
    return [
        ParsedSample(*row, *_said(pk))
        for pk, *row in Sample.objects.filter(run=run).order_by("id").values_list("id", *names)
    ]


def _said(sample: int) -> Sequence[Any]:
    found = Provenance.objects.filter(sample=sample).first()
    if found is None:
        return ()
    said = found.quality, found.missing_reason, found.low, found.high, found.cpu, found.note
    return *said, tuple(found.alternatives)


def test_every_sample_is_a_row(lab: Lab) -> None:
    artefact, run = keep(lab.pk, b"bytes"), new_run(lab)
    assert save_samples(run, ALL, artefact) == 5
    assert stored(run)[:4] == list(ALL[:4])
    assert stored(run)[4].printed == "ж" * 80
    assert set(Sample.objects.values_list("artefact", flat=True)) == {artefact.pk}
    assert set(Provenance.objects.values_list("sample__printed", "missing_reason")) == {
        ("", ""), ("", "failed: error 28"),
    }  # fmt: skip


def test_samples_of_many_runs_go_to_their_own(lab: Lab) -> None:
    first, second, none = new_run(lab), new_run(lab), new_run(lab)
    artefact = keep(lab.pk, b"bytes")
    assert save_all_samples([(first.pk, artefact.pk, ALL[:4]), (none.pk, None, ()), (second.pk, None, (SAID,))]) == 5
    assert (stored(first), stored(second), stored(none)) == (list(ALL[:4]), [SAID], [])
    assert set(Sample.objects.filter(run=second).values_list("artefact", flat=True)) == {None}


def test_a_table_goes_into_the_database_as_its_samples_would(lab: Lab) -> None:
    run, other = new_run(lab), new_run(lab)
    save_samples(run, TABLE)
    save_samples(other, tuple(TABLE))
    assert stored(run) == stored(other) == list(TABLE)


def test_no_samples_are_no_rows(lab: Lab) -> None:
    assert save_all_samples([(new_run(lab).pk, None, ())]) == save_all_samples([]) == 0


def test_each_of_many_points_is_found_by_all_four_of_its_numbers(lab: Lab) -> None:
    keys = [
        (size, block, threads, depth)
        for size in (None, *range(1, 60)) for block in (None, 512, 4096) for threads in (None, 1) for depth in (None, 8)
    ]  # fmt: skip
    half = point_ids(keys[::2])
    every = point_ids(keys)
    assert every.items() >= half.items()
    assert len({every[key] for key in keys}) == len(keys) == Point.objects.count()
    for key in keys:
        names = ("file_size", "block_size", "threads", "iodepth")
        assert Point.objects.values_list(*names).get(pk=every[key]) == key
