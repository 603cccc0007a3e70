"""A table of means among uploads: what a person is shown to map it, and its reading once that is said. Pure."""

from collections.abc import Sequence
from typing import Any

from apps.parsers import tables
from apps.parsers.registry import Reading, format_named
from apps.parsers.shape import Broken, ParsedFile, ParseError
from apps.parsers.source_text import SourceText
from apps.parsers.tables import Grid, Mapping

ROWS = 12  # shown in the dialog
_LONGEST_CELL = 120
_SHOWN = 5


def read_mapped(text: SourceText, plain: dict[str, Any]) -> Reading:
    """Every table of the text that looks like its largest one, as the mapping says; the others are named."""
    table = format_named(tables.NAME)
    try:
        mapping = Mapping.from_json(plain)
        grids = tables.find(text)
        mine = _alike(text, grids)
        return Reading(table, 1.0, _together([tables.read(one, mapping) for one in mine], _others(grids, mine)))
    except ParseError as error:
        return Reading(table, 1.0, None, error.broken)
    except ValueError as error:
        return Reading(table, 1.0, None, Broken(f"needs a mapping: {error}"))


def offered(text: SourceText, plain: dict[str, Any] | None) -> dict[str, Any]:
    """What the mapping dialog shows; empty where there is no table."""
    try:
        grid = tables.sniff(text)
    except ParseError:
        return {}
    guess = tables.guess(grid)
    return {
        "signature": tables.signature(grid),
        "guess": guess.to_json(),
        "questions": _questions(grid, plain, guess),
        "columns": [
            {"index": one.index, "heading": one.heading, "kind": one.kind, "unit": one.unit} for one in grid.columns
        ],
        "rows": [_row(row.line, row.cells, row.problem) for row in grid.rows[:ROWS]],
        "count": len(grid.rows),
        "decimal": list(grid.decimal),
        "thousands": list(grid.thousands),
        "unclear": [list(one) for one in grid.unclear[:_SHOWN]],
        "caption": grid.caption,
        "first_line": grid.first_line,
        "last_line": grid.last_line,
    }


def _alike(text: SourceText, grids: Sequence[Grid]) -> list[Grid]:
    first = tables.sniff(text)
    look = tables.signature(first)
    return [one for one in grids if tables.signature(one) == look] or [first]


def _others(grids: Sequence[Grid], mine: Sequence[Grid]) -> list[str]:
    own = set(map(id, mine))
    left = [one for one in grids if id(one) not in own]
    return [f"line {one.first_line}: another table, of other columns, is not read; upload it by itself" for one in left]


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
