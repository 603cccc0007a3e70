"""Samples as lines of CSV, straight from what the database gave: most of a line is the same for thousands of samples, and is written once.

for some in parts(samples):
    lines(some)                # the same as csv.lines(map(flat, some.rows()))
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from apps.core.tables import Cell
from apps.core.units import machine
from apps.runs.metrics import DISK
from apps.wiki.dialects import csv
from apps.wiki.sample_rows import SampleBatch, fact_cells, quality_of, section_name, unit_of, why_missing

_PLAIN = re.compile(r"(?:[0-9A-Za-z.][0-9A-Za-z./%() ]*)?")  # needs no quotes, and is no formula
Key = TypeVar("Key")


class _Once(dict[Key, str]):
    """What is written of a key, when it is asked for first."""

    def __init__(self, write: Callable[[Key], str]) -> None:
        self.write = write

    def __missing__(self, key: Key) -> str:
        text = self[key] = self.write(key)
        return text


def lines(part: SampleBatch) -> str:
    runs = part.runs
    measures = _Once[tuple[str, str]](lambda key: _cells(*key))
    units = _Once[str](lambda metric: _cells(unit_of(metric)))
    points = _Once[tuple[Any, ...]](_about)
    facts = _Once[int](lambda run: csv.lines([fact_cells(runs[run]["facts"])]))

    def _end(key: tuple[int, int, str | None, bool]) -> str:
        run, section, note, is_disk = key
        name = section_name(runs[run], DISK if is_disk else "", section)
        return f"{_cells(section, runs[run]['state'], note or '', name)},{facts[run]}"

    ends = _Once[tuple[int, int, str | None, bool]](_end)
    return "".join([
        f"{pk},{run},{measures[operation, metric]},{machine(value)},{units[metric]},{_text(printed)},"
        f"{points[quality, missing_reason, value is None, low, high, file_size, block_size, threads, iodepth]},"
        f"{runs[run]['repetition']},{machine(cpu)},{'' if line is None else line},"
        f"{ends[run, section, note, operation == DISK]}"
        for (
            pk, run, value, printed, line, section, operation, metric, file_size, block_size, threads, iodepth,
            quality, missing_reason, low, high, cpu, note,
        ) in part.found
    ])  # fmt: skip


def _about(key: tuple[Any, ...]) -> str:
    """Return quality and point of a sample as CSV cells."""
    quality, provenance_reason, is_missing, low, high, *point = key
    reason = why_missing(provenance_reason, (None if is_missing else 0.0, low, high))
    return _cells(quality_of(quality), reason, low, high, *point)


def _text(printed: str) -> str:
    return printed if _PLAIN.fullmatch(printed) else _cells(printed)


def _cells(*cells: Cell) -> str:
    """Return CSV cells of an unfinished line, because an empty cell alone in its line would be quoted."""
    return csv.lines([[*cells, ""]])[: -len(",\r\n")]
