"""A tool's banner and its rows disagree on what was tested.

What the banner said is the workload that was read with the result, or a label `header_file_size` or
`header_block_size` (`48 GiB`) where a person or a study says it. Numbers of processes are not held against each other:
tools take several for one of their tests by design.
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
    told = (_conflict(reading, name) for name in _LABELS)
    return "; ".join(part for part in told if part) or None


def _conflict(reading: Reading, name: str) -> str:
    row, header = reading.of(name), _header(reading, name)
    if row is None or header is None or row == header:
        return ""
    sizes = f"{text_of(name, header)}, the row {text_of(name, row)} ({exact(header, 'B')} and {exact(row, 'B')})"
    return f"the header says {label_of(name)} {sizes}"


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
    text="What the tool announced is not what its rows say they measured: one of them may be of another run.",
    of_reading=check,
)
