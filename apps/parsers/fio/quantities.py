"""fio's numbers for people (`num2str` in lib/num2str.c), read back: `611058KB/s`, `24.3GiB/s`, `195Mibit/s`, `6387k`.

- Up to fio 2.16 `K` is 1024 for bytes unless the job sets kb_base=1000, and the letters are "", K, M, G, P, E: after G
  comes P, so that `1.5PB` is
  1.5 TiB. Counts (iops, latencies) have K = 1000.
- From 2.17 on the letters are exact: `KiB` is 1024, `kB` 1000, and T follows G.
- Before 2.20 the digits behind the point are no decimals: the remainder of the division is printed, shortened until it
  fits (1752.947 MiB is
  `1752.1MB`). Only the whole part is certain.
- From 2.20 to 3.25 a fraction that rounds up to the next whole number is not carried: 79.97 MiB is `79.0MiB`, as 79.02
  MiB is (fixed in 3.26 by
  c736b361). With zeros behind the point either may be meant.
- Before 1.25.2 bandwidth is bytes per ms under the name KiB/s: its K is 1000, letters above it 1024 each (`bw =
  io_bytes / runtime` in stat.c);
  before 2.0.8 the same holds for the slowest and the fastest job of a group.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

Version = tuple[int, ...]
SURE_DECIMALS = (2, 20)
CARRIED = (3, 26)
TRUE_KIB = (1, 25, 2)
TRUE_KIB_OF_JOBS = (2, 0, 8)
_QUANTITY = re.compile(r"(\d{1,20})(\.\d{0,9})?\s?([kKMGTPE]?)(i?)(bit|B|b)?(?:/s)?\Z")
_NEAR = 0.3  # of the possible error; the other figure has an error of its own
_LETTERS = "KMGTPE"
_LETTERS_BEFORE = "KMGPE"
_VERSION = re.compile(r"fio[- ]v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")


def multiply(value: float, scale: float) -> float:
    """Return the product as on paper: 260.035 µs are 260035 ns, and not 260035.00000000003."""
    return value if scale == 1 else float(Decimal(repr(value)) * Decimal(scale))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in base units, and its quality; `low` and `high` are its bounds where the digits behind the point say nothing."""

    value: float
    low: float | None = None
    high: float | None = None
    quality: str = "rounded"


def settle_carry(read: Quantity | None, other: float | None) -> Quantity | None:
    """Return the figure with the carry that it may have lost, if another figure decides between its bounds; else unchanged."""
    if read is None or other is None or read.low is None or read.high is None or read.value != read.low:
        return read
    step = read.high - read.low
    near = [bound for bound in (read.low, read.high) if abs(other - bound) < _NEAR * step]
    return Quantity(near[0]) if len(near) == 1 else read


@dataclass(frozen=True, slots=True)
class Style:
    """How one report prints its numbers; depends on the version of fio."""

    version: Version | None = None
    is_before_2_17: bool = False
    kb_base: int = 1024

    @property
    def is_cheesy(self) -> bool:
        """Return whether the digits behind a point are a shortened remainder (before 2.20)."""
        return self.is_before_2_17 if self.version is None else self.version < SURE_DECIMALS

    @property
    def loses_carry(self) -> bool:
        """Return whether a fraction that rounds up is not carried (2.20 to 3.25)."""
        return SURE_DECIMALS <= self.version < CARRIED if self.version is not None else not self.is_before_2_17

    def _get_factor(self, letter: str, base: int) -> int:
        letters = _LETTERS_BEFORE if self.is_before_2_17 else _LETTERS
        return int(base ** (letters.find(letter.upper()) + 1)) if letter else 1

    def size(self, text: str) -> Quantity | None:
        """Read bytes, or bytes per second; bits become bytes."""
        return self._read(text, counts=False)

    def count(self, text: str) -> Quantity | None:
        """Read a plain number, in which k is always 1000."""
        return self._read(text, counts=True)

    def _read(self, text: str, *, counts: bool) -> Quantity | None:
        match = _QUANTITY.match(text.strip())
        if match is None:
            return None
        whole, point, letter, binary, unit = match.groups()
        plain = self.kb_base if self.is_before_2_17 and not counts else 1000
        base = 1024 if binary else plain
        factor = self._get_factor(letter, base)
        scale = factor / 8 if unit == "bit" else float(factor)
        value = multiply(float(whole + (point or "")), scale)
        # a figure without a remainder is exact, and one without a letter was not divided: means have true decimals
        has_rest = bool(point and point.strip(".0"))
        if point and letter and (has_rest if self.is_cheesy else self.loses_carry and not has_rest):
            return Quantity(value, int(whole) * scale, (int(whole) + 1) * scale, "approximate")
        return Quantity(value)


def read_version(text: str) -> tuple[str, Version] | None:
    """Return ("3.30-63-g66087", (3, 30)) for `fio-3.30-63-g66087`; also reads `fio 1.59`. None for anything else."""
    match = _VERSION.match(text)
    if match is None:
        return None
    numbers = tuple(int(part) for part in match.groups() if part)
    return text[4:64].rstrip(" \t|").strip().removeprefix("v"), numbers
