"""Marks that `bin/test` looks for by their spelling (`bin/_lib/stages.py`)."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

STAGES = ("services", "browser", "faults", "benchmark", "outside", "mutation", "long")


@cache
def spelled(path: Path) -> frozenset[str]:
    text = path.read_text()
    return frozenset(mark for mark in STAGES if f"mark.{mark}" in text)


def from_elsewhere(items: Iterable[pytest.Item]) -> list[str]:
    """Tests with a mark that their own file does not spell: their stage would not find them."""
    return [
        f"{item.nodeid} has the mark {mark.name}, but {item.path.name} does not spell it"
        for item in items
        for mark in item.iter_markers()
        if mark.name in STAGES and mark.name not in spelled(item.path)
    ]
