"""Samples in columns are the same samples, and make the same rows."""

import msgspec
import pytest

from apps.labs.models import Lab
from apps.lib.pipelined import abreast
from apps.parsers.shape import ParsedSample
from apps.runs.artefact_store import keep
from apps.runs.column_store import numbers_asked_of, save_columns
from apps.runs.columns import Columns, columns_of
from apps.runs.models import Run, Sample
from apps.runs.samples import save_samples

PLAIN = ParsedSample("read", "bandwidth", 1.5, 0, None, 4096, 2, 16, "1.5 B/s", 7)
SAID = ParsedSample(
    "read", "iops", 2.5, 1, line=9, quality="rounded", low=1.0, high=3.0, cpu=0.5, note="both", alternatives=(2.0,)
)
MISSING = ParsedSample("write", "iops", None, 1, missing_reason="failed: error 28")
WITHOUT_LINE = ParsedSample("write", "bandwidth", 3.0, 1, printed="3 µB/s")
LONG = ParsedSample("trim", "bandwidth", 4.0, -1, printed="ж" * 90, line=2**31 - 1)
ALL = (PLAIN, SAID, MISSING, WITHOUT_LINE, LONG)


def columns(*samples: ParsedSample) -> Columns:
    found = columns_of(samples)
    assert found is not None
    return msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Columns)


def test_they_are_the_same_samples_after_their_way() -> None:
    assert columns(*ALL).samples() == ALL
    assert len(columns(*ALL)) == 5
    assert columns().samples() == ()


def test_whether_there_is_any_value() -> None:
    assert columns(*ALL).has_values
    assert not columns(MISSING).has_values


@pytest.mark.parametrize(
    "change",
    [{"value": 2}, {"line": 0}, {"section": 1 << 15}, {"line": 1 << 31}, {"cpu": 1}, {"alternatives": (1, 2)}],
    ids=str,
)
def test_what_does_not_fit_stays_an_object(change: dict[str, object]) -> None:
    assert columns_of([PLAIN, msgspec.structs.replace(PLAIN, **change)]) is None


@pytest.mark.parametrize(
    ("column", "found"),
    [("value", bytes(7)), ("line", bytes(8)), ("measure", b"\1\0"), ("point", b"\xff\xff"), ("missing", [1]), ("missing", [-1]),
     ("said", [(1, "exact", "", None, None, None, "", ())])],
)  # fmt: skip
def test_columns_that_contradict_each_other_are_refused(column: str, found: object) -> None:
    wrong = msgspec.msgpack.encode(
        [found if name == column else value for name, value in msgspec.structs.asdict(columns(PLAIN)).items()]
    )
    with pytest.raises(msgspec.ValidationError, match=r"found .*, expected"):
        msgspec.msgpack.decode(wrong, type=Columns)


def rows(run: Run) -> list[tuple[object, ...]]:
    said = ("quality", "missing_reason", "low", "high", "cpu", "note", "alternatives")
    names = (
        "measure",
        "point",
        "section",
        "value",
        "printed",
        "source_line",
        "artefact",
        *(f"provenance__{one}" for one in said),
    )
    return list(Sample.objects.filter(run=run).order_by("id").values_list(*names))


@pytest.mark.django_db
@pytest.mark.parametrize("samples", [ALL, (PLAIN, LONG), (MISSING, WITHOUT_LINE)], ids=["all", "whole", "with nulls"])
def test_the_rows_are_those_of_the_objects(lab: Lab, samples: tuple[ParsedSample, ...]) -> None:
    artefact = keep(lab.pk, b"bytes")
    objects, alone, in_columns, after = (Run.objects.create(lab=lab, tool="fio", origin="uploaded") for _ in range(4))
    save_samples(objects, samples, artefact)
    save_samples(alone, [PLAIN], artefact)
    parts = [columns(*samples), columns(PLAIN)]
    count = save_columns(
        [(in_columns.pk, artefact.pk, parts[0]), (after.pk, artefact.pk, parts[1])], abreast(*numbers_asked_of(parts))
    )
    assert count == len(samples) + 1
    assert rows(in_columns) == rows(objects)
    assert rows(after) == rows(alone)


@pytest.mark.django_db
def test_samples_of_no_artefact_are_rows_too(lab: Lab) -> None:
    run = Run.objects.create(lab=lab, tool="fio", origin="uploaded")
    save_columns([(run.pk, None, columns(*ALL))], abreast(*numbers_asked_of([columns(*ALL)])))
    assert set(Sample.objects.filter(run=run).values_list("artefact", flat=True)) == {None}
    assert Sample.objects.filter(run=run).count() == len(ALL)


@pytest.mark.django_db
def test_no_samples_are_no_rows(lab: Lab) -> None:
    assert save_columns([(1, 1, columns())], abreast(*numbers_asked_of([columns()]))) == 0
