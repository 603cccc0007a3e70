"""Samples in columns into the database: rows of COPY's binary format, made by NumPy for thousands of samples at once.

numbers = abreast(*numbers_asked_of(every))
save_columns([(run, artefact, columns), …], numbers)
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.lib.copying import copy, copy_ready, ids_asked
from apps.lib.pipelined import Asking
from apps.runs.columns import Columns, Key, Word
from apps.runs.models import Sample
from apps.runs.samples import (
    LONGEST_PRINTED,
    SAMPLE_COLUMNS,
    SAMPLE_TYPES,
    measures_asked,
    points_asked,
    save_provenance,
)

Part = tuple[int, int | None, Columns]  # the run's id, the artefact's, the samples
_FIXED = (
    ("id", ">i8"), ("run_id", ">i8"), ("measure_id", ">i2"), ("point_id", ">i8"), ("section", ">i2"), ("value", ">f8"),
    ("source_line", ">i4"), ("artefact_id", ">i8"),
)  # fmt: skip
_COLUMNS = (*(name for name, _ in _FIXED), "printed")
# Each value behind its length; the last one, a text, follows what is of one size.
_ROW = np.dtype([
    ("fields", ">i2"), *(each for name, kind in _FIXED for each in ((f"{name}'s length", ">i4"), (name, kind))),
    ("printed's length", ">i4"),
])  # fmt: skip
_BYTES = np.dtype((np.void, _ROW.itemsize))
_PIECE = 2000  # rows
_NONE = 0  # no line, no artefact


def numbers_asked_of(parts: Sequence[Columns]) -> tuple[Asking[Any], Asking[Any], Asking[Any]]:
    """Numbers of the measures, of the points, and of the samples to be."""
    return (
        measures_asked({word for one in parts for word in one.words}),
        points_asked({key for one in parts for key in one.points}),
        ids_asked(Sample._meta.db_table, sum(map(len, parts))),
    )


def save_columns(parts: Sequence[Part], numbers: Sequence[Any]) -> int:
    """Samples of runs that nobody else sees yet, with what `numbers_asked_of` came to for all of them in this order. Returns how many."""
    if not (count := sum(len(one) for _, _, one in parts)):
        return 0
    measures, points, ids = numbers
    rows, is_whole = _rows(parts, measures, points, ids)
    texts = [text[:LONGEST_PRINTED].encode() for _, _, one in parts for text in one.printed]
    rows["printed's length"] = np.fromiter(map(len, texts), dtype=np.int32, count=count)
    if is_whole.all():
        copy_ready(Sample._meta.db_table, _COLUMNS, _joined(rows, texts))
    else:
        some = np.flatnonzero(is_whole)
        copy_ready(Sample._meta.db_table, _COLUMNS, _joined(rows[some], [texts[place] for place in some]))
        others = np.flatnonzero(~is_whole).tolist()
        copy(Sample._meta.db_table, SAMPLE_COLUMNS, SAMPLE_TYPES, _with_nulls(parts, rows, others), count=len(others))
    save_provenance(_said(parts, ids))
    return count


def _rows(
    parts: Sequence[Part], measures: dict[Word, int], points: dict[Key, int], ids: Sequence[int]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """All but the texts; and which of them have all: a value, a line and an artefact."""
    counts = [len(one) for _, _, one in parts]
    rows = np.zeros(sum(counts), dtype=_ROW)
    rows["fields"] = len(_COLUMNS)
    for name, kind in _FIXED:
        rows[f"{name}'s length"] = np.dtype(kind).itemsize
    rows["id"] = np.arange(ids.start, ids.stop) if isinstance(ids, range) else ids
    rows["run_id"] = np.repeat([run for run, _, _ in parts], counts)
    rows["artefact_id"] = np.repeat([artefact or _NONE for _, artefact, _ in parts], counts)
    rows["measure_id"] = _looked_up([(one.measure, one.words) for _, _, one in parts], measures)
    rows["point_id"] = _looked_up([(one.point, one.points) for _, _, one in parts], points)
    rows["section"] = np.frombuffer(b"".join(one.section for _, _, one in parts), dtype=np.int16)
    rows["value"] = np.frombuffer(b"".join(one.value for _, _, one in parts), dtype=np.float64)
    lines = np.frombuffer(b"".join(one.line for _, _, one in parts), dtype=np.int32)
    rows["source_line"] = lines
    is_whole = (lines != _NONE) & (rows["artefact_id"] != _NONE)
    is_whole[_missing(parts)] = False
    return rows, is_whole


def _looked_up(parts: Iterable[tuple[bytes, Sequence[Any]]], numbers: dict[Any, int]) -> NDArray[np.int64]:
    known: dict[tuple[Any, ...], NDArray[np.int64]] = {}  # runs of one kind have the same words in the same order
    found = []
    for places, words in parts:
        key = tuple(words)
        if key not in known:
            known[key] = np.array([numbers[word] for word in words], dtype=np.int64)
        found.append(known[key][np.frombuffer(places, dtype=np.uint16)])
    return np.concatenate(found)


def _missing(parts: Sequence[Part]) -> list[int]:
    found, first = list[int](), 0
    for _, _, one in parts:
        found += [first + place for place in one.missing]
        first += len(one)
    return found


def _joined(rows: NDArray[Any], texts: Sequence[bytes]) -> Iterator[bytes]:
    for start in range(0, len(rows), _PIECE):
        heads: list[bytes] = rows[start : start + _PIECE].view(_BYTES).tolist()
        yield b"".join(chain.from_iterable(zip(heads, texts[start : start + _PIECE], strict=True)))


def _with_nulls(parts: Sequence[Part], rows: NDArray[Any], places: Sequence[int]) -> list[tuple[Any, ...]]:
    missing, printed = set(_missing(parts)), [text for _, _, one in parts for text in one.printed]
    found = []
    for place in places:
        row = rows[place]
        values = {name: row[name].item() for name, _ in _FIXED} | {"printed": printed[place][:LONGEST_PRINTED]}
        values |= {name: values[name] or None for name in ("source_line", "artefact_id")}
        if place in missing:
            values["value"] = None
        found.append(tuple(values[name] for name in SAMPLE_COLUMNS))
    return found


def _said(parts: Sequence[Part], ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """The sample's id, and what `columns.said_of` it was."""
    found, first = list[tuple[Any, ...]](), 0
    for _, _, one in parts:
        found += [(ids[first + place], *rest) for place, *rest in one.said]
        first += len(one)
    return found
