"""A tool's banner and its rows disagree on what was tested, or a report's set-up and what it measured.

What the banner said is the workload that was read with the result, or a label `header_file_size` or
`header_block_size` (`48 GiB`) where a person or a study says it. What the set-up of a round says is the label
`header_filesystem`: commands make ext3, and the disk that was measured has ext2. Numbers of processes are not held
against each other: tools take several for one of their tests by design.
"""

from typing import Any

from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading
from apps.comparison.words import label_of, text_of
from apps.lib.units import exact
from apps.runs.sizes import parse_size

_LABELS = {"file_size": "header_file_size", "block_size": "header_block_size"}


def check(reading: Reading) -> str | None:
    if reading.evidence.asked.get("jobs"):  # several jobs may differ by intent, and no banner says them
        return None
    told = [*(_conflict(reading, name) for name in _LABELS), _filesystem(reading)]
    return "; ".join(part for part in told if part) or None


def _conflict(reading: Reading, name: str) -> str:
    row, header = reading.of(name), _header(reading, name)
    if row is None or header is None or row == header:
        return ""
    sizes = f"{text_of(name, header)}, the row {text_of(name, row)} ({exact(header, 'B')} and {exact(row, 'B')})"
    return f"the header says {label_of(name)} {sizes}"


def _filesystem(reading: Reading) -> str:
    said, there = reading.of("header_filesystem"), reading.of("filesystem")
    return f"the set-up says filesystem {said}, this run's is {there}" if said and there and said != there else ""


def _header(reading: Reading, name: str) -> int | None:
    return _number(reading.of(_LABELS[name])) or _number(reading.evidence.asked.get(name))


def _number(told: Any) -> int | None:
    try:
        return told if isinstance(told, int) else parse_size(told) if isinstance(told, str) else None
    except ValueError:
        return None


RULE = Rule(
    name="header_conflict",
    title="Header and rows disagree",
    text="What the tool or the procedure announced is not what was measured: one of them may be of another run.",
    of_reading=check,
)
