"""File sizes, block sizes, depths and counts of a plan as people type them: `4k,64k,1m`, `1x,2x,4x RAM`. Pure.

Ranges and steps are those of every option (`apps.runs.start.value_ranges`).
"""

import re
from dataclasses import dataclass

from apps.core.quantities import parse_size
from apps.runs.start.value_ranges import MOST_VALUES as MOST_VALUES
from apps.runs.start.value_ranges import ValueListError as ValueListError
from apps.runs.start.value_ranges import expand_ranges

TIMES_RAM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*[x×*]\s*(?:RAM)?", re.IGNORECASE)
PERCENT_OF_RAM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%\s*(?:of\s+)?(?:RAM)?", re.IGNORECASE)
STEP_OF_BYTES = re.compile(r"\s+step\s+[x×*]\s*[0-9]+", re.IGNORECASE)  # `1g..64g step x4` is no multiple of RAM


@dataclass(frozen=True)
class FileSize:
    """The size of a test file: bytes, or a multiple of the RAM of the host that the file lies on."""

    bytes: int | None = None
    ram_multiple: float | None = None


def parse_numbers(text: str) -> list[int]:
    """Return the whole numbers of a list such as `1,2,4..256`. Raises `ValueListError`."""
    return expand_ranges(text, _whole)


def parse_sizes(text: str) -> list[int]:
    """Return the bytes of a list of sizes such as `4k..1m`. Raises `ValueListError`."""
    return expand_ranges(text, _bytes)


def parse_file_sizes(text: str) -> list[FileSize]:
    """Return file sizes: all bytes (`1g,4g`), or all multiples of RAM (`0.25x,1x,4x RAM`, `25%,100% RAM`).

    Raises:
        ValueListError: It is neither.
    """
    if not re.search(r"x|×|\*|%|RAM", STEP_OF_BYTES.sub("", text), re.IGNORECASE):
        return [FileSize(bytes=size) for size in parse_sizes(text)]
    return [FileSize(ram_multiple=multiple) for multiple in expand_ranges(text, _multiple)]


def _multiple(text: str) -> float:
    if percent := PERCENT_OF_RAM.fullmatch(text):
        return float(percent[1]) / 100
    if times := TIMES_RAM.fullmatch(text):
        return float(times[1])
    raise ValueListError(text, "a multiple of RAM such as 2x RAM or 50% RAM")


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueListError(text, "a whole number")
    return int(text)


def _bytes(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError:
        raise ValueListError(text, "a size such as 4k, 1m or 100 MiB, where k is 1024 bytes") from None
