"""The values that options of fio take: their bounds, how people type them, and how a job file spells them.

A value is always an integer, a finite number, a boolean, a word of a fixed list, or a list of those. `accepts` decides
about a value, `read` makes one of a text as it stands in a job file or in a form, and `spell` writes it as fio reads it.
`expected` is the sentence about any other value; the agent has the same sentences in `worker/agent/options/`.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from apps.core.quantities import spell_size
from apps.parsers.fio.options import loses_unit, parse_size

KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4
_TRUE, _FALSE = ("", "1", "true", "yes"), ("0", "false", "no")
_WHOLE = re.compile(r"[+-]?\d{1,19}\Z", re.ASCII)
_REAL = re.compile(r"\d{1,12}(?:\.\d{1,9})?\Z", re.ASCII)
_TIME = re.compile(r"(\d{1,15})([a-z]*)\Z", re.ASCII | re.IGNORECASE)
_MICROSECONDS = {
    "us": 1, "usec": 1, "ms": 1000, "msec": 1000, "s": 10**6, "sec": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6,
    "d": 86400 * 10**6,
}  # fmt: skip


class OptionKind(Protocol):
    """What values an option takes. `expected` is for the sentence about another value."""

    @property
    def expected(self) -> str: ...

    def accepts(self, value: object) -> bool: ...

    def read(self, text: str, kb_base: int = 1024) -> Any:
        """Return the value of a text of a job file. Raises `ValueError`, whose text is what was expected."""

    def spell(self, value: Any) -> str: ...


def checked_by(kind: OptionKind, value: Any) -> Any:
    """Return the value if the kind takes it. Raises `ValueError` with what it expects."""
    if not kind.accepts(value):
        raise ValueError(kind.expected)
    return value


def read_whole(text: str, kb_base: int, expected: str) -> int:
    """Return a whole number, with or without a unit of bytes as fio has them (`4k`)."""
    if loses_unit(text):
        raise ValueError("no blank before a number with a unit: fio does not see the unit then")
    if _WHOLE.match(text.strip()):
        return int(text)
    size = parse_size(text.strip(), kb_base)
    if size is None:
        raise ValueError(expected)
    return size


def is_whole(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def is_real(value: object, low: float, high: float) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and low <= value <= high  # type: ignore[arg-type,operator]


def spell_real(value: float) -> str:
    """Return a number without exponent, with at most six decimals and no superfluous zero."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class WholeNumber:
    """A whole number from `low` to `high`; None too where the option may be left out."""

    low: int
    high: int
    multiple_of: int = 1
    is_optional: bool = False

    @property
    def expected(self) -> str:
        step = f", a multiple of {self.multiple_of}" if self.multiple_of > 1 else ""
        return f"a whole number from {self.low} to {self.high}{step}"

    def accepts(self, value: object) -> bool:
        if value is None:
            return self.is_optional
        return type(value) is int and self.low <= value <= self.high and not value % self.multiple_of

    def read(self, text: str, kb_base: int = 1024) -> Any:
        return checked_by(self, read_whole(text, kb_base, self.expected))

    def spell(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True)
class ByteSize(WholeNumber):
    """A whole number of bytes, which people type as `4k` or `1 GiB`."""

    def spell(self, value: Any) -> str:
        return spell_size(value)


@dataclass(frozen=True)
class PowerOfTwo(ByteSize):
    """A number of bytes that is a power of two."""

    @property
    def expected(self) -> str:
        return f"a power of two from {self.low} to {self.high}"

    def accepts(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high and value & (value - 1) == 0


@dataclass(frozen=True)
class Duration(WholeNumber):
    """A time in whole units of `unit` microseconds; fio reads a bare number in that unit, and others with their name."""

    unit: int = 1

    def read(self, text: str, kb_base: int = 1024) -> Any:
        if loses_unit(text):
            raise ValueError("no blank before a number with a unit: fio does not see the unit then")
        match = _TIME.match(text.strip())
        factor = (self.unit if not match[2] else _MICROSECONDS.get(match[2].lower())) if match else None
        if match is None or factor is None:
            raise ValueError(self.expected)
        whole, rest = divmod(int(match[1]) * factor, self.unit)
        if rest:
            raise ValueError({10**6: "whole seconds", 1000: "whole milliseconds"}[self.unit])
        return checked_by(self, whole)


@dataclass(frozen=True)
class RealNumber:
    """A number from `low` to `high`."""

    low: float
    high: float

    @property
    def expected(self) -> str:
        return f"a number from {spell_real(self.low)} to {spell_real(self.high)}"

    def accepts(self, value: object) -> bool:
        return is_real(value, self.low, self.high)

    def read(self, text: str, kb_base: int = 1024) -> Any:
        if not _REAL.match(text.strip()):
            raise ValueError(self.expected)
        value = float(text)
        return checked_by(self, int(value) if value.is_integer() else value)

    def spell(self, value: Any) -> str:
        return spell_real(value)


@dataclass(frozen=True)
class OneOf:
    """One of a few words, each with its label.

    `spellings` are fio's other words for the same: `{"1": "sync"}`.
    """

    words: Mapping[str, str]
    spellings: Mapping[str, str] = field(default_factory=dict)

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.words)}"

    def accepts(self, value: object) -> bool:
        return type(value) is str and value in self.words

    def read(self, text: str, kb_base: int = 1024) -> Any:
        word = text.strip()
        return checked_by(self, self.spellings.get(word, word))

    def spell(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True)
class YesOrNo:
    """True or false."""

    @property
    def expected(self) -> str:
        return "true or false"

    def accepts(self, value: object) -> bool:
        return type(value) is bool

    def read(self, text: str, kb_base: int = 1024) -> Any:
        word = text.strip().lower()
        if word not in (*_TRUE, *_FALSE):
            raise ValueError("1 or 0")
        return word in _TRUE

    def spell(self, value: Any) -> str:
        return str(int(value))


@dataclass(frozen=True)
class HexPattern:
    """Bytes of a pattern in hexadecimal; nothing that fio would read from a file or compute."""

    @property
    def expected(self) -> str:
        return "0x and 1 to 64 bytes as small hexadecimal digits"

    def accepts(self, value: object) -> bool:
        return type(value) is str and re.fullmatch(r"0x(?:[0-9a-f]{2}){1,64}", value, re.ASCII) is not None

    def read(self, text: str, kb_base: int = 1024) -> Any:
        word = text.strip()
        return checked_by(self, word.lower() if word[:2] in ("0x", "0X") else word)

    def spell(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True)
class NumberList:
    """1 to `most` whole numbers, of which the first is for reads and the second for writes; 0 where there is none."""

    low: int
    high: int
    most: int = 2
    is_size: bool = False

    @property
    def expected(self) -> str:
        return f"a list of 1 to {self.most} whole numbers from {self.low} to {self.high}"

    def accepts(self, value: object) -> bool:
        if type(value) is not list or not 1 <= len(value) <= self.most:
            return False
        return all(is_whole(item, self.low, self.high) for item in value)

    def read(self, text: str, kb_base: int = 1024) -> Any:
        parts = text.strip().split(",")
        if len(parts) > self.most and not parts[-1].strip():
            parts.pop()  # `rate=1m,1m,` leaves out that of trims
        return checked_by(self, [read_whole(part, kb_base, self.expected) if part.strip() else 0 for part in parts])

    def spell(self, value: Any) -> str:
        return ",".join(spell_size(item) if self.is_size else str(item) for item in value)


@dataclass(frozen=True)
class NumberSet:
    """Different whole numbers in their order, such as those of CPUs, which people type as `0-3,6`."""

    high: int
    most: int = 1024

    @property
    def expected(self) -> str:
        return f"a list of 1 to {self.most} different whole numbers from 0 to {self.high}, in their order"

    def accepts(self, value: object) -> bool:
        if type(value) is not list or not 1 <= len(value) <= self.most:
            return False
        return all(is_whole(item, 0, self.high) for item in value) and value == sorted(set(value))

    def read(self, text: str, kb_base: int = 1024) -> Any:
        numbers: set[int] = set()
        for part in text.strip().split(","):
            match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part, re.ASCII)
            if match is None or int(match[2] or match[1]) > self.high:
                raise ValueError(self.expected)
            numbers |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
        return checked_by(self, sorted(numbers))

    def spell(self, value: Any) -> str:
        return ",".join(map(str, value))


@dataclass(frozen=True)
class SizeRanges:
    """Least and greatest size of reads, and of writes where those differ: `[[4096, 65536], [512, 1024]]`."""

    low: int
    high: int

    @property
    def expected(self) -> str:
        return f"1 or 2 pairs of sizes from {self.low} to {self.high}, a multiple of 512, the smaller first"

    def accepts(self, value: object) -> bool:
        return type(value) is list and 1 <= len(value) <= 2 and all(map(self._is_pair, value))

    def _is_pair(self, pair: object) -> bool:
        if type(pair) is not list or len(pair) != 2:
            return False
        return all(is_whole(item, self.low, self.high) and not item % 512 for item in pair) and pair[0] <= pair[1]

    def read(self, text: str, kb_base: int = 1024) -> Any:
        pairs = [part.split("-", 2) for part in text.strip().split(",", 3)]
        sizes = [[read_whole(end, kb_base, self.expected) for end in pair] for pair in pairs]
        if len(sizes) == 3 and sizes[2] == sizes[1]:
            sizes.pop()  # that of trims, which there are none of
        return checked_by(self, sizes)

    def spell(self, value: Any) -> str:
        return ",".join("-".join(map(spell_size, pair)) for pair in value)


@dataclass(frozen=True)
class SizeShares:
    """Sizes with their share in percent, of reads, and of writes where those differ: `[[[4096, 60], [65536, 40]]]`."""

    low: int
    high: int
    most: int = 64

    @property
    def expected(self) -> str:
        return (
            f"1 or 2 lists of 1 to {self.most} pairs: a size from {self.low} to {self.high}, a multiple of 512, "
            "and its share in percent, 100 together"
        )

    def accepts(self, value: object) -> bool:
        return type(value) is list and 1 <= len(value) <= 2 and all(map(self._is_split, value))

    def _is_split(self, split: object) -> bool:
        if type(split) is not list or not 1 <= len(split) <= self.most:
            return False
        if not all(type(pair) is list and len(pair) == 2 for pair in split):
            return False
        return (
            all(is_whole(size, self.low, self.high) and not size % 512 for size, _ in split)
            and all(is_whole(share, 0, 100) for _, share in split)
            and sum(share for _, share in split) == 100
        )

    def read(self, text: str, kb_base: int = 1024) -> Any:
        splits = []
        for part in text.strip().split(",", 3):
            pairs = [item.split("/", 1) for item in part.split(":")]
            if {len(pair) for pair in pairs} != {2} or not all(re.fullmatch(r"\d{1,3}", pair[1]) for pair in pairs):
                raise ValueError(self.expected)
            splits.append([[read_whole(size, kb_base, self.expected), int(share)] for size, share in pairs])
        return checked_by(self, splits)

    def spell(self, value: Any) -> str:
        return ",".join(":".join(f"{spell_size(size)}/{share}" for size, share in split) for split in value)


@dataclass(frozen=True)
class WordWithNumbers:
    """A word, and for some words numbers behind it: `["zipf", 1.2]`, which a job file has as `zipf:1.2`.

    `words` has for each word the bounds of its numbers. With `is_percent` they stand with a percent sign, and without.
    """

    words: Mapping[str, tuple[tuple[float, float], ...]]
    least: int = 0  # so many of the numbers must be there

    @property
    def expected(self) -> str:
        shapes = [
            ":".join([word, *(f"{spell_real(low)}…{spell_real(high)}" for low, high in bounds)])
            for word, bounds in self.words.items()
        ]
        return f"one of {', '.join(shapes)}"

    def accepts(self, value: object) -> bool:
        if type(value) is not list or not value or type(value[0]) is not str or value[0] not in self.words:
            return False
        bounds = self.words[value[0]]
        if not min(self.least, len(bounds)) <= len(value) - 1 <= len(bounds):
            return False
        return all(is_real(item, low, high) for item, (low, high) in zip(value[1:], bounds, strict=False))

    def read(self, text: str, kb_base: int = 1024) -> Any:
        word, *numbers = text.strip().split(":")
        if not all(_REAL.match(number) for number in numbers):
            raise ValueError(self.expected)
        values = [int(number) if number.isdigit() else float(number) for number in numbers]
        return checked_by(self, [word, *values])

    def spell(self, value: Any) -> str:
        return ":".join([value[0], *map(spell_real, value[1:])])


@dataclass(frozen=True)
class WordList:
    """Different words of a fixed list in its order; behind a colon a whole number where `most` is above 0."""

    words: tuple[str, ...]
    most: int = 0

    @property
    def expected(self) -> str:
        behind = f", and behind them a whole number from 1 to {self.most}" if self.most else ""
        return f"a list of some of {', '.join(self.words)}, each once and in this order{behind}"

    def accepts(self, value: object) -> bool:
        if type(value) is not list:
            return False
        words = value[:-1] if self.most else value
        if not words or not all(type(word) is str for word in words):
            return False
        return words == [word for word in self.words if word in words] and (
            not self.most or is_whole(value[-1], 1, self.most)
        )

    def read(self, text: str, kb_base: int = 1024) -> Any:
        names, _, number = text.strip().partition(":")
        given = [name.strip() for name in names.split(",")]
        if set(given) - set(self.words) or (number and not number.isdigit()):
            raise ValueError(self.expected)
        words: list[str | int] = [word for word in self.words if word in given]
        return checked_by(self, [*words, int(number or 1)] if self.most else words)

    def spell(self, value: Any) -> str:
        return f"{','.join(value[:-1])}:{value[-1]}" if self.most else ",".join(value)


@dataclass(frozen=True)
class SteadyLimit:
    """What shall be steady and how much: `["iops_slope", 0.3, "%"]`, or without the sign an absolute limit."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.words)} with a limit above 0, with or without %"

    def accepts(self, value: object) -> bool:
        if type(value) is not list or len(value) not in (2, 3) or type(value[0]) is not str:
            return False
        high = 100 if len(value) == 3 else 10**12
        return value[0] in self.words and is_real(value[1], 0.000001, high) and value[2:] in ([], ["%"])

    def read(self, text: str, kb_base: int = 1024) -> Any:
        word, _, limit = text.strip().partition(":")
        number = limit.removesuffix("%")
        if not _REAL.match(number):
            raise ValueError(self.expected)
        value = int(number) if number.isdigit() else float(number)
        return checked_by(self, [word, value, *(["%"] if limit.endswith("%") else [])])

    def spell(self, value: Any) -> str:
        return f"{value[0]}:{spell_real(value[1])}{''.join(value[2:])}"


@dataclass(frozen=True)
class AccessShares:
    """Where random I/O goes: a word with numbers, zones with their shares of I/Os and of the file, or a list of blocks.

    `["zoned", [60, 10], [40, 90]]` sends 60 % of the I/Os into the first 10 % of the file, `["sequence", 2, 0, 1]` goes
    to these blocks again and again.
    """

    simple: WordWithNumbers
    most: int = 64
    highest_block: int = 2**40

    @property
    def expected(self) -> str:
        return (
            f"{self.simple.expected}, zoned with 2 to {self.most} pairs of percents, 100 together each, or sequence with "
            f"1 to {self.most} numbers of blocks"
        )

    def accepts(self, value: object) -> bool:
        if type(value) is not list or not value or value[0] not in ("zoned", "sequence"):
            return self.simple.accepts(value)
        if value[0] == "sequence":
            blocks = value[1:]
            return 1 <= len(blocks) <= self.most and all(is_whole(block, 0, self.highest_block) for block in blocks)
        zones = value[1:]
        if not 2 <= len(zones) <= self.most or not all(type(zone) is list and len(zone) == 2 for zone in zones):
            return False
        if not all(is_whole(part, 0, 100) for zone in zones for part in zone):
            return False
        return bool(sum(zone[0] for zone in zones) == 100 and sum(zone[1] for zone in zones) == 100)

    def read(self, text: str, kb_base: int = 1024) -> Any:
        word, *parts = text.strip().split(":")
        if word == "sequence" and len(parts) == 1 and re.fullmatch(r"\d{1,13}(?:,\d{1,13})*", parts[0], re.ASCII):
            return checked_by(self, [word, *map(int, parts[0].split(","))])
        if word != "zoned":
            return self.simple.read(text, kb_base)
        if not all(re.fullmatch(r"\d{1,3}/\d{1,3}", part, re.ASCII) for part in parts):
            raise ValueError(self.expected)
        return checked_by(self, [word, *([int(share) for share in part.split("/")] for part in parts)])

    def spell(self, value: Any) -> str:
        if value[0] == "sequence":
            return f"sequence:{','.join(map(str, value[1:]))}"
        if value[0] != "zoned":
            return self.simple.spell(value)
        return ":".join(["zoned", *(f"{share}/{room}" for share, room in value[1:])])


@dataclass(frozen=True)
class MemoryNodes:
    """How memory is taken from NUMA nodes: `["interleave", 0, 1]`, which a job file has as `interleave:0,1`."""

    with_nodes: tuple[str, ...] = ("prefer", "bind", "interleave")
    alone: tuple[str, ...] = ("default", "local")
    high: int = 1023

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.alone)}, or {', '.join(self.with_nodes)} with nodes from 0 to {self.high}"

    def accepts(self, value: object) -> bool:
        if type(value) is not list or not value or type(value[0]) is not str:
            return False
        nodes = value[1:]
        if value[0] in self.alone:
            return not nodes
        most = 1 if value[0] == "prefer" else 64
        known = value[0] in self.with_nodes and 1 <= len(nodes) <= most
        return known and all(is_whole(node, 0, self.high) for node in nodes) and nodes == sorted(set(nodes))

    def read(self, text: str, kb_base: int = 1024) -> Any:
        word, _, nodes = text.strip().partition(":")
        numbers = NumberSet(self.high, 64).read(nodes, kb_base) if nodes else []
        return checked_by(self, [word, *numbers])

    def spell(self, value: Any) -> str:
        return f"{value[0]}:{','.join(map(str, value[1:]))}" if value[1:] else str(value[0])


@dataclass(frozen=True)
class ErrorLists:
    """Numbers of errors for reads, for writes and for verification, each a list that may be empty: `[[5], [5, 28]]`."""

    high: int = 133

    @property
    def expected(self) -> str:
        return f"1 to 3 lists of at most 16 different numbers of errors from 1 to {self.high}, not all empty"

    def accepts(self, value: object) -> bool:
        if type(value) is not list or not 1 <= len(value) <= 3 or not all(type(part) is list for part in value):
            return False
        return any(value) and all(
            len(part) <= 16 and all(is_whole(item, 1, self.high) for item in part) and part == sorted(set(part))
            for part in value
        )

    def read(self, text: str, kb_base: int = 1024) -> Any:
        parts = []
        for part in text.strip().split(","):
            words = [word.strip() for word in part.split(":") if word.strip()]
            numbers = [_ERRORS.get(word, int(word) if word.isdigit() else 0) for word in words]
            parts.append(sorted(set(numbers)))
        return checked_by(self, parts)

    def spell(self, value: Any) -> str:
        return ",".join(":".join(map(str, part)) for part in value)


# Kinds whose values have commas of their own, so that a list of such values needs another separator.
WITH_COMMAS = (NumberList, NumberSet, SizeRanges, SizeShares, WordList, AccessShares, MemoryNodes, ErrorLists)

# As Linux numbers them; fio knows the names up to ERANGE (`ignore_error_type` in options.c).
_NAMES = """
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV
    ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE"""
_ERRORS = {name: number for number, name in enumerate(_NAMES.split(), 1)}
