"""Every value of a report on its study's page: what was printed, what it is in base units, and how far it can be trusted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext as _

from apps.comparison.words import operation_of
from apps.lib import units
from apps.lib.reader_base import base
from apps.lib.units import exact, human, in_both_bases
from apps.runs.metrics import METRICS
from apps.runs.models import Quality
from apps.runs.points import point_text
from apps.studies.tables.building import DOUBTFUL, PrintedTable
from apps.studies.tables.found import Found

BETWEEN = "; "  # sentences of a note


@dataclass(frozen=True)
class ValueRow:
    """`value` for reading, `exact` to the last digit in base units, `both` in both bases; `quality` in a word, or why there is no
    value. `note`: what its neighbours do not say too.
    """

    measured: str
    point: str
    printed: str
    value: str
    exact: str
    both: str
    quality: str
    note: str
    run: int


@dataclass(frozen=True)
class ValuesOf:
    """One configuration's values. `note`: what holds for all of them."""

    configuration: str
    note: str
    rows: list[ValueRow]


def values_of(samples: Iterable[Found], labels: Mapping[str, str]) -> list[ValuesOf]:
    """`labels`: configuration → how people call it."""
    by_configuration = groupby(samples, key=lambda one: one.configuration)
    return [_of(labels.get(name, name), list(found)) for name, found in by_configuration]


def _of(label: str, found: Sequence[Found]) -> ValuesOf:
    notes = [one.note.split(BETWEEN) for one in found]
    shared = [said for said in notes[0] if len(notes) > 1 and all(said in note for note in notes)]
    own = [BETWEEN.join(said for said in note if said not in shared) for note in notes]
    return ValuesOf(label, BETWEEN.join(shared), [_row(one, note) for one, note in zip(found, own, strict=True)])


def _row(one: Found, note: str) -> ValueRow:
    metric = METRICS[one.metric]
    quality = one.missing_reason or str(Quality(one.quality).label)
    return ValueRow(
        measured=f"{operation_of(one.operation)}, {metric.label.lower()}",
        point=point_text(one),
        printed=one.printed,
        value=_text(one, lambda value: human(value, metric.unit, base())),
        exact=_text(one, lambda value: exact(value, metric.unit)),
        both=_text(one, lambda value: in_both_bases(value, metric.unit)),
        quality=f"{_(quality)}, {_(DOUBTFUL)}" if one.alternatives else _(quality),
        note=note,
        run=one.run,
    )


def _text(one: Found, text: Callable[[float], str]) -> str:
    return text(one.value) if one.value is not None else units.bounds(one.low, one.high, text)


def have_figures(tables: Iterable[PrintedTable]) -> bool:
    """Whether the printed tables hold values; then paper needs no second list of them."""
    return any(cell.samples for table in tables for row in table.rows for cell in row.cells)
