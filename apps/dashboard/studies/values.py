"""The values of a report on its study's page: printed text, value in base units, and quality."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext as _

from apps.comparison.labels import operation_of
from apps.core import units
from apps.core.unit_base import base
from apps.core.units import exact, human, in_both_bases
from apps.runs.metrics import METRICS, point_text
from apps.runs.models import Quality
from apps.studies.report.sample_selection import ReportSample
from apps.studies.report.tables import DOUBTFUL, PrintedTable

BETWEEN = "; "  # sentences of a note


@dataclass(frozen=True)
class ValueRow:
    """`value` for reading, `exact` to the last digit in base units, `both` in both bases.

    `quality` in a word, or why there is no value. `note`: what its neighbours do not say too.
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


def values_of(samples: Iterable[ReportSample], labels: Mapping[str, str]) -> list[ValuesOf]:
    """Return the reported values by configuration; `labels` are the display names by configuration."""
    by_configuration = groupby(samples, key=lambda sample: sample.configuration)
    return [_of(labels.get(name, name), list(result)) for name, result in by_configuration]


def _of(label: str, result: Sequence[ReportSample]) -> ValuesOf:
    notes = [item.note.split(BETWEEN) for item in result]
    shared = [text for text in notes[0] if len(notes) > 1 and all(text in note for note in notes)]
    own = [BETWEEN.join(text for text in note if text not in shared) for note in notes]
    return ValuesOf(label, BETWEEN.join(shared), [_row(item, note) for item, note in zip(result, own, strict=True)])


def _row(result: ReportSample, note: str) -> ValueRow:
    metric = METRICS[result.metric]
    quality = result.missing_reason or str(Quality(result.quality).label)
    return ValueRow(
        measured=f"{operation_of(result.operation)}, {metric.label.lower()}",
        point=point_text(result),
        printed=result.printed,
        value=_text(result, lambda value: human(value, metric.unit, base())),
        exact=_text(result, lambda value: exact(value, metric.unit)),
        both=_text(result, lambda value: in_both_bases(value, metric.unit)),
        quality=f"{_(quality)}, {_(DOUBTFUL)}" if result.alternatives else _(quality),
        note=note,
        run=result.run,
    )


def _text(result: ReportSample, text: Callable[[float], str]) -> str:
    return text(result.value) if result.value is not None else units.bounds(result.low, result.high, text)


def have_figures(tables: Iterable[PrintedTable]) -> bool:
    """Return whether the printed tables hold values, so that paper needs no second list of them."""
    return any(cell.samples for table in tables for row in table.rows for cell in row.cells)
