"""A tool's banner and its rows disagree on what was tested, or a report's set-up and what it measured.

What the banner, or the command line, said is in the workload that was read with the result, under `header_file_size`
and `header_block_size` where the rows say otherwise, a range of sizes as `from 8g to 16g`; or it is a label of this
name (`48 GiB`) that a person or a study gave. What the set-up of a round says is the label `header_filesystem`:
commands make ext3, and the disk that was measured has ext2. Numbers of processes are not held against each other: tools
take several for one of their tests by design.
"""

import re
from typing import Any

from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.labels import label_of, text_of
from apps.comparison.readings import Reading
from apps.core.quantities import parse_size
from apps.core.units import exact

_LIMITS = re.compile(r"(?=from |to )(?:from (?P<least>\d+[kmgt]?))?(?: ?to (?P<greatest>\d+[kmgt]?))?")
_LABELS = {"file_size": "header_file_size", "block_size": "header_block_size"}


def check(reading: Reading) -> str | None:
    if reading.evidence.asked.get("jobs"):  # several jobs may differ by intent, and no banner says them
        return None
    conflicts = [*(_conflict(reading, name) for name in _LABELS), _filesystem(reading)]
    return "; ".join(part for part in conflicts if part) or None


def _conflict(reading: Reading, name: str) -> str:
    row, limits = reading.of(name), _LIMITS.fullmatch(str(_header_value(reading, name) or ""))
    if limits:
        return _beyond(name, row, limits)
    header = _header(reading, name)
    if row is None or header is None or row == header:
        return ""
    sizes = f"{text_of(name, header)}, the row {text_of(name, row)} ({exact(header, 'B')} and {exact(row, 'B')})"
    return f"the header says {label_of(name)} {sizes}"


def _beyond(name: str, row: Any, limits: re.Match[str]) -> str:
    """Return a sentence where a row is outside the range of sizes that the command line announced."""
    least, greatest = _number(limits["least"]), _number(limits["greatest"])
    if not isinstance(row, int) or ((least is None or least <= row) and (greatest is None or row <= greatest)):
        return ""
    text = " ".join(
        f"{word} {text_of(name, size)}" for word, size in (("from", least), ("to", greatest)) if size is not None
    )
    return f"the header says {label_of(name)} {text}, the row {text_of(name, row)} ({exact(row, 'B')})"


def _filesystem(reading: Reading) -> str:
    header, there = reading.of("header_filesystem"), reading.of("filesystem")
    return f"the set-up says filesystem {header}, this run's is {there}" if header and there and header != there else ""


def _header_value(reading: Reading, name: str) -> Any:
    return reading.of(_LABELS[name]) or reading.evidence.asked.get(_LABELS[name])


def _header(reading: Reading, name: str) -> int | None:
    request = reading.evidence.asked
    return _number(reading.of(_LABELS[name])) or _number(request.get(_LABELS[name])) or _number(request.get(name))


def _number(value: Any) -> int | None:
    try:
        return value if isinstance(value, int) else parse_size(value) if isinstance(value, str) else None
    except ValueError:
        return None


RULE = CaveatRule(
    name="header_conflict",
    title="Header and rows disagree",
    text="What the tool or the procedure announced is not what was measured: one of them may be of another run.",
    of_reading=check,
)
