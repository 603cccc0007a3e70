"""The registry of caveat rules: each is one small file that says only what differs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from apps.comparison.caveats import (
    above_ceiling,
    array_state,
    clock_unknown,
    contradiction,
    controller_cache,
    cpu_bound,
    disk_count,
    drift,
    few_runs,
    guest,
    header_conflict,
    logs_on,
    not_at_a_disk,
    not_idle,
    not_interleaved,
    not_repetitions,
    one_of_several,
    other_place,
    other_workload,
    part_vs_chain,
    placement,
    ram_cache,
    single_value,
    sync_per_block,
    text_vs_table,
    throughput_conflict,
    transcribed,
    unit_mismatch,
    unsynced_write,
    wide_spread,
)
from apps.comparison.caveats.rule import Caveat, CaveatRule, Key
from apps.comparison.readings import Reading

# What spoils a value most comes first.
RULES: tuple[CaveatRule, ...] = (
    contradiction.RULE, not_at_a_disk.RULE, other_place.RULE, other_workload.RULE, above_ceiling.RULE, ram_cache.RULE,
    disk_count.RULE, controller_cache.RULE, unsynced_write.RULE, sync_per_block.RULE, throughput_conflict.RULE,
    unit_mismatch.RULE, header_conflict.RULE, part_vs_chain.RULE, text_vs_table.RULE, array_state.RULE,
    placement.RULE, guest.RULE, cpu_bound.RULE, clock_unknown.RULE, logs_on.RULE, not_idle.RULE, not_interleaved.RULE,
    not_repetitions.RULE, one_of_several.RULE, drift.RULE, wide_spread.RULE, few_runs.RULE, single_value.RULE,
    transcribed.RULE,
)  # fmt: skip
BY_NAME = {rule.name: rule for rule in RULES}
# Of rules that stand against the value itself, not only against how well it is known: it is not what it is called.
AGAINST_THE_VALUE = frozenset({
    "contradiction", "not_at_a_disk", "other_place", "other_workload", "above_ceiling", "ram_cache", "disk_count",
    "controller_cache", "unsynced_write", "throughput_conflict", "unit_mismatch", "array_state", "not_idle",
})  # fmt: skip


def of_cells(cells: Mapping[tuple[Any, str], Sequence[Reading]]) -> list[Caveat]:
    """Return the caveats of a comparison's cells, which are keyed by (x, series)."""
    filled = {key: readings for key, readings in cells.items() if readings}
    series = {series for _, series in cells}
    return [caveat for rule in RULES if (caveat := _over(rule, filled, series))]


def of_readings(readings: Sequence[Reading]) -> list[Caveat]:
    """Return the caveats of one run by itself."""
    alone = Alone()
    alone.add(readings)
    return alone.caveats()


class Alone:
    """What the rules find in one run by itself, whose readings come part by part. Only the sentences are kept, each once."""

    def __init__(self) -> None:
        self._said: dict[CaveatRule, tuple[dict[str, None], dict[str, None]]] = {rule: ({}, {}) for rule in RULES}
        self._runs: set[int] = set()

    def add(self, readings: Sequence[Reading]) -> None:
        self._runs.update(reading.run for reading in readings)
        for rule, (of_each, of_machines) in self._said.items():
            concerned = rule.speaks_of(readings)
            of_each.update(dict.fromkeys(rule.of_each(concerned)))
            of_machines.update(dict.fromkeys(rule.of_machines(concerned)))

    def caveats(self) -> list[Caveat]:
        return [
            Caveat(rule.name, rule.title, rule.text, tuple(sentences), tuple(sorted(self._runs)))
            for rule, (of_each, of_machines) in self._said.items()
            if (sentences := of_each | of_machines)
        ]


def _over(rule: CaveatRule, cells: Mapping[Key, Sequence[Reading]], every: Collection[str]) -> Caveat | None:
    concerned = {key: some for key, readings in cells.items() if (some := rule.speaks_of(readings))}
    together = rule.of_cells(concerned) if rule.of_cells else {}
    hits: dict[Key, list[str]] = {}
    for key, readings in concerned.items():
        lines = [*rule.arithmetic(readings), *([together[key]] if key in together else [])]
        if lines:
            hits[key] = lines
    if not hits:
        return None
    runs = _runs([reading for key in hits for reading in cells[key]])
    names = tuple(dict.fromkeys(series for _, series in hits))
    return Caveat(rule.name, rule.title, rule.text, tuple(_lines(hits, every)), runs, tuple(hits), names)


def _lines(hits: Mapping[Key, Sequence[str]], every: Collection[str]) -> list[str]:
    """Return each sentence once, after the series that it is true of."""
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
