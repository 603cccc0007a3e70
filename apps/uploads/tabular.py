"""A table of means among uploads: what a person is shown to map it, and its reading once that is said. Pure."""

from collections.abc import Sequence
from typing import Any

from apps.parsers import tables
from apps.parsers.registry import Reading, format_named
from apps.parsers.shape import Broken, ParsedFile, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.tables import Column, Grid, Mapping, Marks

ROWS = 12  # shown in the dialog
_LONGEST_CELL = 120
_SHOWN = 5


def read_mapped(text: SourceText, plain: dict[str, Any]) -> Reading:
    """Every table of the text that looks like its largest one, as the mapping says; the others are named."""
    table = format_named(tables.NAME)
    try:
        mapping = Mapping.from_json(plain)
        grids = tables.find(text, mapping.heading_rows)
        mine = _alike(text, grids)
        return Reading(table, 1.0, _together([tables.read(one, mapping) for one in mine], _others(grids, mine)))
    except ParseError as error:
        return Reading(table, 1.0, None, error.broken)
    except ValueError as error:
        return Reading(table, 1.0, None, Broken(f"needs a mapping: {error}"))


def offered(text: SourceText, plain: dict[str, Any] | None) -> dict[str, Any]:
    """What the mapping dialog shows; empty where there is no table."""
    try:
        first = tables.sniff(text)
        grid = tables.sniff(text, _heading_rows(plain))
    except ParseError:
        return {}
    guess = tables.guess(grid)
    marks = _marks(grid, plain, guess)
    return {
        "signature": tables.signature(first, text.name),
        "heading_rows": len(first.header),
        "guess": guess.to_json(),
        "questions": _questions(grid, plain, guess),
        "columns": [
            {"index": one.index, "heading": one.heading, "kind": one.kind, "unit": one.unit} for one in grid.columns
        ],
        "rows": [_row(row.line, row.cells, row.problem) for row in grid.rows[:ROWS]],
        "count": len(grid.rows),
        "decimal": list(marks.candidates()),
        "thousands": list(marks.thousands_candidates()),
        "unclear": [list(one) for one in grid.unclear[:_SHOWN]],
        "caption": grid.caption,
        "first_line": grid.first_line,
        "last_line": grid.last_line,
    }


def _heading_rows(plain: dict[str, Any] | None) -> int | None:
    said = (plain or {}).get("heading_rows")
    return said if said in tables.HEADING_ROWS else None


def _marks(grid: Grid, plain: dict[str, Any] | None, guess: Mapping) -> Marks:
    """Of the columns that are numbers, as somebody says or as it looks."""
    try:
        return tables.marks_of(grid, guess if plain is None else Mapping.from_json(plain))
    except ValueError:
        return tables.marks_of(grid, guess)


def _alike(text: SourceText, grids: Sequence[Grid]) -> list[Grid]:
    """Those of `grids` that look like the largest, each as it looks before somebody says how many headings it has."""
    look = tables.signature(tables.sniff(text))
    return [grid for grid, one in zip(grids, tables.find(text), strict=True) if tables.signature(one) == look]


def _others(grids: Sequence[Grid], mine: Sequence[Grid]) -> list[str]:
    own = set(map(id, mine))
    headings = mine[0].columns if mine else ()
    return [
        f"line {one.first_line}: another table, {_difference(one, headings)}, is not read; upload it by itself"
        for one in grids
        if id(one) not in own
    ]


def _difference(other: Grid, columns: Sequence[Column]) -> str:
    is_alike = [one.heading for one in other.columns] == [one.heading for one in columns]
    return f"under “{other.caption[-80:]}”" if is_alike and other.caption else "of other columns"


def _together(read: Sequence[ParsedFile], warnings: Sequence[str]) -> ParsedFile:
    return ParsedFile(
        runs=tuple(run for one in read for run in one.runs),
        warnings=(*warnings, *(each for one in read for each in one.warnings)),
        broken=tuple(each for one in read for each in one.broken),
    )


def _questions(grid: Grid, plain: dict[str, Any] | None, guess: Mapping) -> list[str]:
    try:
        mapping = guess if plain is None else Mapping.from_json(plain)
    except ValueError as error:
        return [str(error)]
    return tables.questions(grid, mapping)


def _row(line: int, cells: Sequence[str], problem: str) -> dict[str, Any]:
    return {"line": line, "cells": [cell[:_LONGEST_CELL] for cell in cells], "problem": problem}
