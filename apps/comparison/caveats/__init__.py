"""The registry of caveat rules: each is one small file that says only what differs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from apps.comparison.caveats import few_runs, ram_cache, single_value, transcribed, unsynced_write
from apps.comparison.caveats.rule import Caveat, Rule
from apps.comparison.readings import Reading

RULES: tuple[Rule, ...] = (ram_cache.RULE, unsynced_write.RULE, few_runs.RULE, single_value.RULE, transcribed.RULE)


def of_cells(cells: Mapping[tuple[Any, str], Sequence[Reading]]) -> list[Caveat]:
    """What the rules find in a comparison's cells, keyed by (x, series)."""
    return [caveat for rule in RULES if (caveat := _over(rule, cells))]


def of_readings(readings: Sequence[Reading]) -> list[Caveat]:
    """What the rules find in one run by itself."""
    found = []
    for rule in RULES:
        if lines := rule.arithmetic(readings, alone=True):
            found.append(Caveat(rule.name, rule.title, rule.text, tuple(lines), _runs(readings)))
    return found


def _over(rule: Rule, cells: Mapping[tuple[Any, str], Sequence[Reading]]) -> Caveat | None:
    hits = {key: lines for key, readings in cells.items() if readings and (lines := rule.arithmetic(readings))}
    if not hits:
        return None
    lines = _lines(hits, {series for _, series in cells})
    runs = _runs([reading for key in hits for reading in cells[key]])
    names = tuple(dict.fromkeys(series for _, series in hits))
    return Caveat(rule.name, rule.title, rule.text, tuple(lines), runs, tuple(hits), names)


def _lines(hits: Mapping[tuple[Any, str], Sequence[str]], every: Collection[str]) -> list[str]:
    """Each sentence once, with the series that it is true of before it."""
    whose: dict[str, dict[str, None]] = {}
    for (_, series), lines in hits.items():
        for line in lines:
            whose.setdefault(line, {})[series] = None
    if len(every) == 1:
        return list(whose)
    return [
        f"{'all series' if len(names) == len(every) else ', '.join(names)}: {line}" for line, names in whose.items()
    ]


def _runs(readings: Sequence[Reading]) -> tuple[int, ...]:
    return tuple(sorted({reading.run for reading in readings}))
